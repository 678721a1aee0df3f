"""Distributions by name. A new one is a file of its own and a line in DISTRIBUTIONS."""

from functools import lru_cache
from typing import Any, Protocol

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.package import Package
from memaudit.lab.generators.event_graph.build import EventGraph
from memaudit.lab.generators.event_graph.parameters import Parameters
from memaudit.lab.generators.published import Published


class Distribution(Protocol):
    """A named way of making packages: the same seed gives the same package on every machine."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str:
        """One line for lists and reports."""
        ...

    @property
    def draws(self) -> bool:
        """Whether seeds differ; a distribution without draws has one package only."""
        ...

    def package(self, seed: int) -> Package: ...


PUBLISHED = (
    "base",
    "update_chain",
    "temporal_interval",
    "density_trap",
    "scope_shift",
    "redundancy_heavy",
    "summary_tradeoff",
    "abstention_hard",
)
EVENT_GRAPH = "event_graph"
MAX_VALUE_LENGTH = 40
DISTRIBUTIONS: dict[str, Distribution] = {
    **{name: Published(name) for name in PUBLISHED},
    EVENT_GRAPH: EventGraph(),
}


@lru_cache(maxsize=64)
def named_distribution(name: str) -> Distribution:
    """A distribution by name; the event graph takes parameters: event_graph:experiences=200."""
    base, *settings = name.split(":")
    if base not in DISTRIBUTIONS:
        known = ", ".join(DISTRIBUTIONS)
        raise MemAuditError(f"unknown distribution {base!r}; known distributions: {known}")
    if not settings:
        return DISTRIBUTIONS[base]
    if base != EVENT_GRAPH:
        raise MemAuditError(f"distribution {base!r} takes no parameters; only {EVENT_GRAPH} does")
    return EventGraph(_parameters(settings))


def _parameters(settings: list[str]) -> Parameters:
    values: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if name not in Parameters.__dataclass_fields__ or not equals:
            known = ", ".join(Parameters.__dataclass_fields__)
            raise MemAuditError(
                f"event_graph has no parameter {setting!r}; write NAME=VALUE with one of {known}"
            )
        if name in values:
            raise MemAuditError(f"event_graph: {name} is given twice")
        if len(value) > MAX_VALUE_LENGTH:
            raise MemAuditError(
                f"event_graph: the value of {name} has {len(value)} characters; give a short number"
            )
        values[name] = int(value) if value.isdecimal() else value
    return Parameters(**values)

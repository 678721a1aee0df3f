"""What a distribution of packages is."""

from functools import lru_cache
from typing import Any, Protocol

from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.generators.event_graph import EventGraph, Knobs
from memaudit.generators.published import Published


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

    def package(self, seed: int) -> Package:
        """The package of a seed."""
        ...


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
LONGEST = 40
"""Letters of a knob's value."""
DISTRIBUTIONS: dict[str, Distribution] = {
    **{name: Published(name) for name in PUBLISHED},
    EVENT_GRAPH: EventGraph(),
}


@lru_cache(maxsize=64)
def named_distribution(name: str) -> Distribution:
    """The distribution of that name; the event graph takes knobs: event_graph:experiences=200."""
    base, *knobs = name.split(":")
    if base not in DISTRIBUTIONS:
        known = ", ".join(DISTRIBUTIONS)
        raise MemAuditError(f"unknown distribution {base!r}; known distributions: {known}")
    if not knobs:
        return DISTRIBUTIONS[base]
    if base != EVENT_GRAPH:
        raise MemAuditError(f"distribution {base!r} has no knobs; only {EVENT_GRAPH} has")
    return EventGraph(_knobs(knobs))


def _knobs(settings: list[str]) -> Knobs:
    values: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if name not in Knobs.__dataclass_fields__ or not equals:
            known = ", ".join(Knobs.__dataclass_fields__)
            raise MemAuditError(
                f"event_graph has no setting {setting!r}; write KNOB=VALUE with one of {known}"
            )
        if name in values:
            raise MemAuditError(f"event_graph is given {name} twice")
        if len(value) > LONGEST:
            raise MemAuditError(f"event_graph: {name} has {len(value)} letters; a number has few")
        values[name] = int(value) if value.isdecimal() else value
    return Knobs(**values)

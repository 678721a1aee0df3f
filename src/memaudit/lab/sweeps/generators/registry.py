"""Distributions by name: the published ones, each a TOML file in `tables/`, and the event graph.

In a table, a list of numbers is a uniform draw of one of them. Draws happen in the order of the
file, units before experiences, part after part. `{i}` counts within a part, `{half}` is i // 2,
`{before}` is i - 1, `{name}` is the i-th of the table's names.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from importlib.resources import files
from random import Random
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import Exact
from memaudit.kernel.package.package import Candidate, Coverage, EvidenceUnit, Experience, Package
from memaudit.lab.sweeps.generators.event_graph.build import EventGraph
from memaudit.lab.sweeps.generators.event_graph.parameters import Parameters


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


Number = Exact | tuple[Exact, ...]
When = Literal["always", "even", "odd"]


class RepeatCount(_Frozen):
    """How often a part repeats: normal * 3 + update * 2 + plus, clamped to low..high."""

    normal: int = 0
    update: int = 0
    plus: int = 0
    low: int | None = None
    high: int | None = None


class TableUnit(_Frozen):
    """A unit. A later row with the same id replaces an earlier one."""

    id: str
    kind: str
    weight: Number
    when: When = "always"


class TableCandidate(_Frozen):
    """A candidate. `covers_all` covers every unit whose id has this prefix."""

    kind: str
    cost: Number
    confidence: Exact | None = None
    covers: Mapping[str, Exact] = Field(default_factory=dict)
    covers_all: Mapping[str, Exact] = Field(default_factory=dict)


class TableExperience(_Frozen):
    text: str
    candidates: Sequence[TableCandidate]
    when: When = "always"


class TablePart(_Frozen):
    """Units and experiences that repeat."""

    count: RepeatCount
    first: int = 0
    units: Sequence[TableUnit]
    experiences: Sequence[TableExperience]

    @property
    def draws(self) -> bool:
        numbers: list[Number] = [unit.weight for unit in self.units]
        numbers += [row.cost for experience in self.experiences for row in experience.candidates]
        return any(isinstance(number, tuple) for number in numbers)


class DistributionTable(_Frozen):
    """A distribution. Without a salt the seed is used as it is."""

    name: str
    about: str
    salt: int | None = None
    names: Sequence[str] = ()
    parts: Sequence[TablePart]


def read_table(name: str) -> DistributionTable:
    text = (
        files("memaudit.lab.sweeps.generators").joinpath(f"tables/{name}.toml").read_text("utf-8")
    )
    return DistributionTable.model_validate({"name": name, **tomllib.loads(text, parse_float=str)})


NORMAL_COUNT, UPDATE_COUNT = 3, 2
SEED_STRIDE = 1_000_003


@dataclass(frozen=True)
class Published:
    """One published distribution, exact for every seed."""

    name: str

    @cached_property
    def table(self) -> DistributionTable:
        return read_table(self.name)

    @property
    def about(self) -> str:
        return self.table.about

    @cached_property
    def draws(self) -> bool:
        return any(part.draws for part in self.table.parts)

    def package(self, seed: int) -> Package:
        """The package of a seed; the same for all seeds if there are no draws."""
        salt = self.table.salt
        dice = Random(seed if salt is None else (seed + 1) * SEED_STRIDE + salt)
        rows = _Rows(dice)
        for part in self.table.parts:
            for i in _indices(part):
                rows.add(part, i, self.table.names)
        return rows.package(f"{self.name}-{seed}" if self.draws else self.name)


def _indices(part: TablePart) -> range:
    count: RepeatCount = part.count
    times = count.normal * NORMAL_COUNT + count.update * UPDATE_COUNT + count.plus
    times = max(times, count.low or 0)
    times = times if count.high is None else min(times, count.high)
    return range(part.first, part.first + times)


@lru_cache(maxsize=4096)
def _filled(template: str, i: int, name: str) -> str:
    return template.format(i=i, half=i // 2, before=i - 1, name=name)


def _applies(when: When, i: int) -> bool:
    return when == "always" or (when == "even") == (i % 2 == 0)


class _Rows:
    def __init__(self, dice: Random) -> None:
        self.dice = dice
        self.units: dict[str, EvidenceUnit] = {}
        self.experiences: list[Experience] = []
        self.candidates: list[Candidate] = []
        self.coverage: list[Coverage] = []

    def drawn(self, number: Number) -> Fraction:
        return self.dice.choice(number) if isinstance(number, tuple) else number

    def add(self, part: TablePart, i: int, names: Any) -> None:
        name = names[i] if i < len(names) else ""
        for unit in part.units:
            if _applies(unit.when, i):
                id = _filled(unit.id, i, name)
                weight = self.drawn(unit.weight)
                self.units[id] = EvidenceUnit(id=id, kind=unit.kind, text=id, weight=weight)
        for row in part.experiences:
            if not _applies(row.when, i):
                continue
            index = len(self.experiences)
            id, text = f"e{index}", _filled(row.text, i, name)
            self.experiences.append(Experience(id=id, index=index, text=text))
            for candidate in row.candidates:
                self.offer(candidate, id, text, i, name)

    def offer(self, row: TableCandidate, experience: str, text: str, i: int, name: str) -> None:
        alike = sum(c.experience == experience and c.kind == row.kind for c in self.candidates)
        id = f"{experience}.{row.kind}{alike + 1 if alike else ''}"
        self.candidates.append(
            Candidate(
                id=id,
                experience=experience,
                kind=row.kind,
                text=f"{row.kind} of {text}" + (f", form {alike + 1}" if alike else ""),
                cost=self.drawn(row.cost),
                confidence=row.confidence,
            )
        )
        for unit, value in self.covered(row, i, name):
            self.coverage.append(Coverage(candidate=id, unit=unit, value=value))

    def covered(self, row: TableCandidate, i: int, name: str) -> Iterator[tuple[str, Fraction]]:
        for template, value in row.covers.items():
            yield _filled(template, i, name), value
        for start, value in row.covers_all.items():
            for unit in self.units:
                if unit.startswith(start):
                    yield unit, value

    def package(self, name: str) -> Package:
        return Package(
            name=name,
            experiences=tuple(self.experiences),
            candidates=tuple(self.candidates),
            units=tuple(self.units.values()),
            coverage=tuple(self.coverage),
        )


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

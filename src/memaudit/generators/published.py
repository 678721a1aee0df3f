"""Makes the packages of a published distribution from its table, draw by draw."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from random import Random
from typing import Any

from memaudit.core.package import Candidate, Coverage, EvidenceUnit, Experience, Package
from memaudit.generators.table import CandidateRow, Count, Number, Part, Table, When, read_table

NORMAL_COUNT, UPDATE_COUNT = 3, 2
SEED_STRIDE = 1_000_003


@dataclass(frozen=True)
class Published:
    """One published distribution, exact for every seed."""

    name: str

    @cached_property
    def table(self) -> Table:
        """Its parameters."""
        return read_table(self.name)

    @property
    def about(self) -> str:
        return self.table.about

    @cached_property
    def draws(self) -> bool:
        return any(part.draws for part in self.table.parts)

    def package(self, seed: int) -> Package:
        """The package of a seed; a distribution without draws has the same one for all."""
        salt = self.table.salt
        dice = Random(seed if salt is None else (seed + 1) * SEED_STRIDE + salt)
        rows = _Rows(dice)
        for part in self.table.parts:
            for i in _indices(part):
                rows.add(part, i, self.table.names)
        return rows.package(f"{self.name}-{seed}" if self.draws else self.name)


def _indices(part: Part) -> range:
    count: Count = part.count
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
    """The tables of a package in the making."""

    def __init__(self, dice: Random) -> None:
        self.dice = dice
        self.units: dict[str, EvidenceUnit] = {}
        self.experiences: list[Experience] = []
        self.candidates: list[Candidate] = []
        self.coverage: list[Coverage] = []

    def drawn(self, number: Number) -> Fraction:
        """A number as it is, or one of a list."""
        return self.dice.choice(number) if isinstance(number, tuple) else number

    def add(self, part: Part, i: int, names: Any) -> None:
        """One repetition of a part."""
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

    def offer(self, row: CandidateRow, experience: str, text: str, i: int, name: str) -> None:
        """One candidate and its coverage."""
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

    def covered(self, row: CandidateRow, i: int, name: str) -> Iterator[tuple[str, Fraction]]:
        """The units a candidate covers, and how much of each."""
        for template, value in row.covers.items():
            yield _filled(template, i, name), value
        for start, value in row.covers_all.items():
            for unit in self.units:
                if unit.startswith(start):
                    yield unit, value

    def package(self, name: str) -> Package:
        """All of it."""
        return Package(
            name=name,
            experiences=tuple(self.experiences),
            candidates=tuple(self.candidates),
            units=tuple(self.units.values()),
            coverage=tuple(self.coverage),
        )

"""The cells whose labels are drawn again, inside and outside a frame, and with which odds."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from memaudit.label_audit.audited_package import NOT_COVERED, Case, Cell, Labels, changes
from memaudit.label_audit.cells import Frame
from memaudit.label_audit.label_confusion import (
    Chances,
    Confusion,
    measured_chances,
    readers,
    starting_labels,
)
from memaudit.label_audit.package_passes import judged_cells
from memaudit.label_audit.population import Strata, Stratum, pairs
from memaudit.label_audit.readings import Reading
from memaudit.stats.intervals import Floats

_Places = NDArray[np.int64]


class Doubt:
    """The cells of one package that may turn out otherwise, with the labels they start from."""

    def __init__(self, package: str, start: Labels, strata: Strata, chances: Chances) -> None:
        self.package = package
        self._cells: list[Cell] = sorted(start)
        self._labels = sorted(
            {other for label in chances.labels for other in chances.shares(label)}
        )
        kinds = [(start[at], strata.of(*at)) for at in self._cells]
        place = {kind: row for row, kind in enumerate(dict.fromkeys(kinds))}
        self._rows: _Places = np.array([place[kind] for kind in kinds], np.int64)
        odds = np.zeros((len(place), len(self._labels)))
        for (label, stratum), row in place.items():
            shares = chances.odds(label, stratum)
            odds[row] = [
                0.0 if other == label else float(shares.get(other, 0)) for other in self._labels
            ]
        self._steps: Floats = np.cumsum(odds, axis=1)

    @property
    def expected(self) -> float:
        """How many cells turn out otherwise in a draw, on average."""
        return float(self._steps[self._rows, -1].sum()) if len(self._cells) else 0.0

    def drawn(self, seed: int, draw: int) -> dict[Cell, Fraction]:
        """The cells whose label turns out otherwise in this draw.

        Every draw of every package has its own dice, so neither order nor company changes it.
        """
        if not self._cells:
            return {}
        numbers = _dice(seed, draw, self.package).random(len(self._cells))
        turned = np.flatnonzero(numbers < self._steps[self._rows, -1])
        passed = self._steps[self._rows[turned]] <= numbers[turned, None]
        return {
            self._cells[at]: self._labels[label]
            for at, label in zip(turned.tolist(), passed.sum(axis=1).tolist(), strict=True)
        }


def _dice(seed: int, draw: int, package: str) -> np.random.Generator:
    name = f"{seed} {draw} {package}".encode("utf-8", "surrogatepass")
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name).digest()[:16], "big"))


@dataclass(frozen=True, slots=True)
class Outside:
    """`cells` that nobody was asked about but drawn ones stand for, by package.

    `expected` is how many that must be by the key; None where only some of its packages are here.
    `untouched` counts the other uncovered cells that nobody was asked about: they are not doubted.
    """

    cells: Mapping[str, Sequence[Cell]] = field(default_factory=dict)
    expected: Fraction | None = None
    found: int = 0
    untouched: int = 0

    @property
    def number(self) -> int:
        """How many are doubted."""
        return sum(map(len, self.cells.values()))


def outside(
    cases: Sequence[Case], own: Reading, frame: Frame | None, strata: Mapping[str, Strata]
) -> Outside:
    """What a frame's cells stand for; without weights in its key, nothing."""
    held = _Sampled(frame or Frame(()), cases, strata)
    cells: dict[str, list[Cell]] = {}
    found = uncovered = 0
    for case in cases:
        asked = own.labels[case.name]
        beyond = held.beyond(case)
        found += len(beyond)
        cells[case.name] = [at for at in beyond if at not in asked]
        uncovered += len(case.package.candidates) * len(case.package.units)
        uncovered -= sum(bool(row.value) for row in case.package.coverage)
        uncovered -= sum(
            not label and at[0] in case.package.candidate for at, label in asked.items()
        )
    number = sum(map(len, cells.values()))
    return Outside(cells, held.expected, found, uncovered - number)


class _Sampled:
    """The strata that a frame holds a sample of, in the packages that are audited."""

    def __init__(self, frame: Frame, cases: Sequence[Case], strata: Mapping[str, Strata]) -> None:
        self.strata, self.origin = strata, frame.drawn_from
        self.held: dict[str, set[Cell]] = {case.name: set() for case in cases}
        self.sampled: set[Stratum] = set()
        known = {case.name: case for case in cases}
        heavy = Fraction(0)
        for one in frame.cells:
            keyed = frame.key.get(one.id)
            weight = Fraction(1) if keyed is None else keyed.weight
            heavy += weight - 1
            if one.package not in known:
                continue
            at = known[one.package].cell(one.candidate, one.unit)
            self.held[one.package].add(at)
            if weight > 1:
                self.sampled.add(strata[one.package].of(*at))
        named = {one.package for one in frame.cells}
        if self.origin is not None:
            named |= self.origin.packages
        self.expected = heavy if heavy and named <= known.keys() else None

    def beyond(self, case: Case) -> list[Cell]:
        """Uncovered cells of sampled strata that are not in the frame."""
        origin = self.origin
        if not self.sampled or (origin is not None and case.name not in origin.packages):
            return []
        judged = judged_cells(case.package) if origin is not None and origin.judged_only else None
        kinds = {kind for kind, _, _ in self.sampled}
        return [
            at
            for pair in pairs(case.package, kinds)
            if pair.value == NOT_COVERED
            and pair.stratum in self.sampled
            and (at := (pair.candidate.id, pair.unit.id)) not in self.held[case.name]
            and (judged is None or at in judged)
        ]


@dataclass(frozen=True, slots=True)
class Doubts:
    """`readers` are the label sets that `chances` are measured with, `outside` the cells that are
    doubted beyond those asked about. `before` are the labels that draws start from where they are
    not the package's; `cells` the doubtful ones. Both are by package, in the order of the cases."""

    readers: tuple[str, ...]
    chances: Chances
    strata: Mapping[str, Strata]
    outside: Outside
    before: tuple[Labels, ...]
    cells: tuple[Doubt, ...]

    def labels(self, place: int, seed: int, draw: int) -> dict[Cell, Fraction]:
        """A draw for one package: the labels that are not the package's."""
        return {**self.before[place], **self.cells[place].drawn(seed, draw)}

    @property
    def expected(self) -> float:
        """How many labels turn out otherwise than at the start in a draw, on average."""
        return sum(one.expected for one in self.cells)


def doubts(
    cases: Sequence[Case], readings: Sequence[Reading], own: Reading, frame: Frame | None,
    confusion: Confusion,
) -> Doubts:  # fmt: skip
    """What may turn out otherwise, and how likely."""
    strata = {case.name: Strata(case.scored) for case in cases}
    chances = measured_chances(readings, own, strata, confusion)
    beyond = outside(cases, own, frame, strata)
    starts = starting_labels(readings, own, confusion)
    return Doubts(
        tuple(one.name for one in readers(readings, own, confusion)),
        chances,
        strata,
        beyond,
        tuple(changes(own.labels[case.name], starts[case.name]) for case in cases),
        tuple(
            Doubt(
                case.name,
                {**starts[case.name], **dict.fromkeys(beyond.cells[case.name], NOT_COVERED)},
                strata[case.name],
                chances,
            )
            for case in cases
        ),
    )

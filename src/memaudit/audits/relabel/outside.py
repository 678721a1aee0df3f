"""The uncovered cells outside a frame that its drawn ones stand for.

A frame holds a share of the uncovered cells of each stratum. A drawn cell that weighs more than 1
stands for others of its stratum, and what is doubtful about it is doubtful about them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from memaudit.audits.frames.cell import Frame
from memaudit.audits.frames.pass_labels import judged_cells
from memaudit.audits.frames.population import Strata, Stratum, pairs
from memaudit.audits.relabel.case import Case
from memaudit.audits.relabel.labels import NOT_COVERED, Cell
from memaudit.audits.relabel.readings import Reading


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

"""What draws of labels rest on: the confusion, the doubtful cells, and where these start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.audits.frames.cell import Frame
from memaudit.audits.frames.population import Strata
from memaudit.audits.relabel.case import Case
from memaudit.audits.relabel.chances import Chances
from memaudit.audits.relabel.confusion import Confusion, measured_chances, readers, starting_labels
from memaudit.audits.relabel.drawing import Doubt
from memaudit.audits.relabel.labels import NOT_COVERED, Cell, Labels, changes
from memaudit.audits.relabel.outside import Outside, outside
from memaudit.audits.relabel.readings import Reading


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

"""What one annotator, model, label pass or package says of cells, and what annotators agree on."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from memaudit.core.errors import MemAuditError
from memaudit.label_audit.audited_package import NOT_COVERED, Case, Cell, Labels, own_values
from memaudit.label_audit.cells import VALUES, Frame, LabelSet
from memaudit.label_audit.coding import CANNOT_TELL, MISSING, REASONS, agreed
from memaudit.label_audit.package_passes import frame_cells, listed_cells
from memaudit.label_audit.raters import CONSENSUS, PACKAGE, Role
from memaudit.natural.coverage_rules import PASS
from memaudit.natural.label_passes import label_passes, with_pass

Cells = Mapping[str, frozenset[Cell]]
"""Cells by package."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Labels by package, and the cells asked about that have none: they keep the package's label.

    `undecided` cells could not be told, `blank` ones were left out. `elsewhere` counts labels of
    packages that are not audited here. `weights` says how many cells of the packages a cell stands
    for, where that is not 1. `unsettled` counts the cells without a consensus, by reason.
    """

    name: str
    labels: Mapping[str, Labels]
    role: Role = "annotator"
    undecided: Cells = field(default_factory=dict)
    blank: Cells = field(default_factory=dict)
    elsewhere: int = 0
    weights: Mapping[str, Labels] = field(default_factory=dict)
    unsettled: Mapping[str, int] = field(default_factory=dict)

    @property
    def judged(self) -> int:
        """Cells with a label."""
        return sum(len(labels) for labels in self.labels.values())

    @property
    def in_doubt(self) -> int:
        """Cells that could not be told."""
        return sum(map(len, self.undecided.values()))

    def asked(self, package: str) -> set[Cell]:
        """All cells of a package that were asked about."""
        cells = (self.undecided.get(package, ()), self.blank.get(package, ()))
        return set(self.labels.get(package, ())).union(*cells)

    def weight(self, package: str, at: Cell) -> Fraction:
        """How many cells of the packages a cell stands for."""
        return self.weights.get(package, {}).get(at, Fraction(1))


def passed(name: str, cases: Iterable[Case], role: Role = "annotator") -> Reading:
    """A pass that the packages keep; the frame's cells that it does not list are not covered.

    Where a package does not tell its frame, only cells that some pass lists count as judged.
    """
    found: dict[str, Labels] = {}
    for case in cases:
        values = own_values(with_pass(case.package, name))
        passes = label_passes(case.package)
        assert passes is not None  # with_pass found one
        cells = frame_cells(case.package, passes) or listed_cells(passes)
        found[case.name] = {at: values.get(at, NOT_COVERED) for at in sorted(cells)}
    return Reading(f"{PASS}{name}", found, role)


def annotated(
    label_set: LabelSet, frame: Frame, cases: Iterable[Case], role: Role = "annotator"
) -> Reading:
    """An annotator's labels of a frame, by the cells of the packages they are about."""
    known = {case.name: case for case in cases}
    labels: dict[str, dict[Cell, Fraction]] = defaultdict(dict)
    weights: dict[str, dict[Cell, Fraction]] = defaultdict(dict)
    undecided: dict[str, set[Cell]] = defaultdict(set)
    blank: dict[str, set[Cell]] = defaultdict(set)
    elsewhere = 0
    for one in frame.cells:
        label = label_set.labels.get(one.id)
        case = known.get(one.package)
        if case is None:
            elsewhere += label is not None
            continue
        at = case.cell(one.candidate, one.unit)
        keyed = frame.key.get(one.id)
        if keyed is not None and keyed.weight != 1:
            weights[case.name][at] = keyed.weight
        if label is None:
            blank[case.name].add(at)
        elif label not in VALUES:
            undecided[case.name].add(at)
        else:
            labels[case.name][at] = VALUES[label]
    if not labels:
        raise MemAuditError(
            f"{label_set.annotator!r} labelled no cell of these packages; the frame is about "
            f"{_some({one.package for one in frame.cells})}"
        )
    return Reading(
        label_set.annotator, dict(labels), role, _frozen(undecided), _frozen(blank), elsewhere,
        dict(weights),
    )  # fmt: skip


def own_reading(cases: Iterable[Case], readings: Sequence[Reading]) -> Reading:
    """The packages' own labels of every cell that some reading was asked about."""
    found: dict[str, Labels] = {}
    for case in cases:
        values = own_values(case.scored)
        cells = set().union(*(one.asked(case.name) for one in readings))
        found[case.name] = {at: values.get(at, NOT_COVERED) for at in sorted(cells)}
    return Reading(PACKAGE, found, "package")


def check_readings(readings: Sequence[Reading]) -> None:
    """Every label set has a name of its own, and none that means something else here."""
    names = [one.name for one in readings]
    if not names:
        raise MemAuditError("no label sets to score under; give --labels or --model")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise MemAuditError(f"two label sets are called {twice[0]!r}; rename one annotator")
    if reserved := sorted({PACKAGE, CONSENSUS} & set(names)):
        raise MemAuditError(
            f"an annotator is called {reserved[0]!r}, which has a meaning here; rename it"
        )


def _frozen(cells: Mapping[str, set[Cell]]) -> Cells:
    return {package: frozenset(own) for package, own in cells.items()}


def _some(names: Iterable[str]) -> str:
    found = sorted(names)
    return ", ".join(map(repr, found[:3])) + (", ..." if len(found) > 3 else "")


def annotators(readings: Sequence[Reading]) -> list[Reading]:
    """Those that are no models."""
    return [one for one in readings if one.role == "annotator"]


def consensus(readings: Sequence[Reading]) -> Reading | None:
    """The labels of cells that annotators agree on; None where there are not two of them.

    Numbers of passes other than 0, 1/2 and 1 are alike where they are equal. Cells without a
    consensus keep the package's label and are counted by reason.
    """
    people = annotators(readings)
    if len(people) < 2:
        return None
    found: dict[str, dict[Cell, Fraction]] = {}
    unsettled: Counter[str] = Counter()
    for package in sorted({name for one in people for name in one.labels}):
        cells = sorted(set().union(*(one.asked(package) for one in people)))
        values = sorted({value for one in people for value in one.labels.get(package, {}).values()})
        place = {value: at for at, value in enumerate(values)}
        codes = np.array([_codes(one, package, cells, place) for one in people], np.int64)
        result = agreed(codes.reshape(len(people), len(cells))).tolist()
        found[package] = {
            at: values[code] for at, code in zip(cells, result, strict=True) if code >= 0
        }
        unsettled.update(REASONS[code] for code in result if code < 0)
    counts = {name: unsettled[name] for name in REASONS.values()}
    return Reading(CONSENSUS, found, "consensus", unsettled=counts)


def _codes(
    reading: Reading, package: str, cells: Sequence[Cell], place: dict[Fraction, int]
) -> list[int]:
    labels, doubtful = reading.labels.get(package, {}), reading.undecided.get(package, frozenset())
    return [
        place[labels[at]] if at in labels else CANNOT_TELL if at in doubtful else MISSING
        for at in cells
    ]

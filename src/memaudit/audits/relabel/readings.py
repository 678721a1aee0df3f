"""Readings: what one annotator, one label pass or the package itself says of the judged cells."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.audits.frames.cell import VALUES, Frame, LabelSet
from memaudit.audits.frames.pass_labels import frame_cells, listed_cells
from memaudit.audits.relabel.case import Case
from memaudit.audits.relabel.labels import NOT_COVERED, Cell, Labels, own_values
from memaudit.core.errors import MemAuditError
from memaudit.natural.heuristics import PASS
from memaudit.natural.label_passes import label_passes, with_pass

PACKAGE, CONSENSUS = "package", "consensus"


@dataclass(frozen=True, slots=True)
class Reading:
    """Labels by package.

    `undecided` cells could not be told and keep the package's label, `elsewhere` ones are of
    packages that are not audited here, `disputed` ones got different labels and `unshared` ones
    were not judged by everybody: in a consensus both keep the package's label.
    """

    name: str
    labels: Mapping[str, Labels]
    undecided: int = 0
    elsewhere: int = 0
    disputed: int = 0
    unshared: int = 0

    @property
    def judged(self) -> int:
        """Cells with a label."""
        return sum(len(labels) for labels in self.labels.values())


def passed(name: str, cases: Iterable[Case]) -> Reading:
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
    return Reading(f"{PASS}{name}", found)


def annotated(label_set: LabelSet, frame: Frame, cases: Iterable[Case]) -> Reading:
    """An annotator's labels of a frame, by the cells of the packages they are about."""
    known = {case.name: case for case in cases}
    labels: dict[str, dict[Cell, Fraction]] = defaultdict(dict)
    undecided = elsewhere = 0
    for one in frame.cells:
        label = label_set.labels.get(one.id)
        if label is None:
            continue
        case = known.get(one.package)
        if case is None:
            elsewhere += 1
            continue
        if label not in VALUES:
            undecided += 1
            continue
        at = case.candidate(one.candidate), one.unit
        if one.unit not in case.package.weights:
            raise MemAuditError(
                f"labels name the unit {one.unit!r}, which {case.name!r} does not have; give the "
                "packages the labels were made for"
            )
        labels[case.name][at] = VALUES[label]
    if not labels:
        raise MemAuditError(
            f"{label_set.annotator!r} labelled no cell of these packages; the frame is about "
            f"{_some({one.package for one in frame.cells})}"
        )
    return Reading(label_set.annotator, dict(labels), undecided, elsewhere)


def own_reading(cases: Iterable[Case], readings: Sequence[Reading]) -> Reading:
    """The packages' own labels of every cell that some reading judged."""
    found: dict[str, Labels] = {}
    for case in cases:
        values = own_values(case.scored)
        cells = {at for one in readings for at in one.labels.get(case.name, ())}
        found[case.name] = {at: values.get(at, NOT_COVERED) for at in sorted(cells)}
    return Reading(PACKAGE, found)


def consensus(readings: Sequence[Reading]) -> Reading:
    """The labels of cells that every reading judged, and judged alike."""
    found: dict[str, dict[Cell, Fraction]] = {}
    disputed = unshared = 0
    for package in sorted({name for one in readings for name in one.labels}):
        said = [one.labels.get(package, {}) for one in readings]
        agreed = found.setdefault(package, {})
        for at in sorted({at for labels in said for at in labels}):
            values = {labels[at] for labels in said if at in labels}
            if len(values) > 1:
                disputed += 1
            elif any(at not in labels for labels in said):
                unshared += 1
            else:
                agreed[at] = min(values)
    return Reading(CONSENSUS, found, disputed=disputed, unshared=unshared)


def check_readings(readings: Sequence[Reading]) -> None:
    """Every label set has a name of its own, and none that means something else here."""
    names = [one.name for one in readings]
    if not names:
        raise MemAuditError("no label sets to score under; give --labels")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise MemAuditError(f"two label sets are called {twice[0]!r}; rename one annotator")
    if reserved := sorted({PACKAGE, CONSENSUS} & set(names)):
        raise MemAuditError(
            f"an annotator is called {reserved[0]!r}, which has a meaning here; rename it"
        )


def _some(names: Iterable[str]) -> str:
    found = sorted(names)
    return ", ".join(map(repr, found[:3])) + (", ..." if len(found) > 3 else "")

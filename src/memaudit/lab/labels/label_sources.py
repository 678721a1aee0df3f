"""Label sources: the labels of one annotator, model, label pass or package, and the consensus."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from memaudit.building.label_passes import (
    CellKey,
    cells_judged_by,
    label_passes,
    listed_cells,
    with_pass,
)
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import FULL, LABELS, PASS, VALUES
from memaudit.kernel.package.package import Package
from memaudit.lab.labels.frame import (
    CANNOT_TELL,
    CONSENSUS,
    MISSING,
    PACKAGE,
    REASONS,
    Frame,
    FrameCell,
    LabelSet,
    Role,
    by_part,
    consensus_codes,
)
from memaudit.lab.labels.relabelling import NOT_COVERED, CellLabels, own_values

Cells = Mapping[str, frozenset[CellKey]]
"""Cells by package."""


@dataclass(frozen=True, slots=True)
class LabelSource:
    """Labels by package, and the cells asked about without one, which keep the package's label.

    `undecided` cells were answered `cannot_tell`, `blank` ones were left out. `elsewhere` counts
    labels of packages that are not audited here. `unsettled` counts the cells without a consensus,
    by reason.
    """

    name: str
    labels: Mapping[str, CellLabels]
    role: Role = "annotator"
    undecided: Cells = field(default_factory=dict)
    blank: Cells = field(default_factory=dict)
    elsewhere: int = 0
    unsettled: Mapping[str, int] = field(default_factory=dict)

    @property
    def labelled_cells(self) -> int:
        """The number of cells with a label."""
        return sum(len(labels) for labels in self.labels.values())

    @property
    def undecided_cells(self) -> int:
        """The number of cells answered `cannot_tell`."""
        return sum(map(len, self.undecided.values()))

    def asked(self, package: str) -> set[CellKey]:
        """All cells of a package that were asked about."""
        cells = (self.undecided.get(package, ()), self.blank.get(package, ()))
        return set(self.labels.get(package, ())).union(*cells)


def source_of_pass(name: str, packages: Iterable[Package]) -> LabelSource:
    """A pass that the packages keep; judged cells that it does not list are not covered.

    If a package does not tell which cells were judged, only cells that some pass lists count.
    """
    labels: dict[str, CellLabels] = {}
    for package in packages:
        values = own_values(with_pass(package, name))
        passes = label_passes(package)
        assert passes is not None  # with_pass found one
        # An older package keeps its passes without saying which cells they judged. What some pass
        # lists was judged by all.
        cells = cells_judged_by(package, passes) or listed_cells(passes)
        labels[package.name] = {at: values.get(at, NOT_COVERED) for at in sorted(cells)}
    return LabelSource(f"{PASS}{name}", labels)


def source_of_annotator(
    label_set: LabelSet,
    frame: Frame,
    packages: Iterable[Package],
) -> LabelSource:
    """An annotator's labels of a frame, by the cells of the packages they are about."""
    frame, (label_set,) = by_part(frame, [label_set])
    by_name = {package.name: package for package in packages}
    labels: dict[str, dict[CellKey, Fraction]] = defaultdict(dict)
    undecided: dict[str, set[CellKey]] = defaultdict(set)
    blank: dict[str, set[CellKey]] = defaultdict(set)
    elsewhere = 0
    for cell in frame.cells:
        label = label_set.labels.get(cell.id)
        package = by_name.get(cell.package)
        if package is None:
            elsewhere += label is not None
            continue
        at = _cell(package, cell)
        if label is None:
            blank[package.name].add(at)
        elif label not in VALUES:
            undecided[package.name].add(at)
        else:
            labels[package.name][at] = VALUES[label]
    if not labels:
        names = sorted({cell.package for cell in frame.cells})
        some = ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
        raise MemAuditError(
            f"{label_set.annotator!r} labelled no cell of these packages; the frame is about {some}"
        )
    return LabelSource(
        label_set.annotator,
        dict(labels),
        "model" if label_set.is_model else "annotator",
        _frozen(undecided),
        _frozen(blank),
        elsewhere,
    )


def _cell(package: Package, cell: FrameCell) -> CellKey:
    """The cell's place in the package."""
    for what, id, known in (
        ("unit", cell.unit, package.weights),
        ("candidate", cell.candidate, package.candidate),
    ):
        if id not in known:
            raise MemAuditError(
                f"labels name the {what} {id!r}, which {package.name!r} does not have; give the "
                "packages the labels were made for"
            )
    return cell.candidate, cell.unit


def _frozen(cells: Mapping[str, set[CellKey]]) -> Cells:
    return {package: frozenset(own) for package, own in cells.items()}


def covered_or_not(source: LabelSource) -> LabelSource:
    """The labels with partial as full, to compare with annotators who use two labels."""
    labels = {
        package: {at: FULL if value else NOT_COVERED for at, value in own.items()}
        for package, own in source.labels.items()
    }
    return replace(source, labels=labels)


def with_two_labels(package: Package) -> Package:
    """A package whose cells are covered or not: partial counts as full."""
    return package.replace(
        coverage=tuple(
            row.model_copy(update={"value": FULL, "label": LABELS[FULL]}) if row.value else row
            for row in package.coverage
        )
    )


def check_sources(sources: Sequence[LabelSource]) -> None:
    """Every label set needs a name of its own that is not reserved."""
    names = [source.name for source in sources]
    if not names:
        raise MemAuditError("no label sets to score under; give --labels")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise MemAuditError(f"two label sets are called {twice[0]!r}; rename one annotator")
    if reserved := sorted({PACKAGE, CONSENSUS} & set(names)):
        raise MemAuditError(f"an annotator has the reserved name {reserved[0]!r}; rename it")


def consensus_source(sources: Sequence[LabelSource]) -> LabelSource | None:
    """The labels of cells that annotators agree on; None with fewer than two annotators.

    Values of passes other than 0, 1/2 and 1 agree if they are equal. Cells without a consensus keep
    the package's label and are counted by reason.
    """
    people = [source for source in sources if source.role == "annotator"]
    if len(people) < 2:
        return None
    agreed: dict[str, dict[CellKey, Fraction]] = {}
    unsettled: Counter[str] = Counter()
    for package in sorted({name for source in people for name in source.labels}):
        cells = sorted(set().union(*(source.asked(package) for source in people)))
        values = sorted(
            {value for source in people for value in source.labels.get(package, {}).values()}
        )
        # The rule of consensus works on places in a list; values of passes need not be labels, so
        # the list is what was given.
        place = {value: at for at, value in enumerate(values)}
        codes = np.array([_codes(source, package, cells, place) for source in people], np.int64)
        result = consensus_codes(codes.reshape(len(people), len(cells))).tolist()
        agreed[package] = {
            at: values[code] for at, code in zip(cells, result, strict=True) if code >= 0
        }
        unsettled.update(REASONS[code] for code in result if code < 0)
    counts = {name: unsettled[name] for name in REASONS.values()}
    return LabelSource(CONSENSUS, agreed, "consensus", unsettled=counts)


def _codes(
    source: LabelSource, package: str, cells: Sequence[CellKey], place: Mapping[Fraction, int]
) -> list[int]:
    labels, undecided = source.labels.get(package, {}), source.undecided.get(package, frozenset())
    return [
        place[labels[at]] if at in labels else CANNOT_TELL if at in undecided else MISSING
        for at in cells
    ]

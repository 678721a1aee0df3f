"""All raters' labels of a frame as numeric codes, on the scales on which they are compared.

Raters are annotators, models and the package itself; two or more annotators also have a consensus.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import LABEL_NAMES, PASS, Label, label_of_value
from memaudit.kernel.stats.agreement_coefficients import Table, table_of
from memaudit.kernel.stats.bootstrap import Floats, Indices
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
    consensus_codes,
)


@dataclass(frozen=True, slots=True)
class Rater:
    """A source of labels; the consensus has none of its own, they follow from the scale."""

    name: str
    role: Role
    labels: Mapping[str, Label]


def all_raters(
    frame: Frame, annotators: Iterable[LabelSet], models: Iterable[LabelSet] = ()
) -> tuple[Rater, ...]:
    """Annotators, models, and the package's own labels unless one of these gave them.

    One annotator may come in several files with different cells. The same cell in two of them would
    be two opinions under one name.
    """
    raters = [*_merged("annotator", annotators), *_merged("model", models)]
    names = [rater.name for rater in raters]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise MemAuditError(
            f"{twice[0]!r} is an annotator and a model; give its labels once, or rename one"
        )
    for name in (CONSENSUS, PACKAGE):
        if name in names:
            raise MemAuditError(f"an annotator has the reserved name {name!r}; rename it")
    if frame.key and not own_passes(frame, names):
        labels = {cell: label_of_value(keyed.value) for cell, keyed in frame.key.items()}
        raters.append(Rater(PACKAGE, "package", labels))
    if len(raters) < 2:
        raise MemAuditError(
            f"only {raters[0].name!r} labelled these cells, and the package has no other labels; "
            "give a second label file"
            if raters
            else "no labels to compare; give label files"
        )
    return tuple(raters)


def own_passes(frame: Frame, names: Iterable[str]) -> list[str]:
    """Label passes of these names that gave the package its labels, so the two are the same."""
    own = {keyed.provenance for keyed in frame.key.values() if keyed.provenance.startswith(PASS)}
    return sorted(own & set(names))


def _merged(role: Role, label_sets: Iterable[LabelSet]) -> list[Rater]:
    labels: dict[str, dict[str, Label]] = {}
    for label_set in label_sets:
        own = labels.setdefault(label_set.annotator, {})
        if repeated := sorted(own.keys() & label_set.labels.keys()):
            raise MemAuditError(
                f"{label_set.annotator!r} labels the cell {repeated[0]!r} in two files; give each "
                "file once, and each annotator a name"
            )
        own.update(label_set.labels)
    return [Rater(name, role, own) for name, own in labels.items()]


def compared_pairs(raters: Sequence[Rater]) -> list[tuple[Rater, Rater]]:
    """The pairs to compare, in the order of the paper's table.

    Annotators with each other; then with the package and each model; then models with the package
    and with each other. The consensus of two or more annotators comes before each of them.
    """
    annotators = [rater for rater in raters if rater.role == "annotator"]
    models = [rater for rater in raters if rater.role == "model"]
    package = [rater for rater in raters if rater.role == "package"]
    consensus = [Rater(CONSENSUS, "consensus", {})] if len(annotators) > 1 else []
    pairs = list(combinations(annotators, 2))
    for other in (*package, *models):
        pairs += [(rater, other) for rater in (*consensus, *annotators)]
    pairs += [(model, own) for model in models for own in package]
    pairs += combinations(models, 2)
    return pairs


ORDER: tuple[Label, ...] = ("none", "partial", "full")
"""Labels that say how much is covered, least first; `cannot_tell` does not."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Categories, least covered first, and the category of each label of ORDER."""

    name: str
    title: str
    categories: tuple[str, ...]
    places: tuple[int, ...]
    values: tuple[Fraction, ...]

    @property
    def size(self) -> int:
        """The number of categories."""
        return len(self.categories)


LABEL_SCALE = Scale(
    "labels",
    "Labels: full, partial, none",
    ORDER,
    (0, 1, 2),
    (Fraction(0), Fraction(1, 2), Fraction(1)),
)
COVERED_SCALE = Scale(
    "covered",
    "Covered at all (full or partial), or not",
    ("not covered", "covered"),
    (0, 1, 1),
    (Fraction(0), Fraction(1)),
)
SCALES: Mapping[str, Scale] = {scale.name: scale for scale in (LABEL_SCALE, COVERED_SCALE)}

Codes = NDArray[np.int8]

_CODES: Mapping[Label, int] = {
    **{label: place for place, label in enumerate(ORDER)},
    "cannot_tell": CANNOT_TELL,
}


def codes_of(labels: Mapping[str, Label], cells: Sequence[FrameCell]) -> Codes:
    """The labels of the frame's cells as places in ORDER."""
    codes = (_CODES[labels[cell.id]] if cell.id in labels else MISSING for cell in cells)
    return np.fromiter(codes, np.int8, len(cells))


def on_scale(codes: Codes, scale: Scale) -> Codes:
    """The categories of a scale; codes of reasons are unchanged."""
    places = np.array(scale.places, np.int8)
    return np.where(codes >= 0, places[np.maximum(codes, 0)], codes)


def confusion_places(first: Codes, second: Codes, scale: Scale) -> tuple[Indices, dict[str, int]]:
    """The place of each cell in the confusion table, or -1, and the cells left out by reason."""
    # int64 first: the places of a large scale would overflow int8.
    places = first.astype(np.int64) * scale.size + second
    rest = (first < 0) | (second < 0)
    places[rest] = -1
    left_out = {}
    # A cell that both left out, for two reasons, is counted by the first.
    for reason, name in REASONS.items():
        here = rest & ((first == reason) | (second == reason))
        left_out[name] = int(here.sum())
        rest &= ~here
    return places, left_out


@dataclass(frozen=True, slots=True)
class CellWeights:
    """A weight per cell, stored as its place in the list of distinct weights."""

    distinct: tuple[Fraction, ...]
    places: Indices

    @property
    def floats(self) -> Floats:
        """Cell by cell, in floating point."""
        weights: Floats = np.array([float(weight) for weight in self.distinct])[self.places]
        return weights

    def table(self, places: Indices, size: int) -> Table:
        """The total weight of the cells at each place of a square table; -1 is no place."""
        # Weights are few and exact: counting each kind of weight keeps sums exact, without a
        # Fraction per cell.
        used = places >= 0
        kinds = len(self.distinct)
        at = places[used] * kinds + self.places[used]
        counts = np.bincount(at, minlength=size**2 * kinds).reshape(-1, kinds)
        return table_of([self._sum(row) for row in counts.tolist()], size)

    def _sum(self, counts: Sequence[int]) -> Fraction:
        pairs = zip(counts, self.distinct, strict=True)
        return sum((count * weight for count, weight in pairs if count), Fraction(0))


def equal_weights(frame: Frame) -> CellWeights:
    """Every cell counts once: the frame as it was drawn."""
    return CellWeights((Fraction(1),), np.zeros(len(frame.cells), np.int64))


def natural_weights(frame: Frame) -> CellWeights | None:
    """Each cell counts as many package cells as it stands for; one without a key counts none.

    None without a key, or where all cells weigh the same, so that nothing would change.
    """
    weights = [
        frame.key[cell.id].weight if cell.id in frame.key else Fraction(0) for cell in frame.cells
    ]
    distinct = sorted(set(weights))
    # Equal weights cancel in every coefficient.
    if not frame.key or len(distinct) == 1:
        return None
    place = {weight: at for at, weight in enumerate(distinct)}
    return CellWeights(tuple(distinct), np.array([place[weight] for weight in weights], np.int64))


AS_DRAWN, NATURAL = "as_drawn", "natural"


@dataclass(frozen=True, slots=True)
class CodedLabels:
    """`codes` are by rater, `scaled` by scale and rater, `balances` are weights by name."""

    frame: Frame
    raters: tuple[Rater, ...]
    codes: Mapping[str, Codes]
    scaled: Mapping[str, Mapping[str, Codes]]
    balances: Mapping[str, CellWeights]

    @property
    def annotators(self) -> list[str]:
        """The names of the annotators."""
        return [rater.name for rater in self.raters if rater.role == "annotator"]

    @property
    def profiles(self) -> list[NDArray[np.generic]]:
        """Arrays that distinguish cells: two that are equal in all of them are interchangeable."""
        return [*self.codes.values(), *(weights.places for weights in self.balances.values())]

    @property
    def own_passes(self) -> list[str]:
        """The raters that gave the package its labels."""
        return own_passes(self.frame, (rater.name for rater in self.raters))

    def is_own(self, *raters: Rater) -> bool:
        """Whether one of them is the package, or gave it its labels."""
        own = {PACKAGE, *self.own_passes}
        return any(rater.name in own for rater in raters)

    def counts(self, rater: Rater) -> dict[str, int]:
        """How often a rater gave each label, cells without one, and labels of unknown cells."""
        given = Counter(
            rater.labels[cell.id] for cell in self.frame.cells if cell.id in rater.labels
        )
        return {
            **{label: given[label] for label in LABEL_NAMES},
            "missing": len(self.frame.cells) - given.total(),
            "outside": len(rater.labels) - given.total(),
        }

    def consensus_counts(self, scale: str) -> dict[str, int]:
        """Cells that the annotators agree on, and the others by reason."""
        codes = self.scaled[scale][CONSENSUS]
        reasons = {name: int((codes == reason).sum()) for reason, name in REASONS.items()}
        return {"agreed": int((codes >= 0).sum()), **reasons}


def code_labels(
    frame: Frame, annotators: Sequence[LabelSet], models: Sequence[LabelSet] = ()
) -> CodedLabels:
    """The frame with all labels; the consensus needs two annotators."""
    if not frame.cells:
        raise MemAuditError("the frame has no cells to compare labels of")
    raters = all_raters(frame, annotators, models)
    codes = {rater.name: codes_of(rater.labels, frame.cells) for rater in raters}
    people = [rater.name for rater in raters if rater.role == "annotator"]
    scaled = {}
    for scale in SCALES.values():
        own = {name: on_scale(given, scale) for name, given in codes.items()}
        if len(people) > 1:
            own[CONSENSUS] = consensus_codes(np.stack([own[name] for name in people]))
        scaled[scale.name] = own
    balances = {AS_DRAWN: equal_weights(frame)}
    if (weights := natural_weights(frame)) is not None:
        balances[NATURAL] = weights
    return CodedLabels(frame, raters, codes, scaled, balances)

"""The scales on which labels are compared: as given, or covered at all against not covered."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memaudit.core.errors import MemAuditError
from memaudit.label_audit.cells import LABELS, Frame, FrameCell, Label, LabelSet
from memaudit.label_audit.coefficients import Table, table_of
from memaudit.label_audit.raters import CONSENSUS, Rater, raters
from memaudit.stats.intervals import Floats

ORDER: tuple[Label, ...] = ("none", "partial", "full")
"""Labels that say how much is covered, least first; `cannot_tell` says nothing of the kind."""


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
        """How many categories there are."""
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
SCALES: Mapping[str, Scale] = {one.name: one for one in (LABEL_SCALE, COVERED_SCALE)}


Codes = NDArray[np.int8]
Whole = TypeVar("Whole", np.int8, np.int64)

MISSING, CANNOT_TELL, DISAGREED = -1, -2, -3
REASONS = {MISSING: "missing", CANNOT_TELL: "cannot_tell", DISAGREED: "disagreed"}
"""Why a cell is left out of a comparison, in the order in which the reasons are looked for."""

_CODES: Mapping[Label, int] = {
    **{label: place for place, label in enumerate(ORDER)},
    "cannot_tell": CANNOT_TELL,
}


def coded(labels: Mapping[str, Label], cells: Sequence[FrameCell]) -> Codes:
    """The labels of the frame's cells as places in ORDER."""
    codes = (_CODES[labels[cell.id]] if cell.id in labels else MISSING for cell in cells)
    return np.fromiter(codes, np.int8, len(cells))


def on_scale(codes: Codes, scale: Scale) -> Codes:
    """The categories of a scale; reasons stay."""
    places = np.array(scale.places, np.int8)
    return np.where(codes >= 0, places[np.maximum(codes, 0)], codes)


def agreed(codes: NDArray[Whole]) -> NDArray[Whole]:
    """The consensus of annotators (rows) on one scale: the only rule for it, here and in ratios.

    A cell has one where at least two labelled it, all of those alike, and nobody could not tell.
    """
    labelled = codes >= 0
    high = codes.max(axis=0)
    low = np.where(labelled, codes, high).min(axis=0)
    result = np.where(high == low, high, codes.dtype.type(DISAGREED))
    result = np.where(labelled.sum(axis=0) < 2, codes.dtype.type(MISSING), result)
    return np.where((codes == CANNOT_TELL).any(axis=0), codes.dtype.type(CANNOT_TELL), result)


def crossed(first: Codes, second: Codes, scale: Scale) -> tuple[NDArray[np.int64], dict[str, int]]:
    """Per cell the place in the confusion table, row by row, or -1; and how many cells are out."""
    places = first.astype(np.int64) * scale.size + second
    rest = (first < 0) | (second < 0)
    places[rest] = -1
    left_out = {}
    for reason, name in REASONS.items():
        here = rest & ((first == reason) | (second == reason))
        left_out[name] = int(here.sum())
        rest &= ~here
    return places, left_out


@dataclass(frozen=True, slots=True)
class Weights:
    """A weight for every cell, held as places in the list of distinct weights."""

    distinct: tuple[Fraction, ...]
    places: NDArray[np.int64]

    @property
    def exact(self) -> list[Fraction]:
        """Cell by cell."""
        return [self.distinct[place] for place in self.places.tolist()]

    @property
    def floats(self) -> Floats:
        """Cell by cell, in floating point."""
        found: Floats = np.array([float(one) for one in self.distinct])[self.places]
        return found

    def table(self, places: NDArray[np.int64], size: int) -> Table:
        """What the cells at each place of a square table weigh together; -1 is no place."""
        kept = places >= 0
        kinds = len(self.distinct)
        at = places[kept] * kinds + self.places[kept]
        counts = np.bincount(at, minlength=size**2 * kinds).reshape(-1, kinds)
        return table_of([self._sum(row) for row in counts.tolist()], size)

    def _sum(self, counts: Sequence[int]) -> Fraction:
        pairs = zip(counts, self.distinct, strict=True)
        return sum((count * weight for count, weight in pairs if count), Fraction(0))


def as_drawn(frame: Frame) -> Weights:
    """Every cell once: the frame as it is."""
    return Weights((Fraction(1),), np.zeros(len(frame.cells), np.int64))


def natural(frame: Frame) -> Weights | None:
    """As many cells of the packages as each cell stands for; a cell without key stands for none.

    None where no key says so, or where it would change nothing because all weigh the same.
    """
    held = [
        frame.key[cell.id].weight if cell.id in frame.key else Fraction(0) for cell in frame.cells
    ]
    distinct = sorted(set(held))
    if not frame.key or len(distinct) == 1:
        return None
    place = {weight: at for at, weight in enumerate(distinct)}
    return Weights(tuple(distinct), np.array([place[one] for one in held], np.int64))


AS_DRAWN, NATURAL = "as_drawn", "natural"


@dataclass(frozen=True, slots=True)
class CodedFrame:
    """`codes` are by rater, `scaled` by scale and rater, `balances` weights by name."""

    frame: Frame
    raters: tuple[Rater, ...]
    codes: Mapping[str, Codes]
    scaled: Mapping[str, Mapping[str, Codes]]
    balances: Mapping[str, Weights]

    @property
    def annotators(self) -> list[str]:
        """Their names."""
        return [one.name for one in self.raters if one.role == "annotator"]

    @property
    def profiles(self) -> list[NDArray[np.generic]]:
        """Arrays that tell cells apart: two alike in all of them may stand for each other."""
        return [*self.codes.values(), *(one.places for one in self.balances.values())]

    def of_annotators(self, scale: str) -> Codes:
        """Their categories, one row an annotator."""
        return np.stack([self.scaled[scale][name] for name in self.annotators])

    def counts(self, rater: Rater) -> dict[str, int]:
        """How often a rater gave each label, cells without one, and labels of no known cell."""
        given = Counter(rater.labels[cell.id] for cell in self.frame.cells
                        if cell.id in rater.labels)  # fmt: skip
        return {
            **{label: given[label] for label in LABELS},
            "missing": len(self.frame.cells) - given.total(),
            "outside": len(rater.labels) - given.total(),
        }

    def consensus_counts(self, scale: str) -> dict[str, int]:
        """Cells that the annotators agree on, and what keeps the others from it."""
        found = self.scaled[scale][CONSENSUS]
        reasons = {name: int((found == reason).sum()) for reason, name in REASONS.items()}
        return {"agreed": int((found >= 0).sum()), **reasons}


def coded_frame(
    frame: Frame, annotators: Sequence[LabelSet], models: Sequence[LabelSet] = ()
) -> CodedFrame:
    """The frame with all labels; the consensus needs two annotators."""
    if not frame.cells:
        raise MemAuditError("the frame holds no cells to compare labels of")
    found = raters(frame, annotators, models)
    codes = {one.name: coded(one.labels, frame.cells) for one in found}
    people = [one.name for one in found if one.role == "annotator"]
    scaled = {}
    for scale in SCALES.values():
        own = {name: on_scale(given, scale) for name, given in codes.items()}
        if len(people) > 1:
            own[CONSENSUS] = agreed(np.stack([own[name] for name in people]))
        scaled[scale.name] = own
    balances = {AS_DRAWN: as_drawn(frame)}
    if (weighed := natural(frame)) is not None:
        balances[NATURAL] = weighed
    return CodedFrame(frame, found, codes, scaled, balances)

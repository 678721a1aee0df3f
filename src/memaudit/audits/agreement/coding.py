"""Labels as arrays: a category for every cell of the frame, or the reason why there is none."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memaudit.audits.agreement.scale import ORDER, Scale
from memaudit.audits.frames.cell import FrameCell, Label

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

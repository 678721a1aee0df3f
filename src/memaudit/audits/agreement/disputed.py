"""The cells that raters see differently, the most disputed first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from memaudit.audits.agreement.coding import CANNOT_TELL, Codes
from memaudit.audits.agreement.raters import Rater
from memaudit.audits.agreement.scale import LABEL_SCALE, ORDER
from memaudit.audits.frames.cell import FrameCell, Label


@dataclass(frozen=True, slots=True)
class Disputed:
    """A cell, how far apart its two most different values are, and how many pairs differ."""

    cell: FrameCell
    labels: Mapping[str, Label]
    gap: Fraction
    pairs: int


def disputed(
    cells: Sequence[FrameCell], found: Sequence[Rater], codes: Mapping[str, Codes]
) -> list[Disputed]:
    """Cells with two different labels, by gap, then by pairs that differ, then by cell id.

    Whoever could not tell disputes nothing, but is shown.
    """
    matrix = np.stack([codes[one.name] for one in found])
    known = matrix >= 0
    high = np.where(known, matrix, np.int8(-1)).max(axis=0)
    low = np.where(known, matrix, np.int8(len(ORDER))).min(axis=0)
    pairs = np.zeros(matrix.shape[1], np.int64)
    for one, other in combinations(range(len(found)), 2):
        pairs += known[one] & known[other] & (matrix[one] != matrix[other])
    places = np.flatnonzero(pairs).tolist()
    places.sort(key=lambda at: (low[at] - high[at], -pairs[at], cells[at].id))
    return [
        Disputed(
            cells[at],
            _labels(found, codes, at),
            LABEL_SCALE.values[high[at]] - LABEL_SCALE.values[low[at]],
            int(pairs[at]),
        )
        for at in places
    ]


def _labels(found: Sequence[Rater], codes: Mapping[str, Codes], at: int) -> dict[str, Label]:
    said: dict[str, Label] = {}
    for one in found:
        code = int(codes[one.name][at])
        if code >= 0:
            said[one.name] = ORDER[code]
        elif code == CANNOT_TELL:
            said[one.name] = "cannot_tell"
    return said

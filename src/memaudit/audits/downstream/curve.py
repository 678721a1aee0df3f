"""Evidence against words: what the first 1, 2, ... of the retrieved memories hold and how long.

A store of short memories and one of long ones retrieve the same number and very different amounts
of text; at equal words they can be compared.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from memaudit.audits.downstream.spread import spread
from memaudit.audits.statistics import Floats, Places, intervals
from memaudit.core.cost import words
from memaudit.core.exact import exact

Row = dict[str, Any]
ONE = Fraction(1)


def depths(rows: Sequence[Row]) -> int:
    """How many memories were retrieved at most."""
    return max((len(row["retrieved"]) for row in rows), default=0)


def curve(rows: Sequence[Row], most: int, cluster: Places, drawn: Floats) -> list[dict[str, Any]]:
    """One point a depth: mean words, and mean evidence recall and coverage with intervals."""
    lengths = np.array([_words(row, most) for row in rows]).reshape(len(rows), most)
    shares = np.array([_shares(row, most) for row in rows]).reshape(len(rows), 2 * most)
    found = intervals(shares, drawn)
    return [
        {
            "first": depth + 1,
            "words": float(round(lengths[:, depth].mean(), 6)),
            "evidence_recall": spread(found[depth], shares[:, depth], cluster),
            "evidence_coverage": spread(found[most + depth], shares[:, most + depth], cluster),
        }
        for depth in range(most)
    ]


def _words(row: Row, most: int) -> list[int]:
    """Words of the first 1, 2, ... memories; where there are no more, all of them."""
    sums = list(accumulate(words(row["texts"][id]) for id in row["retrieved"])) or [0]
    return [sums[min(depth, len(sums) - 1)] for depth in range(most)]


def _shares(row: Row, most: int) -> list[float]:
    """Of the required units: the share covered in full at each depth, then the mean share."""
    units = row["evidence"]
    if not units:
        return [math.nan] * 2 * most
    held = [_held(unit, most) for unit in units]
    whole = [[share == 1 for share in one] for one in held]
    return [
        float(sum(column, Fraction(0)) / len(units))
        for table in (whole, held)
        for column in zip(*table, strict=True)
    ]


def _held(unit: dict[str, Any], most: int) -> list[Fraction]:
    """The share of a unit that the first 1, 2, ... memories cover, at most 1."""
    needs = exact(unit["needs"])
    links = [(link["rank"], exact(link["covers"])) for link in unit["memories"] if link["rank"]]
    return [
        min(sum((covers for rank, covers in links if rank <= depth), Fraction(0)) / needs, ONE)
        for depth in range(1, most + 1)
    ]

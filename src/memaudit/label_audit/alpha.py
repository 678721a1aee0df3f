"""Krippendorff's alpha, exactly, for any number of annotators and with labels missing.

A cell with m >= 2 labels gives each of its ordered pairs of labels 1 / (m - 1) to the table of
coincidences o. With n_c its row sums and n its total, alpha = 1 - (n - 1) sum o_ck d_ck /
sum n_c n_k d_ck, where d is 0 on the diagonal and otherwise
nominal 1, interval (v_c - v_k)^2, ordinal (n_c / 2 + n_c+1 + ... + n_k-1 + n_k / 2)^2.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from memaudit.label_audit.coding import Codes, Scale
from memaudit.label_audit.coefficients import Table, table_of
from memaudit.stats.intervals import Floats

Distance = Callable[[int, int, Sequence[Fraction], Scale], Fraction]


def _nominal(c: int, k: int, totals: Sequence[Fraction], scale: Scale) -> Fraction:  # noqa: ARG001
    return Fraction(c != k)


def _ordinal(c: int, k: int, totals: Sequence[Fraction], scale: Scale) -> Fraction:  # noqa: ARG001
    low, high = sorted((c, k))
    between = sum(totals[low : high + 1], Fraction(0))
    return (between - (totals[low] + totals[high]) / 2) ** 2


def _interval(c: int, k: int, totals: Sequence[Fraction], scale: Scale) -> Fraction:  # noqa: ARG001
    return (scale.values[c] - scale.values[k]) ** 2


DISTANCES: Mapping[str, Distance] = {
    "nominal": _nominal, "ordinal": _ordinal, "interval": _interval,
}  # fmt: skip
"""By level of measurement."""


def coincidences(codes: Codes, weights: Sequence[Fraction], scale: Scale) -> Table:
    """The table of coincidences of annotators (rows); a cell counts as often as it weighs."""
    held = tallies(codes, scale)
    profiles, place = np.unique(held, axis=0, return_inverse=True)
    weighed = [Fraction(0)] * len(profiles)
    for at, weight in zip(place.ravel().tolist(), weights, strict=True):
        weighed[at] += weight
    entries = [Fraction(0)] * scale.size**2
    for profile, weight in zip(profiles.tolist(), weighed, strict=True):
        labels = sum(profile)
        if labels < 2:
            continue
        for c, own in enumerate(profile):
            for k, other in enumerate(profile):
                pairs = own * (other - (c == k))
                entries[c * scale.size + k] += weight * Fraction(pairs, labels - 1)
    return table_of(entries, scale.size)


def tallies(codes: Codes, scale: Scale) -> NDArray[np.int64]:
    """How many annotators gave each category, cell by cell."""
    counts = [(codes == category).sum(axis=0) for category in range(scale.size)]
    return np.stack(counts, axis=1)


def coincidence_rows(codes: Codes, scale: Scale) -> Floats:
    """What each cell adds to the table of coincidences, in floating point."""
    held = tallies(codes, scale).astype(np.float64)
    labels = held.sum(axis=1)
    pairs = held[:, :, None] * (held[:, None, :] - np.eye(scale.size)[None])
    pairs[labels < 2] = 0
    rows: Floats = pairs.reshape(len(held), -1) / np.maximum(labels - 1, 1)[:, None]
    return rows


def alpha(table: Table, level: str, scale: Scale) -> Fraction | None:
    """Krippendorff's alpha of a table of coincidences; None where only one category was used."""
    distance, places = DISTANCES[level], range(scale.size)
    totals = [sum(row, Fraction(0)) for row in table]
    far = [[distance(c, k, totals, scale) for k in places] for c in places]
    pairs = [(c, k) for c in places for k in places]
    expected = sum((totals[c] * totals[k] * far[c][k] for c, k in pairs), Fraction(0))
    if not expected:
        return None
    observed = sum((table[c][k] * far[c][k] for c, k in pairs), Fraction(0))
    return 1 - (sum(totals) - 1) * observed / expected

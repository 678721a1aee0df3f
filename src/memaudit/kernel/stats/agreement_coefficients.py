"""Cohen's kappa, raw and specific agreement, and Krippendorff's alpha.

Each coefficient exists twice: exactly, for the reported value (None where it is not defined), and
vectorised in floating point, for many bootstrap draws at once (NaN where it is not defined).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit.kernel.stats.bootstrap import Floats, Indices, Measure

Table = tuple[tuple[Fraction, ...], ...]
"""Cells, or their weights, by the first rater's category (row) and the second's (column)."""

NOTHING = 1e-12
"""Shares below this are rounding errors: weights are not whole numbers."""


def table_of(entries: Sequence[Fraction], size: int) -> Table:
    """A square table from its entries, row by row."""
    return tuple(tuple(entries[i * size : (i + 1) * size]) for i in range(size))


def total(table: Table) -> Fraction:
    """The sum of all entries."""
    return sum((sum(row, Fraction(0)) for row in table), Fraction(0))


def kappa(table: Table) -> Fraction | None:
    """Cohen's kappa, unweighted: (observed - expected) / (1 - expected).

    None where both raters use one and the same category only, or there is no cell.
    """
    whole = total(table)
    if not whole:
        return None
    rows, columns = _margins(table)
    observed = sum((table[i][i] for i in range(len(table))), Fraction(0)) / whole
    expected = sum((a * b for a, b in zip(rows, columns, strict=True)), Fraction(0)) / whole**2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def kappa_of_pairs(pairs: Counter[tuple[Fraction, Fraction]]) -> Fraction | None:
    """Cohen's kappa of pairs of values; equal values are one category."""
    values = sorted({value for pair in pairs for value in pair})
    return kappa(tuple(tuple(Fraction(pairs[a, b]) for b in values) for a in values))


def raw_agreement(table: Table) -> Fraction | None:
    """The share of cells with the same category."""
    return _share(sum((table[i][i] for i in range(len(table))), Fraction(0)), total(table))


def specific_agreement(table: Table) -> tuple[Fraction | None, ...]:
    """For each category, 2 x both / (first + second): how often a label given by one is shared.

    For two categories these are the negative and the positive agreement.
    """
    margins = zip(*_margins(table), strict=True)
    return tuple(_share(2 * table[i][i], row + column) for i, (row, column) in enumerate(margins))


def coefficients(table: Table) -> tuple[Fraction | None, ...]:
    """Kappa, raw agreement, and each category's specific agreement."""
    return (kappa(table), raw_agreement(table), *specific_agreement(table))


def vectorised_coefficients(size: int) -> Measure:
    """The same as `coefficients`, for many tables of `size` categories."""
    # Products with 0 and 1 add up short rows much faster than sums along an axis.
    each, ones = np.eye(size), np.ones((size, 1))
    row_of, column_of = np.kron(each, ones), np.kron(ones, each)

    def measure(tables: Floats) -> Floats:
        rows, columns = tables @ row_of, tables @ column_of
        diagonal = tables[:, :: size + 1]
        whole = (rows @ ones)[:, 0]
        with np.errstate(invalid="ignore", divide="ignore"):
            observed = (diagonal @ ones)[:, 0] / whole
            expected = np.einsum("dc,dc->d", rows, columns) / whole**2
            kappas = (observed - expected) / (1 - expected)
            kappas[1 - expected < NOTHING] = np.nan
            specific = 2 * diagonal / (rows + columns)
        return np.column_stack([kappas, observed, specific])

    return measure


def _margins(table: Table) -> tuple[list[Fraction], list[Fraction]]:
    return (
        [sum(row, Fraction(0)) for row in table],
        [sum(column, Fraction(0)) for column in zip(*table, strict=True)],
    )


def _share(part: Fraction, whole: Fraction) -> Fraction | None:
    return part / whole if whole else None


# Krippendorff's alpha, for any number of annotators and with labels missing.
#
# A cell with m >= 2 labels gives each of its ordered pairs of labels 1 / (m - 1) to the table of
# coincidences o. With n_c its row sums and n its total, alpha = 1 - (n - 1) sum o_ck d_ck /
# sum n_c n_k d_ck, where d is 0 on the diagonal and otherwise
# nominal 1, interval (v_c - v_k)^2, ordinal (n_c / 2 + n_c+1 + ... + n_k-1 + n_k / 2)^2.

Distance = Callable[[int, int, Sequence[Fraction], Sequence[Fraction]], Fraction]
"""Of two categories, given all row sums and the categories' values."""


def _nominal(c: int, k: int, totals: Any, values: Any) -> Fraction:  # noqa: ARG001
    return Fraction(c != k)


def _ordinal(c: int, k: int, totals: Sequence[Fraction], values: Any) -> Fraction:  # noqa: ARG001
    low, high = sorted((c, k))
    between = sum(totals[low : high + 1], Fraction(0))
    return (between - (totals[low] + totals[high]) / 2) ** 2


def _interval(c: int, k: int, totals: Any, values: Sequence[Fraction]) -> Fraction:  # noqa: ARG001
    return (values[c] - values[k]) ** 2


DISTANCES: Mapping[str, Distance] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
}
"""By level of measurement."""


def alpha(coincidences: Table, level: str, values: Sequence[Fraction]) -> Fraction | None:
    """Krippendorff's alpha; None where only one category was used."""
    distance, categories = DISTANCES[level], range(len(values))
    totals = [sum(row, Fraction(0)) for row in coincidences]
    pairs = [(c, k, distance(c, k, totals, values)) for c in categories for k in categories]
    expected = sum((totals[c] * totals[k] * far for c, k, far in pairs), Fraction(0))
    # One category alone: no disagreement was possible, so agreement shows nothing.
    if not expected:
        return None
    observed = sum((coincidences[c][k] * far for c, k, far in pairs), Fraction(0))
    return 1 - (sum(totals) - 1) * observed / expected


def coincidence_table(codes: NDArray[np.int8], weights: Sequence[Fraction], size: int) -> Table:
    """The table of coincidences of annotators (rows); a cell counts as often as it weighs."""
    profiles, place = np.unique(_label_counts(codes, size), axis=0, return_inverse=True)
    weighed = [Fraction(0)] * len(profiles)
    for at, weight in zip(place.ravel().tolist(), weights, strict=True):
        weighed[at] += weight
    entries = [Fraction(0)] * size**2
    # Cells with the same labels add the same pairs, so each kind of cell is worked out once.
    for profile, weight in zip(profiles.tolist(), weighed, strict=True):
        labels = sum(profile)
        if labels < 2:
            continue
        for c, count in enumerate(profile):
            for k, other in enumerate(profile):
                pairs = count * (other - (c == k))
                entries[c * size + k] += weight * Fraction(pairs, labels - 1)
    return table_of(entries, size)


def coincidence_rows(codes: NDArray[np.int8], size: int) -> Floats:
    """What each cell adds to the table of coincidences, in floating point."""
    counts = _label_counts(codes, size).astype(np.float64)
    labels = counts.sum(axis=1)
    pairs = counts[:, :, None] * (counts[:, None, :] - np.eye(size)[None])
    pairs[labels < 2] = 0
    rows: Floats = pairs.reshape(len(counts), -1) / np.maximum(labels - 1, 1)[:, None]
    return rows


def _label_counts(codes: NDArray[np.int8], size: int) -> Indices:
    """How many annotators gave each category, cell by cell."""
    return np.stack([(codes == category).sum(axis=0) for category in range(size)], axis=1)


def vectorised_alpha(values: Sequence[Fraction], levels: tuple[str, ...]) -> Measure:
    """Krippendorff's alpha on each level, for many tables of coincidences."""
    size, points = len(values), np.array([float(value) for value in values])

    def measure(totals: Floats) -> Floats:
        tables = totals.reshape(-1, size, size)
        counts = tables.sum(axis=2)
        return np.column_stack(
            [_alphas(tables, counts, squares(level, counts)) for level in levels]
        )

    def squares(level: str, counts: Floats) -> Floats:
        if level == "nominal":
            gaps = 1.0 - np.eye(size)[None]
        elif level == "interval":
            gaps = ((points[:, None] - points[None, :]) ** 2)[None]
        else:  # between the middles of two categories, in labels given
            middles = np.cumsum(counts, axis=1) - counts / 2
            gaps = (middles[:, :, None] - middles[:, None, :]) ** 2
        return np.asarray(gaps, np.float64)

    return measure


def _alphas(tables: Floats, counts: Floats, distances: Floats) -> Floats:
    whole = counts.sum(axis=1)
    observed = (tables * distances).sum(axis=(1, 2))
    expected = (counts[:, :, None] * counts[:, None, :] * distances).sum(axis=(1, 2))
    # A draw may miss all but one category, where alpha is undefined; in floating point its expected
    # disagreement is then not exactly 0.
    used = (counts > NOTHING * whole[:, None]).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Floats = np.where(used > 1, 1 - (whole - 1) * observed / expected, np.nan)
    return result

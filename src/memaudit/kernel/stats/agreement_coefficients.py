"""Cohen's kappa and raw agreement.

Each coefficient exists twice: exactly, for the reported value (None where it is not defined), and
vectorised in floating point, for many bootstrap draws at once (NaN where it is not defined).
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from memaudit.kernel.stats.bootstrap import Floats, Measure

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


def coefficients(table: Table) -> tuple[Fraction | None, ...]:
    """Kappa and raw agreement."""
    return kappa(table), raw_agreement(table)


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
        return np.column_stack([kappas, observed])

    return measure


def _margins(table: Table) -> tuple[list[Fraction], list[Fraction]]:
    return (
        [sum(row, Fraction(0)) for row in table],
        [sum(column, Fraction(0)) for column in zip(*table, strict=True)],
    )


def _share(part: Fraction, whole: Fraction) -> Fraction | None:
    return part / whole if whole else None

"""Agreement in a confusion table, exactly; None where a coefficient is not defined."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from memaudit.natural.label_passes import kappa as kappa_of_pairs

Table = tuple[tuple[Fraction, ...], ...]
"""Cells, or what they weigh, by the first's category (row) and the second's (column)."""


def total(table: Table) -> Fraction:
    """All cells."""
    return sum((sum(row, Fraction(0)) for row in table), Fraction(0))


def kappa(table: Table) -> Fraction | None:
    """Cohen's kappa, unweighted; None where both use one and the same category only, or no cell."""
    # Kappa does not change with the unit of weight: in the smallest one all weights are whole.
    unit = lcm(*(entry.denominator for row in table for entry in row))
    return kappa_of_pairs(
        Counter({
            (Fraction(i), Fraction(j)): int(entry * unit)
            for i, row in enumerate(table)
            for j, entry in enumerate(row)
        })
    )  # fmt: skip


def raw_agreement(table: Table) -> Fraction | None:
    """The share of cells with the same category."""
    return _share(sum((table[i][i] for i in range(len(table))), Fraction(0)), total(table))


def specific_agreement(table: Table) -> tuple[Fraction | None, ...]:
    """For each category, 2 x both / (one + other): how far a label given by one is shared.

    For two categories these are the negative and the positive agreement.
    """
    rows = [sum(row, Fraction(0)) for row in table]
    columns = [sum(column, Fraction(0)) for column in zip(*table, strict=True)]
    return tuple(
        _share(2 * table[i][i], row + column)
        for i, (row, column) in enumerate(zip(rows, columns, strict=True))
    )


def coefficients(table: Table) -> tuple[Fraction | None, ...]:
    """Kappa, raw agreement, and each category's own agreement."""
    return (kappa(table), raw_agreement(table), *specific_agreement(table))


def table_of(entries: Sequence[Fraction], size: int) -> Table:
    """A square table from its entries, row by row."""
    return tuple(tuple(entries[i * size : (i + 1) * size]) for i in range(size))


def _share(part: Fraction, whole: Fraction) -> Fraction | None:
    return part / whole if whole else None

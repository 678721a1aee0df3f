"""The coefficients of many tables at once, in floating point: NaN where one is not defined."""

from collections.abc import Callable

import numpy as np

from memaudit.audits.agreement.scale import Scale
from memaudit.audits.statistics import Floats

Measure = Callable[[Floats], Floats]
"""From tables, one a row with its entries side by side, to coefficients, one a column."""

NOTHING = 1e-12
"""Shares below this are rounding: weights are not whole numbers."""


def pair_measure(scale: Scale) -> Measure:
    """Kappa, raw agreement and each category's own agreement, as in `coefficients`."""
    # Products with 0 and 1 add up short rows much faster than sums along an axis.
    each, ones = np.eye(scale.size), np.ones((scale.size, 1))
    row_of, column_of = np.kron(each, ones), np.kron(ones, each)

    def measure(totals: Floats) -> Floats:
        rows, columns = totals @ row_of, totals @ column_of
        diagonal = totals[:, :: scale.size + 1]
        whole = (rows @ ones)[:, 0]
        with np.errstate(invalid="ignore", divide="ignore"):
            observed = (diagonal @ ones)[:, 0] / whole
            expected = np.einsum("dc,dc->d", rows, columns) / whole**2
            kappa = (observed - expected) / (1 - expected)
            kappa[1 - expected < NOTHING] = np.nan
            own = 2 * diagonal / (rows + columns)
        return np.column_stack([kappa, observed, own])

    return measure


def alpha_measure(scale: Scale, levels: tuple[str, ...]) -> Measure:
    """Krippendorff's alpha on each level, of tables of coincidences."""
    values = np.array([float(value) for value in scale.values])

    def measure(totals: Floats) -> Floats:
        tables = totals.reshape(-1, scale.size, scale.size)
        counts = tables.sum(axis=2)
        return np.column_stack([_alpha(tables, counts, _far(level, counts)) for level in levels])

    def _far(level: str, counts: Floats) -> Floats:
        if level == "nominal":
            gaps = 1.0 - np.eye(scale.size)[None]
        elif level == "interval":
            gaps = ((values[:, None] - values[None, :]) ** 2)[None]
        else:  # between the middles of two categories, in labels given
            middles = np.cumsum(counts, axis=1) - counts / 2
            gaps = (middles[:, :, None] - middles[:, None, :]) ** 2
        return np.asarray(gaps, np.float64)

    return measure


def _alpha(tables: Floats, counts: Floats, far: Floats) -> Floats:
    whole = counts.sum(axis=1)
    observed = (tables * far).sum(axis=(1, 2))
    expected = (counts[:, :, None] * counts[:, None, :] * far).sum(axis=(1, 2))
    used = (counts > NOTHING * whole[:, None]).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.where(used > 1, 1 - (whole - 1) * observed / expected, np.nan)
    return found

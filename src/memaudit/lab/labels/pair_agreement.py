"""Two raters on one scale: coefficients with intervals, overall and by group of cells."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit.kernel.stats.agreement_coefficients import (
    Table,
    coefficients,
    coincidence_rows,
    kappa,
    raw_agreement,
    table_of,
    vectorised_alpha,
    vectorised_coefficients,
)
from memaudit.kernel.stats.bootstrap import (
    Floats,
    Indices,
    Measure,
    PercentileInterval,
    Pool,
    pool_of_cells,
    pool_of_packages,
    single_table_intervals,
    table_intervals,
)
from memaudit.lab.labels.cell_tables import UNKNOWN_KIND
from memaudit.lab.labels.coded_labels import CellWeights, Codes, Rater, Scale, confusion_places
from memaudit.lab.labels.frame import SESSIONS, Frame, FrameCell


@dataclass(frozen=True, slots=True)
class Estimate:
    """The exact value, None where it is not defined, and its bootstrap intervals.

    `over_packages` is None with a single package: nothing is known then about others.
    """

    value: Fraction | None
    over_cells: PercentileInterval | None = None
    over_packages: PercentileInterval | None = None

    @property
    def interval(self) -> PercentileInterval | None:
        """Over packages where there are several: cells of one package share their texts."""
        return self.over_packages or self.over_cells


@dataclass(frozen=True, slots=True)
class PairCoefficients:
    """A confusion table and its coefficients; `specific` is agreement by category."""

    table: Table
    kappa: Estimate
    raw: Estimate
    specific: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """The compared cells of a group; `share` is its part of all the pair's disagreements.

    `kappa` is None where the grouping is by one rater's own labels: it would be 0 or undefined
    whatever the other says.
    """

    by: str
    name: str
    cells: int
    disagreements: int
    share: Fraction | None
    rate: Fraction
    kappa: Estimate | None
    raw: Estimate


@dataclass(frozen=True, slots=True)
class Comparison:
    """The agreement of a pair on a scale; `natural` is None where all cells weigh the same."""

    first: Rater
    second: Rater
    scale: Scale
    cells: int
    left_out: Mapping[str, int]
    as_drawn: PairCoefficients
    natural: PairCoefficients | None
    groups: tuple[Group, ...]

    @property
    def title(self) -> str:
        """The names of both raters."""
        return f"{self.first.title} - {self.second.title}"

    @property
    def kind(self) -> str:
        """The roles of both raters."""
        return f"{self.first.role}-{self.second.role}"


@dataclass(frozen=True, slots=True)
class PairPlaces:
    """The place of each cell in the pair's confusion table, -1 where it is left out."""

    first: Rater
    second: Rater
    scale: Scale
    places: Indices
    left_out: Mapping[str, int]

    @property
    def cells(self) -> int:
        """The number of cells compared."""
        return int((self.places >= 0).sum())


def pair_places(
    first: Rater, second: Rater, scale: Scale, codes: Mapping[str, Codes]
) -> PairPlaces:
    """The pair's cells; `codes` are of this scale, by the raters' names."""
    places, left_out = confusion_places(codes[first.name], codes[second.name], scale)
    return PairPlaces(first, second, scale, places, left_out)


TableKey = tuple[int | str, str]
"""A pair by its place or a scale by its name, and the balance."""


@dataclass(frozen=True, slots=True)
class CoefficientTable:
    """A table that draws of a pool add up to, and the coefficients measured in it."""

    table: Callable[[Pool], Floats]
    measure: Measure


def pair_table(pair: PairPlaces, weights: CellWeights) -> CoefficientTable:
    """For the coefficients of a pair."""
    floats, size = weights.floats, pair.scale.size
    return CoefficientTable(
        lambda pool: pool.tables(pair.places, floats, size**2), vectorised_coefficients(size)
    )


def alpha_table(
    codes: Codes, scale: Scale, levels: tuple[str, ...], weights: CellWeights
) -> CoefficientTable:
    """For Krippendorff's alpha of annotators (rows of `codes`) on each level."""
    rows = coincidence_rows(codes, scale.size) * weights.floats[:, None]
    return CoefficientTable(lambda pool: pool.summed(rows), vectorised_alpha(scale.values, levels))


@dataclass(frozen=True, slots=True)
class CoefficientIntervals:
    """Bootstrap intervals of several coefficients; over packages None with a single package."""

    over_cells: Sequence[PercentileInterval | None]
    over_packages: Sequence[PercentileInterval | None] | None


def bootstrap_coefficients(
    tables: Mapping[TableKey, CoefficientTable],
    profiles: Sequence[NDArray[np.generic]],
    packages: Sequence[str],
    draws: int,
    seed: int,
) -> dict[TableKey, CoefficientIntervals]:
    """Cells that are equal in all `profiles` form a class; packages are drawn if there are several.

    All tables share the draws.
    """

    def drawn(pool: Pool, stream: int) -> list[list[PercentileInterval | None]]:
        # All tables are drawn together: the draws of cells are the expensive part.
        filled = [(table.table(pool), table.measure) for table in tables.values()]
        return table_intervals(pool, filled, draws, np.random.default_rng([seed, stream]))

    over_cells = drawn(pool_of_cells(profiles), 0)
    # With one package nothing is known about others.
    if len(set(packages)) < 2:
        return {
            key: CoefficientIntervals(cells, None)
            for key, cells in zip(tables, over_cells, strict=True)
        }
    both = zip(tables, over_cells, drawn(pool_of_packages(packages), 1), strict=True)
    return {key: CoefficientIntervals(cells, wider) for key, cells, wider in both}


def estimates(values: Sequence[Fraction | None], intervals: CoefficientIntervals) -> list[Estimate]:
    """Values with their intervals; an undefined value has none."""
    wider = intervals.over_packages or [None] * len(values)
    return [
        Estimate(None) if value is None else Estimate(value, cells, packages)
        for value, cells, packages in zip(values, intervals.over_cells, wider, strict=True)
    ]


def pair_coefficients(
    pair: PairPlaces, weights: CellWeights, intervals: CoefficientIntervals
) -> PairCoefficients:
    """The exact coefficients with their intervals."""
    table = weights.table(pair.places, pair.scale.size)
    kappa_estimate, raw, *specific = estimates(coefficients(table), intervals)
    return PairCoefficients(table, kappa_estimate, raw, tuple(specific))


PACKAGE_LABEL, STRATUM = "package label", "stratum"

MOST_GROUP_DRAWS = 2_000
"""Groups are many and small: more draws would make their intervals slower, not more accurate."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """One way to divide the frame's cells: the group of every cell, -1 where it has none."""

    by: str
    names: tuple[str, ...]
    places: Indices


def groupings(frame: Frame) -> list[Grouping]:
    """Every grouping that the frame allows; a kind that no cell names is left out."""
    result = []
    if frame.key:
        zero = {id: not keyed.value for id, keyed in frame.key.items()}
        words = {True: "package-zero", False: "package-positive", None: ""}
        result.append(_grouping(PACKAGE_LABEL, [words[zero.get(cell.id)] for cell in frame.cells]))
    result += [
        _grouping("candidate kind", [_known(cell.candidate_kind) for cell in frame.cells]),
        _grouping("unit kind", [_known(cell.unit_kind) for cell in frame.cells]),
    ]
    sessions = [SESSIONS[cell.same_session] for cell in frame.cells]
    if set(sessions) != {SESSIONS[None]}:
        result.append(_grouping("session", sessions))
    if any(_has_stratum(cell) for cell in frame.cells):
        result.append(_grouping(STRATUM, [cell.stratum for cell in frame.cells]))
    return [grouping for grouping in result if grouping.names]


def _known(kind: str) -> str:
    return "" if kind == UNKNOWN_KIND else kind


def _has_stratum(cell: FrameCell) -> bool:
    kinds = {cell.candidate_kind, cell.unit_kind}
    return cell.same_session is not None or kinds != {UNKNOWN_KIND}


def _grouping(by: str, names: list[str]) -> Grouping:
    distinct = sorted({name for name in names if name})
    place = {name: at for at, name in enumerate(distinct)}
    places = np.array([place.get(name, -1) for name in names], np.int64)
    return Grouping(by, tuple(distinct), places)


def groups(
    grouping: Grouping,
    pair: PairPlaces,
    is_package: bool,
    draws: int,
    dice: np.random.Generator,
) -> Iterator[Group]:
    """The groups with compared cells; strata are too small and too many for intervals.

    `is_package`: the labels of one of the two raters are the package's own.
    """
    size, places = pair.scale.size, pair.places
    width = size**2
    used = (places >= 0) & (grouping.places >= 0)
    at = grouping.places[used] * width + places[used]
    counts = np.bincount(at, minlength=len(grouping.names) * width).reshape(-1, width)
    apart = ~np.eye(size, dtype=bool).ravel()
    all_disagreements = int(np.bincount(places[places >= 0], minlength=width)[apart].sum())
    for name, row in zip(grouping.names, counts, strict=True):
        cells, disagreements = int(row.sum()), int(row[apart].sum())
        if not cells:
            continue
        table = table_of([Fraction(int(count)) for count in row], size)
        intervals: list[PercentileInterval | None] = [None, None]
        # Strata are many and of a few cells each: an interval would say nothing and take most of
        # the time.
        if grouping.by != STRATUM:
            number = min(draws, MOST_GROUP_DRAWS)
            intervals = single_table_intervals(row, vectorised_coefficients(size), number, dice)
        kappa_estimate, raw = (
            Estimate(value, None if value is None else interval)
            for value, interval in zip((kappa(table), raw_agreement(table)), intervals, strict=True)
        )
        share = Fraction(disagreements, all_disagreements) if all_disagreements else None
        yield Group(
            grouping.by,
            name,
            cells,
            disagreements,
            share,
            Fraction(disagreements, cells),
            None if is_package and grouping.by == PACKAGE_LABEL else kappa_estimate,
            raw,
        )


DIGITS = 9
"""Decimal places of numbers in JSON."""


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """A comparison as JSON; null is an undefined value or an interval that does not exist."""
    scale, natural = comparison.scale, comparison.natural
    return {
        "cells": comparison.cells,
        "left_out": comparison.left_out,
        "as_drawn": _coefficients(comparison.as_drawn, scale),
        "natural": None if natural is None else _coefficients(natural, scale),
        "groups": [_group(group) for group in comparison.groups],
    }


def _coefficients(measured: PairCoefficients, scale: Scale) -> dict[str, Any]:
    specific = zip(scale.categories, measured.specific, strict=True)
    return {
        "kappa": estimate_data(measured.kappa),
        "raw_agreement": estimate_data(measured.raw),
        "specific_agreement": {name: estimate_data(own) for name, own in specific},
        "categories": scale.categories,
        "confusion": [[_entry(entry) for entry in row] for row in measured.table],
    }


def _entry(entry: Fraction) -> int | float:
    """Counts of cells are whole numbers, sums of weights need not be."""
    return entry.numerator if entry.denominator == 1 else round(float(entry), DIGITS)


def estimate_data(estimate: Estimate) -> dict[str, Any]:
    """A value and its intervals as JSON."""
    return {
        "value": None if estimate.value is None else round(float(estimate.value), DIGITS),
        "over_cells": _interval(estimate.over_cells),
        "over_packages": _interval(estimate.over_packages),
    }


def _interval(interval: PercentileInterval | None) -> dict[str, Any] | None:
    if interval is None:
        return None
    return {
        "low": round(interval.low, DIGITS),
        "high": round(interval.high, DIGITS),
        "undefined_draws": interval.undefined,
    }


def _group(group: Group) -> dict[str, Any]:
    share = group.share
    return {
        "by": group.by,
        "group": group.name,
        "cells": group.cells,
        "kappa": None if group.kappa is None else estimate_data(group.kappa),
        "raw_agreement": estimate_data(group.raw),
        "disagreements": group.disagreements,
        "share_of_disagreements": None if share is None else round(float(share), DIGITS),
        "rate": round(float(group.rate), DIGITS),
    }

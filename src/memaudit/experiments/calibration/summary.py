"""Rank correlations of ratio and outcome, three ways, with intervals over packages.

Pooled: all points together. Packages and budgets differ in how hard they are, which moves ratio and
outcome alike or apart whatever writers do. Within: over the writers of one package and budget, then
the mean of these. Of means: every writer's mean ratio against its mean outcome, a point a writer.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from memaudit.audits.rank_correlation import (
    Correlation,
    Places,
    by_row,
    interval_of,
    kendall,
    spearman,
)
from memaudit.audits.statistics import Floats, draws, intervals
from memaudit.experiments.calibration.partings import partings
from memaudit.experiments.calibration.points import TARGETS

Point = dict[str, Any]
ALL = "all"
PARTED = ("evidence_recall", "answered")
"""Outcomes whose partings are listed."""


def summarise(points: Sequence[Point]) -> dict[str, Any]:
    """Correlations of every set and of all of them, and where the orders part."""
    sets = list(dict.fromkeys(point["set"] for point in points))
    groups = {name: [point for point in points if point["set"] == name] for name in sets}
    if len(sets) > 1:
        groups[ALL] = list(points)
    return {
        "points": len(points),
        "undefined": sum(point["ratio"] is None for point in points),
        "sets": {name: len(_packages(inside)) for name, inside in groups.items()},
        "correlations": [
            row for name, inside in groups.items() for row in _correlations(name, inside)
        ],
        "partings": [partings(points, target) for target in PARTED],
    }


def _correlations(name: str, points: Sequence[Point]) -> list[dict[str, Any]]:
    packages = _packages(points)
    place = {package: at for at, package in enumerate(packages)}
    cluster = np.array([place[p["set"], p["package"]] for p in points])
    drawn = draws(len(packages))
    ratio = _column(points, "ratio")
    rows = []
    for target in TARGETS:
        outcome = _column(points, target)
        fine = ~(np.isnan(ratio) | np.isnan(outcome))
        x, y, own = ratio[fine], outcome[fine], cluster[fine]
        kept = [point for point, is_fine in zip(points, fine, strict=True) if is_fine]
        rows += [
            _row(name, target, "pooled", *_pooled(x, y, own, drawn)),
            _row(name, target, "within", *_within(kept, x, y, own, drawn)),
            _row(name, target, "of means", *_of_means(kept, x, y, own, drawn)),
        ]
    return rows


def _pooled(x: Floats, y: Floats, own: Places, drawn: Floats) -> tuple[Correlation, Correlation]:
    many = len(x)
    rho = interval_of(spearman(x, y)[0], spearman(x, y, drawn[:, own]), many)
    return rho, interval_of(kendall(x, y)[0], kendall(x, y, own, drawn), many)


def _within(
    kept: Sequence[Point], x: Floats, y: Floats, own: Places, drawn: Floats
) -> tuple[Correlation, Correlation]:
    """Undefined where all writers of a cell have one ratio, or one outcome."""
    cells: dict[tuple[int, str], list[int]] = {}
    for at, point in enumerate(kept):
        cells.setdefault((int(own[at]), point["budget"]), []).append(at)
    values = np.array([
        np.concatenate(by_row(x[inside][None], y[inside][None])) for inside in cells.values()
    ]).reshape(len(cells), 2)  # fmt: skip
    found = intervals(values, drawn[:, [package for package, _ in cells]])
    rho, tau = (Correlation(one.n, one.mean, one.low, one.high) for one in found)
    return rho, tau


def _of_means(
    kept: Sequence[Point], x: Floats, y: Floats, own: Places, drawn: Floats
) -> tuple[Correlation, Correlation]:
    writers = sorted({point["writer"] for point in kept})
    at = {writer: place for place, writer in enumerate(writers)}
    column = np.array([at[point["writer"]] for point in kept], np.int64)
    sums = np.zeros((3, drawn.shape[1], len(writers)))
    for row, values in enumerate((x, y, np.ones(len(x)))):
        np.add.at(sums[row], (own, column), values)
    whole = by_row(*_means(np.ones((1, drawn.shape[1])), sums))
    # A resample without any package of some writer compares other writers: it is undefined.
    resampled = by_row(*_means(drawn, sums))
    rho, tau = (
        interval_of(value[0], others, len(writers))
        for value, others in zip(whole, resampled, strict=True)
    )
    return rho, tau


def _means(drawn: Floats, sums: Floats) -> tuple[Floats, Floats]:
    """Every writer's mean ratio and outcome in every resample."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return (drawn @ sums[0]) / (drawn @ sums[2]), (drawn @ sums[1]) / (drawn @ sums[2])


def _row(name: str, target: str, how: str, rho: Correlation, tau: Correlation) -> dict[str, Any]:
    return {"set": name, "target": target, "how": how, "n": rho.n,
            "spearman": _numbers(rho), "kendall": _numbers(tau)}  # fmt: skip


def _numbers(one: Correlation) -> dict[str, float | None]:
    named = {"value": one.value, "ci_low": one.low, "ci_high": one.high}
    return {
        name: None if math.isnan(number) else round(number, 9) for name, number in named.items()
    }


def _packages(points: Sequence[Point]) -> list[tuple[str, str]]:
    """Set and name of every package, in order."""
    return list(dict.fromkeys((point["set"], point["package"]) for point in points))


def _column(points: Sequence[Point], name: str) -> Floats:
    return np.array([math.nan if p[name] is None else p[name] for p in points], np.float64)

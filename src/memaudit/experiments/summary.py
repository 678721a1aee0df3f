"""The summary of a run: means with intervals, paired differences, and a ranking of writers."""

import json
import math
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from memaudit.experiments.finished import open_finished
from memaudit.experiments.grid import Grid, PackageResampling, package_resampling, read_grids
from memaudit.io.atomic import write_file
from memaudit.stats.bootstrap import LEVEL, RESAMPLES, Floats, Interval, mean_intervals
from memaudit.stats.paired_tests import holm, paired_differences

SUMMARY = "summary.json"
DIGITS = 6


def summarise(folder: Path) -> dict[str, Any]:
    """Read the rows of a run, and write and return its summary."""
    finished = open_finished(folder)
    summary = summary_of(finished.manifest, read_grids(finished.manifest, finished.rows()))
    write_file(folder / SUMMARY, json.dumps(summary, indent=1) + "\n")
    return summary


def summary_of(manifest: dict[str, Any], grids: Sequence[Grid]) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    for grid in grids:
        # All budgets at once, column after column: they share draws and flips.
        ratios = grid.numbers["ratio"].reshape(len(grid.seeds), -1)
        known = package_resampling([grid])
        rows += _cells(grid, mean_intervals(ratios, known.drawn))
        pairs += _pairs(grid, ratios, known)
    return {
        "format": "memaudit-summary",
        "version": 1,
        "spec_digest": manifest["spec_digest"],
        "bootstrap": {"resamples": RESAMPLES, "level": LEVEL, "over": "distinct packages"},
        "undefined": "a ratio whose optimum is 0 or not certified is left out and counted",
        "rows": rows,
        "ranking": ranking(grids),
        "differences": pairs,
    }


def _cells(grid: Grid, means: Sequence[Interval]) -> list[dict[str, Any]]:
    """One row per budget and writer."""
    places = product(range(len(grid.budgets)), range(len(grid.writers)))
    return [
        {
            "distribution": grid.distribution,
            "budget": grid.budgets[place],
            "writer": grid.writers[column],
            "n": mean.n,
            "mean_ratio": _rounded(mean.mean),
            "ci_low": _rounded(mean.low),
            "ci_high": _rounded(mean.high),
            "mean_value": _mean(grid, "value", place, column),
            "mean_cost": _mean(grid, "cost", place, column),
            "mean_invalidation": _mean(grid, "invalidation", place, column),
            "mean_current": _mean(grid, "current", place, column),
            "mean_stale": _mean(grid, "stale", place, column),
            "zero_optimum": int(grid.zero[:, place, column].sum()),
            "uncertified": int(grid.uncertified[:, place, column].sum()),
            "failed": int(grid.failed[:, place, column].sum()),
            "distinct_packages": grid.distinct,
        }
        for (place, column), mean in zip(places, means, strict=True)
    ]


def _pairs(grid: Grid, ratios: Floats, known: PackageResampling) -> list[dict[str, Any]]:
    """Every two writers at each budget; p-values are corrected within a budget."""
    writers = len(grid.writers)
    couples = list(combinations(range(writers), 2))
    budgets = range(len(grid.budgets))
    columns = [(place * writers + a, place * writers + b) for place in budgets for a, b in couples]
    results = paired_differences(ratios, columns, known.drawn, known.cluster)
    rows = []
    for place in budgets:
        here = results[place * len(couples) : (place + 1) * len(couples)]
        adjusted = holm([difference.p for difference in here])
        rows += [
            {
                "distribution": grid.distribution,
                "budget": grid.budgets[place],
                "first": grid.writers[a],
                "second": grid.writers[b],
                "n": difference.n,
                "mean_difference": _rounded(difference.mean),
                "ci_low": _rounded(difference.low),
                "ci_high": _rounded(difference.high),
                "p": _rounded(difference.p),
                "p_holm": _rounded(corrected),
            }
            for (a, b), difference, corrected in zip(couples, here, adjusted, strict=True)
        ]
    return rows


def ranking(grids: Sequence[Grid]) -> list[dict[str, Any]]:
    """Writers by their mean ratio over all packages, each package its mean over budgets.

    Packages are resampled within their distribution, copies of one together.
    """
    values = np.concatenate([grid.by_package for grid in grids])
    drawn = package_resampling(grids).drawn
    ranked = [
        {
            "writer": writer,
            "n": mean.n,
            "left_out": len(values) - mean.n,
            "mean_ratio": _rounded(mean.mean),
            "ci_low": _rounded(mean.low),
            "ci_high": _rounded(mean.high),
        }
        for writer, mean in zip(grids[0].writers, mean_intervals(values, drawn), strict=True)
    ]
    return sorted(ranked, key=lambda row: (row["mean_ratio"] is None, -(row["mean_ratio"] or 0)))


def _mean(grid: Grid, name: str, place: int, column: int) -> float | None:
    numbers = grid.numbers[name][:, place, column]
    numbers = numbers[~np.isnan(numbers)]
    return _rounded(float(numbers.mean())) if len(numbers) else None


def _rounded(number: float) -> float | None:
    return None if math.isnan(number) else round(number, DIGITS)

"""Rows to a summary: means with intervals, paired differences, and a ranking of the writers."""

import json
import math
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from memaudit.audits.statistics import (
    LEVEL,
    RESAMPLES,
    Interval,
    differences,
    draws,
    holm,
    intervals,
)
from memaudit.experiments.grid import Grid, read_grids
from memaudit.experiments.sweep import ROWS, read_run
from memaudit.io.atomic import write_file
from memaudit.io.journal import read_journal

SUMMARY = "summary.json"
DIGITS = 6


def summarise(folder: Path) -> dict[str, Any]:
    """Read a run's rows, write its summary, and give it back."""
    manifest = read_run(folder)
    summary = summary_of(manifest, read_grids(manifest, read_journal(folder / ROWS)))
    write_file(folder / SUMMARY, json.dumps(summary, indent=1) + "\n")
    return summary


def summary_of(manifest: dict[str, Any], grids: Sequence[Grid]) -> dict[str, Any]:
    """The summary of a run."""
    rows: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    for grid in grids:
        drawn = draws(len(grid.seeds))
        for place in range(len(grid.budgets)):
            rows += _cells(grid, place, intervals(grid.numbers["ratio"][:, place], drawn))
            pairs += _pairs(grid, place, drawn)
    return {
        "format": "memaudit-summary",
        "version": 1,
        "spec_digest": manifest["spec_digest"],
        "bootstrap": {"resamples": RESAMPLES, "level": LEVEL, "over": "packages"},
        "undefined": "a ratio whose optimum is 0 or not certified is left out and counted",
        "rows": rows,
        "ranking": ranking(grids),
        "differences": pairs,
    }


def _cells(grid: Grid, place: int, found: Sequence[Interval]) -> list[dict[str, Any]]:
    """One row per writer at one budget."""
    return [
        {
            "distribution": grid.distribution,
            "budget": grid.budgets[place],
            "writer": writer,
            "n": one.n,
            "mean_ratio": _rounded(one.mean),
            "ci_low": _rounded(one.low),
            "ci_high": _rounded(one.high),
            "mean_value": _mean(grid, "value", place, column),
            "mean_cost": _mean(grid, "cost", place, column),
            "mean_invalidation": _mean(grid, "invalidation", place, column),
            "mean_current": _mean(grid, "current", place, column),
            "mean_stale": _mean(grid, "stale", place, column),
            "zero_optimum": int(grid.zero[:, place, column].sum()),
            "uncertified": int(grid.uncertified[:, place, column].sum()),
            "failed": int(grid.failed[:, place, column].sum()),
            "distinct_packages": len(grid.digests),
        }
        for column, (writer, one) in enumerate(zip(grid.writers, found, strict=True))
    ]


def _pairs(grid: Grid, place: int, drawn: Any) -> list[dict[str, Any]]:
    """Every two writers at one budget; p-values are corrected within it."""
    pairs = list(combinations(range(len(grid.writers)), 2))
    found = differences(grid.numbers["ratio"][:, place], pairs, drawn)
    adjusted = holm([one.p for one in found])
    return [
        {
            "distribution": grid.distribution,
            "budget": grid.budgets[place],
            "first": grid.writers[a],
            "second": grid.writers[b],
            "n": one.n,
            "mean_difference": _rounded(one.mean),
            "ci_low": _rounded(one.low),
            "ci_high": _rounded(one.high),
            "p": _rounded(one.p),
            "p_holm": _rounded(corrected),
        }
        for (a, b), one, corrected in zip(pairs, found, adjusted, strict=True)
    ]


def ranking(grids: Sequence[Grid]) -> list[dict[str, Any]]:
    """Writers by their mean ratio over all packages, each package its mean over budgets.

    Packages are resampled within their distribution.
    """
    values = np.concatenate([grid.by_package for grid in grids])
    sizes = [len(grid.seeds) for grid in grids]
    drawn = np.concatenate([draws(size, seed=i) for i, size in enumerate(sizes)], axis=1)
    ranked = [
        {
            "writer": writer,
            "n": one.n,
            "mean_ratio": _rounded(one.mean),
            "ci_low": _rounded(one.low),
            "ci_high": _rounded(one.high),
        }
        for writer, one in zip(grids[0].writers, intervals(values, drawn), strict=True)
    ]
    return sorted(ranked, key=lambda row: (row["mean_ratio"] is None, -(row["mean_ratio"] or 0)))


def _mean(grid: Grid, name: str, place: int, column: int) -> float | None:
    numbers = grid.numbers[name][:, place, column]
    numbers = numbers[~np.isnan(numbers)]
    return _rounded(float(numbers.mean())) if len(numbers) else None


def _rounded(number: float) -> float | None:
    return None if math.isnan(number) else round(number, DIGITS)

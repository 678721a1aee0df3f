"""Rows to a summary: means with intervals, paired differences, and a ranking of the writers."""

import json
import math
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from memaudit.experiments.finished import open_finished
from memaudit.experiments.grid import Evidence, Grid, evidence, read_grids
from memaudit.io.atomic import write_file
from memaudit.stats.intervals import (
    LEVEL,
    RESAMPLES,
    Floats,
    Interval,
    differences,
    holm,
    intervals,
)

SUMMARY = "summary.json"
DIGITS = 6


def summarise(folder: Path) -> dict[str, Any]:
    """Read a run's rows, write its summary, and give it back."""
    found = open_finished(folder)
    summary = summary_of(found.manifest, read_grids(found.manifest, found.rows()))
    write_file(folder / SUMMARY, json.dumps(summary, indent=1) + "\n")
    return summary


def summary_of(manifest: dict[str, Any], grids: Sequence[Grid]) -> dict[str, Any]:
    """The summary of a run."""
    rows: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    for grid in grids:
        # All budgets at once, column after column: they share draws and flips.
        ratios = grid.numbers["ratio"].reshape(len(grid.seeds), -1)
        known = evidence([grid])
        rows += _cells(grid, intervals(ratios, known.drawn))
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


def _cells(grid: Grid, found: Sequence[Interval]) -> list[dict[str, Any]]:
    """One row per budget and writer."""
    places = product(range(len(grid.budgets)), range(len(grid.writers)))
    return [
        {
            "distribution": grid.distribution,
            "budget": grid.budgets[place],
            "writer": grid.writers[column],
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
            "distinct_packages": grid.distinct,
        }
        for (place, column), one in zip(places, found, strict=True)
    ]


def _pairs(grid: Grid, ratios: Floats, known: Evidence) -> list[dict[str, Any]]:
    """Every two writers at each budget; p-values are corrected within a budget."""
    writers = len(grid.writers)
    couples = list(combinations(range(writers), 2))
    budgets = range(len(grid.budgets))
    columns = [(place * writers + a, place * writers + b) for place in budgets for a, b in couples]
    found = differences(ratios, columns, known.drawn, known.cluster)
    rows = []
    for place in budgets:
        here = found[place * len(couples) : (place + 1) * len(couples)]
        adjusted = holm([one.p for one in here])
        rows += [
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
            for (a, b), one, corrected in zip(couples, here, adjusted, strict=True)
        ]
    return rows


def ranking(grids: Sequence[Grid]) -> list[dict[str, Any]]:
    """Writers by their mean ratio over all packages, each package its mean over budgets.

    Packages are resampled within their distribution, copies of one together.
    """
    values = np.concatenate([grid.by_package for grid in grids])
    drawn = evidence(grids).drawn
    ranked = [
        {
            "writer": writer,
            "n": one.n,
            "left_out": len(values) - one.n,
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

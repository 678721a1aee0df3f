"""The paper's controlled results: the budget sweep on base, and the stress suite."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memaudit.experiments.spec import RunSpec
from memaudit.experiments.sweep import read_run
from memaudit.generators.registry import PUBLISHED
from memaudit.io.atomic import write_file
from memaudit.reproduce.scoreboard import Line, scoreboard

SEEDS = 500
SWEEP_BUDGETS = ("0.01", "0.02", "0.05", "0.10", "0.20")
STRESS_BUDGET = "6"
WRITERS = (
    "opt",
    "gvt",
    "greedy",
    "density_only",
    "fact_only",
    "summary_only",
    "no_tombstone_opt",
    "no_tombstone_gvt",
    "recency_raw",
    "reservoir_raw",
)

Sweeper = Callable[[RunSpec, Path], dict[str, Any]]
"""Runs a spec into a folder and gives its summary."""


def specs(seeds: int = SEEDS) -> dict[str, RunSpec]:
    """The two runs behind the paper's controlled numbers."""
    drawn = tuple(range(seeds))
    return {
        "sweep": RunSpec(("base",), drawn, SWEEP_BUDGETS, WRITERS),
        "stress": RunSpec(PUBLISHED, drawn, (STRESS_BUDGET,), WRITERS),
    }


def reproduce_controlled(folder: Path, sweep: Sweeper, seeds: int = SEEDS) -> list[Line]:
    """Run both (or go on with them) and compare; the scoreboard is written beside them."""
    summaries = {name: sweep(spec, folder / name) for name, spec in specs(seeds).items()}
    lines = scoreboard(read_run(folder / "sweep")["budgets"], summaries)
    board = {"seeds": seeds, "lines": [line.to_json() for line in lines]}
    write_file(folder / "scoreboard.json", json.dumps(board, indent=1) + "\n")
    return lines

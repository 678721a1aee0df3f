"""Results on generated packages: the budget sweep, the stress suite and the solver audit."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from memaudit.kernel.exact import exact
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.solvers.registry import SOLVERS
from memaudit.lab.reproduce.folder import ROWS, SCOREBOARD, SEEDS, SUMMARY, append_rows
from memaudit.lab.reproduce.scoreboard import ScoreboardLine, controlled_lines
from memaudit.lab.sweeps.generators.registry import PUBLISHED
from memaudit.lab.sweeps.runs.solver_audit import (
    YARDSTICK,
    AuditTask,
    SolverDifference,
    SolverTally,
    audit_package,
    audit_tasks,
)
from memaudit.lab.sweeps.runs.spec import RunSpec
from memaudit.lab.sweeps.runs.sweep import read_run
from memaudit.workspace.engines import Engine
from memaudit.workspace.journal import Key, read_journal, to_line

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
"""Runs a spec into a folder and returns its summary."""

SOLVER_KEY = ("distribution", "seed", "budgets")
"""The fields that say which row of the solver audit it is."""


def controlled_specs(seeds: int = SEEDS) -> dict[str, RunSpec]:
    """The two runs behind the paper's controlled numbers."""
    drawn = tuple(range(seeds))
    return {
        "sweep": RunSpec(("base",), drawn, SWEEP_BUDGETS, WRITERS),
        "stress": RunSpec(PUBLISHED, drawn, (STRESS_BUDGET,), WRITERS),
    }


def reproduce_controlled(folder: Path, sweep: Sweeper, seeds: int = SEEDS) -> list[ScoreboardLine]:
    """Run or resume both, and write the scoreboard beside them."""
    summaries = {name: sweep(spec, folder / name) for name, spec in controlled_specs(seeds).items()}
    lines = controlled_lines(read_run(folder / "sweep")["budgets"], summaries)
    write_file(folder / SCOREBOARD, controlled_scoreboard_text(seeds, lines))
    return lines


def controlled_scoreboard_text(seeds: int, lines: Iterable[ScoreboardLine]) -> str:
    data = {"seeds": seeds, "lines": [line.to_json() for line in lines]}
    return json.dumps(data, indent=1) + "\n"


def make_solver_audit(folder: Path, rows: int, engine: Engine) -> None:
    """Solve every package with every backend, and write the table."""
    tasks = list(audit_tasks(rows))
    work = partial(solver_lines, tuple(sorted(SOLVERS)))
    append_rows(folder / ROWS, tasks, work, SOLVER_KEY, solver_keys(rows), engine)
    write_file(folder / SUMMARY, solver_summary_text(read_journal(folder / ROWS)))


def solver_keys(rows: int) -> list[Key]:
    """Which rows the solver audit has, in order."""
    return [(name, seed, list(budgets)) for name, seed, budgets in audit_tasks(rows)]


def solver_lines(solvers: tuple[str, ...], task: AuditTask) -> list[str]:
    """The one row of a package, at all of its budgets by every backend: what an engine runs."""
    name, seed, budgets = task
    tallies = audit_package(solvers, task)
    return [
        to_line(
            {
                "distribution": name,
                "seed": seed,
                "budgets": list(budgets),
                "solvers": {solver: _tally_data(tally) for solver, tally in tallies.items()},
            }
        )
    ]


def solver_summary_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """All rows added up, one entry per backend."""
    total: dict[str, SolverTally] = {}
    count = 0
    for row in rows:
        count += len(row["budgets"])
        for solver, data in row["solvers"].items():
            # From the rows, not from what was just computed: a resumed run has rows of an earlier
            # process.
            total.setdefault(solver, SolverTally(solver)).add(_tally(solver, data))
    data = {
        "rows": count,
        "compared_with": YARDSTICK,
        "solvers": {solver: _tally_data(tally) for solver, tally in total.items()},
    }
    return json.dumps(data, indent=1) + "\n"


def _tally_data(tally: SolverTally) -> dict[str, Any]:
    return {
        "rows": tally.rows,
        "matches": tally.matches,
        "max_difference": str(tally.largest),
        "certified": tally.certified,
        "refused": tally.refused,
        "differing": [
            {**asdict(row), "value": str(row.value), "expected": str(row.expected)}
            for row in tally.differing
        ],
    }


def _tally(solver: str, data: Mapping[str, Any]) -> SolverTally:
    return SolverTally(
        solver,
        data["rows"],
        data["matches"],
        data["certified"],
        data["refused"],
        exact(data["max_difference"]),
        [
            SolverDifference(
                row["package"],
                row["budget"],
                row["solver"],
                exact(row["value"]),
                exact(row["expected"]),
            )
            for row in data["differing"]
        ],
    )

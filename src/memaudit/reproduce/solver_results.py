"""The certification table: every backend on the same rows, kept package by package."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from memaudit.core.exact import exact
from memaudit.experiments.engines.local import Engine
from memaudit.experiments.solver_audit import (
    YARDSTICK,
    Difference,
    Row,
    Tally,
    audit_package,
    audit_rows,
)
from memaudit.io.atomic import write_file
from memaudit.io.journal import read_journal, to_line
from memaudit.reproduce.folder import ROWS, SUMMARY
from memaudit.reproduce.journaled import Key, journaled
from memaudit.solvers.registry import SOLVERS

FIELDS = ("distribution", "seed", "budgets")


def make_solver_audit(folder: Path, rows: int, engine: Engine) -> None:
    """Solve every row with every backend, and write the table."""
    tasks = list(audit_rows(rows))
    keys: list[Key] = [(name, seed, list(budgets)) for name, seed, budgets in tasks]
    work = partial(audited_lines, tuple(sorted(SOLVERS)))
    journaled(folder / ROWS, tasks, work, FIELDS, keys, engine)
    write_file(folder / SUMMARY, summary_text(read_journal(folder / ROWS)))


def audited_lines(solvers: tuple[str, ...], task: Row) -> list[str]:
    """The one line of a package."""
    return [to_line(audited(solvers, task))]


def audited(solvers: tuple[str, ...], task: Row) -> dict[str, Any]:
    """One package at its budgets by every backend, as a row."""
    name, seed, budgets = task
    tallies = audit_package(solvers, task)
    return {
        "distribution": name,
        "seed": seed,
        "budgets": list(budgets),
        "solvers": {solver: _plain(tally) for solver, tally in tallies.items()},
    }


def summary_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """All rows together, one entry a backend."""
    total: dict[str, Tally] = {}
    count = 0
    for row in rows:
        count += len(row["budgets"])
        for solver, plain in row["solvers"].items():
            total.setdefault(solver, Tally(solver)).add(_tally(solver, plain))
    data = {
        "rows": count,
        "compared_with": YARDSTICK,
        "solvers": {solver: _plain(tally) for solver, tally in total.items()},
    }
    return json.dumps(data, indent=1) + "\n"


def _plain(tally: Tally) -> dict[str, Any]:
    return {
        "rows": tally.rows,
        "matches": tally.matches,
        "max_difference": str(tally.largest),
        "certified": tally.certified,
        "refused": tally.refused,
        "differing": [
            {**asdict(one), "value": str(one.value), "expected": str(one.expected)}
            for one in tally.differing
        ],
    }


def _tally(solver: str, plain: Mapping[str, Any]) -> Tally:
    return Tally(
        solver, plain["rows"], plain["matches"], plain["certified"], plain["refused"],
        exact(plain["max_difference"]),
        [
            Difference(one["package"], one["budget"], one["solver"], exact(one["value"]),
                       exact(one["expected"]))
            for one in plain["differing"]
        ],
    )  # fmt: skip

"""Rows of runs: whole, in order, about the right packages, and adding up to their summaries."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memaudit.core.errors import InvalidPackage, MemAuditError
from memaudit.core.exact import plain
from memaudit.experiments.grid import read_grids
from memaudit.experiments.spec import RunSpec
from memaudit.experiments.summary import summary_of
from memaudit.experiments.sweep import FORMAT as RUN_FORMAT
from memaudit.experiments.sweep import RUN, Budgets, read_run, resolve
from memaudit.io import files
from memaudit.io.journal import read_journal
from memaudit.reproduce.controlled import specs
from memaudit.reproduce.folder import NATURAL, ROWS, STRESS, SUMMARY, SWEEP
from memaudit.reproduce.natural_results import natural_spec, summary_text
from memaudit.reproduce.settings import Settings
from memaudit.reproduce.verify.packages import Digests
from memaudit.reproduce.verify.report import Report
from memaudit.reproduce.verify.sense import malformed, nonsense
from memaudit.reproduce.verify.stated import Stated

Rows = list[dict[str, Any]]
Runs = dict[str, tuple[RunSpec, Budgets]]
"""What each run must have run, by its folder."""


def run_specs(settings: Settings) -> Runs:
    """The runs of a reproduction with these settings."""
    controlled = specs(settings.seeds)
    natural = natural_spec(settings.packages)
    return {
        SWEEP: (controlled["sweep"], resolve(controlled["sweep"])),
        STRESS: (controlled["stress"], resolve(controlled["stress"])),
        NATURAL: (natural, resolve(natural)),
    }


def check_runs(
    folder: Path, stated: Stated, runs: Runs, digests: Digests, report: Report
) -> dict[str, Rows]:
    """Check all rows; those of runs without a problem come back, to be made again."""
    good = {}
    for run, (spec, budgets) in runs.items():
        before = len(report.problems)
        with report.reading(f"{run}/{ROWS}"):
            rows = list(read_journal(folder / run / ROWS))
            check_rows(f"{run}/{ROWS}", rows, spec, budgets, digests, report)
            if any(row.get("version") != stated.identity.memaudit for row in rows):
                report.problem(f"{run}/{ROWS}", "is not of the version that the manifest names")
            if len(report.problems) == before:
                check_summary(folder, run, spec, rows, report)
                if run != NATURAL:
                    check_run(folder, run, spec, budgets, stated, report)
                good[run] = rows
    return good


def check_rows(
    where: str, rows: Rows, spec: RunSpec, budgets: Budgets, digests: Digests, report: Report
) -> None:
    """Every row in its place, with its package, and the same optimum for the same question."""
    report.checked["rows"] += len(rows)
    keys = list(_keys(spec, budgets))
    report.same(where, "the number of rows", len(rows), len(keys))
    optima: dict[tuple[object, ...], tuple[object, ...]] = {}
    for line, (row, key) in enumerate(zip(rows, keys, strict=False), 1):
        at = f"{where}, line {line}"
        if problem := malformed(row):
            report.problem(at, problem)
            continue
        found = (row["distribution"], row["seed"], row["budget"], row["writer"])
        report.same(at, "what the row is about", found, key)
        report.same(at, "the digest", row["digest"], digests.get((key[0], key[1])))
        proven = (row["optimum"], row["certificate"])
        report.same(at, "the optimum and its proof, compared with earlier rows", proven,
                    optima.setdefault((row["digest"], row["budget"]), proven))  # fmt: skip
        if problem := nonsense(row):
            report.problem(at, problem)


def check_summary(folder: Path, run: str, spec: RunSpec, rows: Rows, report: Report) -> None:
    """The summary follows from the rows."""
    path = f"{run}/{SUMMARY}"
    if run == NATURAL:
        expected = summary_text(spec, rows)
    else:
        about = {"spec": spec.to_json(), "spec_digest": spec.digest}
        expected = json.dumps(summary_of(about, read_grids(about, rows)), indent=1) + "\n"
    if read_text(folder / path) != expected:
        report.problem(path, "does not follow from the rows")


def check_run(
    folder: Path, run: str, spec: RunSpec, budgets: Budgets, stated: Stated, report: Report
) -> None:
    """A run's own manifest follows from its spec, and names the versions that ours names."""
    found = read_run(folder / run)
    said = found["versions"]
    expected = {
        "format": RUN_FORMAT,
        "version": 1,
        "spec": json.loads(json.dumps(spec.to_json())),
        "spec_digest": spec.digest,
        "budgets": {given: str(budget) for given, budget in budgets},
        "rows": spec.rows,
        "estimators": {},
        "versions": {name: stated.versions.get(name) for name in said},
    }
    for name in sorted(found.keys() | expected.keys()):
        report.same(f"{run}/{RUN}", name, found.get(name), expected.get(name))


def _keys(spec: RunSpec, budgets: Budgets) -> Iterator[tuple[str, int, object, str]]:
    for package in range(spec.packages):
        name, seed = spec.package_at(package)
        for _, budget in budgets:
            for writer in spec.writers:
                yield name, seed, plain(budget), writer


def read_text(path: Path) -> str:
    """A file's text, or one line about why it cannot be had."""
    try:
        return files.read_text(path)
    except InvalidPackage as error:
        raise MemAuditError(error.problems[0].message) from None

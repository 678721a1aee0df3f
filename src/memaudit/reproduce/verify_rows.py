"""Rows of a reproduction, recomputed package by package from its settings alone.

Nothing that is recomputed depends on the row it is compared with. The optimum behind a recomputed
row is certified, so its proof has passed the independent checker again.
"""

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from memaudit.core.exact import plain
from memaudit.experiments.engines import Engine
from memaudit.experiments.solver_audit import AuditTask, audit_tasks
from memaudit.experiments.spec import RunSpec
from memaudit.experiments.summary import read_grids, summary_of
from memaudit.experiments.sweep import Budgets, SweepChunk, resolve, row_order, rows_of
from memaudit.io.journal import Fits, rows_in_order
from memaudit.reproduce.controlled import (
    SOLVER_KEY,
    controlled_specs,
    solver_keys,
    solver_lines,
    solver_summary_text,
)
from memaudit.reproduce.folder import NATURAL, ROWS, SENSITIVITY, SOLVERS, STRESS, SWEEP
from memaudit.reproduce.own_set import (
    VARIANT_KEY,
    natural_lines,
    natural_spec,
    natural_summary_text,
    sensitivity_keys,
    sensitivity_lines,
    sensitivity_summary_text,
)
from memaudit.reproduce.settings import Settings
from memaudit.solvers.registry import SOLVERS as BACKENDS

Rows = list[dict[str, Any]]

BRUTE = "brute"
"""The backend that looks at every store."""

BRUTE_ROWS = 18
"""Rows of the solver audit that brute force solves too. All of them would take too long."""

IN_FULL = (NATURAL, SENSITIVITY)
"""Parts that take seconds and are never sampled."""

BATCH = 16
"""Packages that go to a process together."""


@dataclass(frozen=True, slots=True)
class RowPart:
    """A part that has rows: which rows, in which order, and how they are computed."""

    rows: int
    fits: Fits
    """Whether a row is the one of its place."""
    distributions: Sequence[str]
    """Of every package. All packages have the same number of rows."""
    lines: Callable[[int], list[str]]
    """The rows of the package at a place."""
    summary_text: Callable[[Rows], str]
    spec: RunSpec | None = None

    @property
    def rows_per_package(self) -> int:
        return self.rows // len(self.distributions)


def row_parts(settings: Settings, sample: int | None, seed: int) -> dict[str, RowPart]:
    """Every part that has rows, by folder. The seed chooses what brute force solves too."""
    specs = controlled_specs(settings.seeds)
    natural = natural_spec(settings.packages)
    tasks = list(audit_tasks(settings.rows))
    audited = [distribution for distribution, _, _ in tasks]
    by_brute_force = frozenset(
        range(len(tasks))
        if sample is not None
        else draw_packages(f"{seed} brute", audited, BRUTE_ROWS)
    )
    solver_rows, variants = solver_keys(settings.rows), sensitivity_keys(settings.packages)
    return {
        SWEEP: _run_part(specs["sweep"]),
        STRESS: _run_part(specs["stress"]),
        NATURAL: _run_part(
            natural, partial(natural_lines, natural), partial(natural_summary_text, natural)
        ),
        SOLVERS: RowPart(
            len(solver_rows),
            rows_in_order(SOLVER_KEY, len(solver_rows), solver_rows.__getitem__),
            audited,
            partial(_solver_lines, tasks, by_brute_force),
            solver_summary_text,
        ),
        SENSITIVITY: RowPart(
            len(variants),
            rows_in_order(VARIANT_KEY, len(variants), variants.__getitem__),
            [NATURAL] * settings.packages,
            sensitivity_lines,
            sensitivity_summary_text,
        ),
    }


def _run_part(
    spec: RunSpec,
    lines: Callable[[int], list[str]] | None = None,
    summary_text: Callable[[Rows], str] | None = None,
) -> RowPart:
    budgets = resolve(spec)
    return RowPart(
        spec.rows,
        row_order(spec, [plain(budget) for _, budget in budgets]),
        [spec.package_at(package)[0] for package in range(spec.packages)],
        lines or partial(_run_lines, spec, budgets),
        summary_text or partial(_run_summary_text, spec),
        spec,
    )


def _run_lines(spec: RunSpec, budgets: Budgets, package: int) -> list[str]:
    return rows_of(spec, budgets, SweepChunk(range(package, package + 1), skip=0))


def _run_summary_text(spec: RunSpec, rows: Rows) -> str:
    about = {"spec": spec.to_json(), "spec_digest": spec.digest}
    return json.dumps(summary_of(about, read_grids(about, rows)), indent=1) + "\n"


def _solver_lines(
    tasks: Sequence[AuditTask], by_brute_force: frozenset[int], package: int
) -> list[str]:
    backends = [name for name in sorted(BACKENDS) if name != BRUTE or package in by_brute_force]
    return solver_lines(tuple(backends), tasks[package])


@dataclass(slots=True)
class RowCheck:
    """How much was recomputed, and where a row differs."""

    rows: int = 0
    by_brute_force: int = 0
    certificates: int = 0
    problems: list[tuple[str, str]] = field(default_factory=list)
    """Where, and what."""


def check_rows(
    parts: Mapping[str, RowPart],
    rows: Mapping[str, Rows],
    sample: int | None,
    seed: int,
    engine: Engine,
) -> RowCheck:
    """Recompute rows and compare them: all, or about so many, drawn with the seed."""
    chosen = [
        (name, package)
        for name in rows
        for package in sample_packages(name, parts[name], sample, len(rows), seed)
    ]
    batches = [chosen[first : first + BATCH] for first in range(0, len(chosen), BATCH)]
    check = RowCheck()
    makers = {name: parts[name].lines for name in rows}
    recomputed = engine.map(partial(_recompute, makers), batches)
    for batch, results in zip(batches, recomputed, strict=True):
        for (name, package), lines in zip(batch, results, strict=True):
            first = package * parts[name].rows_per_package
            for place, line in enumerate(lines, first):
                where = f"{name}/{ROWS}, line {place + 1}"
                _compare(where, rows[name][place], json.loads(line), check)
            certificates = {row.get("certificate") for row in map(json.loads, lines)}
            check.certificates += len(certificates - {None})
    return check


def sample_packages(
    name: str, part: RowPart, sample: int | None, parts: int, seed: int
) -> Sequence[int]:
    """Packages to recompute, sorted: all, none with size 0, else at least one per distribution.

    Every package has rows of all budgets and writers, so no mean goes without a row.
    """
    everything = range(len(part.distributions))
    if sample is None or (sample and name in IN_FULL):
        return everything
    share = -(-sample // (parts * part.rows_per_package))
    return draw_packages(f"{seed} {name}", part.distributions, share) if sample else ()


def draw_packages(source: str, distributions: Sequence[str], share: int) -> list[int]:
    """One package of every distribution, then others until there are enough."""
    chance = random.Random(source)
    packages: dict[str, list[int]] = {}
    for package, distribution in enumerate(distributions):
        packages.setdefault(distribution, []).append(package)
    first = {chance.choice(places) for places in packages.values()}
    rest = [package for package in range(len(distributions)) if package not in first]
    return sorted([*first, *chance.sample(rest, min(len(rest), max(0, share - len(first))))])


def _recompute(
    makers: Mapping[str, Callable[[int], list[str]]], packages: Iterable[tuple[str, int]]
) -> list[list[str]]:
    """What an engine runs, maybe in another process."""
    return [makers[name](package) for name, package in packages]


def _compare(where: str, row: dict[str, Any], recomputed: dict[str, Any], check: RowCheck) -> None:
    check.rows += 1
    if BRUTE in recomputed.get("solvers", {}):
        check.by_brute_force += 1
    elif "solvers" in recomputed:
        solvers = {name: tally for name, tally in row["solvers"].items() if name != BRUTE}
        row = {**row, "solvers": solvers}
    # As JSON, in which 1, 1.0 and true differ. The version may be that of another program.
    here, expected = (
        {name: json.dumps(value, sort_keys=True) for name, value in data.items()}
        for data in (row, recomputed)
    )
    for name in sorted((here.keys() | expected.keys()) - {"version", "crc"}):
        if here.get(name) != expected.get(name):
            what = f"{name} is {shortened(here.get(name))}, recomputed "
            check.problems.append((where, what + shortened(expected.get(name))))


def shortened(value: object) -> str:
    """A value for a line on the screen."""
    text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."

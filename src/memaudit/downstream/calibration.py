"""Whether the ratio predicts what is retrieved and answered: points, in memory or in a folder."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.downstream.calibration_points import points
from memaudit.downstream.calibration_summary import summarise
from memaudit.downstream.spec import Setup, reading_of
from memaudit.experiments.evaluate import Subject
from memaudit.experiments.spec import absolute, parse_budgets
from memaudit.io.atomic import write_file
from memaudit.io.journal import Journal, in_order, read_journal, to_line
from memaudit.io.run_folder import ROWS, claimed_by_spec
from memaudit.writers.protocol import Writer

SUMMARY = "summary.json"
FORMAT = "memaudit-calibration"

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is compared: sets of packages by name, budgets, writers, and how stores are read."""

    sets: dict[str, Sequence[Package]]
    budgets: str
    """Costs, or shares of what all candidates of a package cost."""
    writers: Sequence[Writer]
    setup: Setup
    seed: int = 0

    def __post_init__(self) -> None:
        if self.setup.reader.asks_a_model:
            raise MemAuditError("a calibration reads thousands of stores; choose extractive")
        given = parse_budgets(self.budgets)
        if not given or len(set(given)) < len(given):
            raise MemAuditError(f"cannot calibrate at budgets {self.budgets!r}; give each once")
        names = [writer.name for writer in self.writers]
        if len(set(names)) < len(names) or len(names) < 2:
            raise MemAuditError("a calibration compares two writers or more, each given once")
        if not any(one.queries for inside in self.sets.values() for one in inside):
            raise MemAuditError("no package has a question, so there is nothing to calibrate on")

    @property
    def cases(self) -> list[tuple[str, Package]]:
        """Every package that has questions, with the name of its set."""
        return [(name, one) for name, inside in self.sets.items() for one in inside if one.queries]

    @property
    def spec(self) -> dict[str, Any]:
        """Everything that decides the points."""
        return {
            "packages": {f"{name}/{one.name}": digest(one) for name, one in self.cases},
            "budgets": list(parse_budgets(self.budgets)),
            "writers": [writer.name for writer in self.writers],
            "peeking_writers": [writer.name for writer in self.writers if writer.peeks],
            "seed": self.seed,
            **reading_of(self.setup),
        }

    @property
    def keys(self) -> list[tuple[str, str, str, str]]:
        """Set, package, budget and writer of every point, in order."""
        return [
            (name, one.name, budget, writer.name)
            for name, one in self.cases
            for budget in parse_budgets(self.budgets)
            for writer in self.writers
        ]

    def points(self, found: int = 0) -> Iterator[dict[str, Any]]:
        """The points after those that were found."""
        given = parse_budgets(self.budgets)
        each = len(given) * len(self.writers)
        for name, package in self.cases:
            skip = min(found, each)
            found -= skip
            if skip == each:
                continue
            whole = package.total_cost(package.candidate)
            budgets = [(text, absolute(text, whole)) for text in given]
            yield from points(
                Subject(package), name, budgets, self.writers, self.setup, self.seed, skip
            )


def calibrate(
    plan: Plan, folder: Path | None = None, progress: Progress | None = None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The summary and the points; a folder keeps both, and goes on where it ended."""
    if folder is None:
        rows = []
        for point in plan.points():
            rows.append(point)
            if progress:
                progress(len(rows))
        return _summary(plan, rows), rows
    with claimed_by_spec(folder, FORMAT, "calibration", plan.spec):
        keys = plan.keys
        fits = in_order(("set", "package", "budget", "writer"), len(keys), keys.__getitem__)
        with Journal(folder / ROWS, fits) as file:
            for point in plan.points(file.rows):
                file.append([to_line(point)])
                if progress:
                    progress(file.rows)
        rows = list(read_journal(folder / ROWS))
        summary = _summary(plan, rows)
        write_file(folder / SUMMARY, json.dumps(summary, indent=1, ensure_ascii=True) + "\n")
    return summary, rows


def _summary(plan: Plan, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"format": FORMAT, "version": 1, "spec": plan.spec, **summarise(rows)}

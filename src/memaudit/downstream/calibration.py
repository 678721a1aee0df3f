"""Whether the ratio predicts what is retrieved and answered: one point per store."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from memaudit.core.budgets import budget_cost, split_budgets
from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.number_text import rounded
from memaudit.core.package import Package
from memaudit.downstream.calibration_summary import summarise
from memaudit.downstream.cases import WRITTEN, candidate_store
from memaudit.downstream.chain import UnitChain
from memaudit.downstream.examine import QuestionResult, ReadingSetup, examine, reading_spec
from memaudit.io.atomic import write_file
from memaudit.io.journal import Journal, read_journal, rows_in_order, to_line
from memaudit.io.run_folder import ROWS, claimed_by_spec
from memaudit.scoring.score import Ratio, Scorer
from memaudit.writers.protocol import Writer
from memaudit.writers.run_writer import WriterRunner

SUMMARY = "summary.json"
FORMAT = "memaudit-calibration"

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class CalibrationPlan:
    """What is compared: sets of packages by name, budgets, writers, and how stores are read."""

    sets: dict[str, Sequence[Package]]
    budgets: str
    """Costs, or shares of what all candidates of a package cost."""
    writers: Sequence[Writer]
    setup: ReadingSetup
    seed: int = 0

    def __post_init__(self) -> None:
        if self.setup.asks_a_model:
            raise MemAuditError("a calibration reads thousands of stores; choose extractive")
        given = split_budgets(self.budgets)
        if not given or len(set(given)) < len(given):
            raise MemAuditError(f"cannot calibrate at budgets {self.budgets!r}; give each once")
        names = [writer.name for writer in self.writers]
        if len(set(names)) < len(names) or len(names) < 2:
            raise MemAuditError("a calibration compares two writers or more, each given once")
        if not self.cases:
            raise MemAuditError("no package has a question, so there is nothing to calibrate on")

    @property
    def cases(self) -> list[tuple[str, Package]]:
        """Every package that has questions, with the name of its set."""
        return [
            (name, package)
            for name, packages in self.sets.items()
            for package in packages
            if package.queries
        ]

    @property
    def spec(self) -> dict[str, Any]:
        """Everything that decides the points."""
        return {
            "packages": {f"{name}/{package.name}": digest(package) for name, package in self.cases},
            "budgets": list(split_budgets(self.budgets)),
            "writers": [writer.name for writer in self.writers],
            "peeking_writers": [writer.name for writer in self.writers if writer.peeks],
            "seed": self.seed,
            **reading_spec(self.setup),
        }

    @property
    def keys(self) -> list[tuple[str, str, str, str]]:
        """Set, package, budget and writer of every point, in order."""
        return [
            (name, package.name, budget, writer.name)
            for name, package in self.cases
            for budget in split_budgets(self.budgets)
            for writer in self.writers
        ]

    def points(self, existing: int = 0) -> Iterator[dict[str, Any]]:
        """The points after those that already exist."""
        per_package = len(split_budgets(self.budgets)) * len(self.writers)
        for set_name, package in self.cases:
            skip = min(existing, per_package)
            existing -= skip
            if skip < per_package:
                yield from self._package_points(set_name, package, skip)

    def _package_points(
        self, set_name: str, package: Package, skip: int
    ) -> Iterator[dict[str, Any]]:
        """The points of a package, by budget and writer, without the first `skip`."""
        runner = WriterRunner(package)
        scorer = Scorer(package, runner.oracle.form)
        total = package.total_cost(package.candidate)
        cells = [
            (given, budget_cost(given, total), writer)
            for given in split_budgets(self.budgets)
            for writer in self.writers
        ]
        for given, budget, writer in cells[skip:]:
            store = runner.written_by(writer, budget, self.seed)
            ratio = Ratio(scorer.worth(store).value, runner.oracle.optimum(budget))
            kept = candidate_store(package, writer.name, store, WRITTEN)
            results = examine(package, kept, self.setup)
            yield {
                "set": set_name,
                "package": package.name,
                "budget": given,
                "cost": plain(budget),
                "writer": writer.name,
                "peeks": writer.peeks,
                "ratio": rounded(ratio.value),
                "undefined": ratio.undefined,
                "questions": len(results),
                **_means(results),
            }


def calibrate(
    plan: CalibrationPlan, folder: Path | None = None, progress: Progress | None = None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The summary and the points. A folder keeps both, and a killed run resumes there."""
    if folder is None:
        rows = []
        for point in plan.points():
            rows.append(point)
            if progress:
                progress(len(rows))
        return _summary(plan, rows), rows
    with claimed_by_spec(folder, FORMAT, "calibration", plan.spec):
        keys = plan.keys
        fits = rows_in_order(("set", "package", "budget", "writer"), len(keys), keys.__getitem__)
        with Journal(folder / ROWS, fits) as file:
            for point in plan.points(file.rows):
                file.append([to_line(point)])
                if progress:
                    progress(file.rows)
        rows = list(read_journal(folder / ROWS))
        summary = _summary(plan, rows)
        write_file(folder / SUMMARY, json.dumps(summary, indent=1, ensure_ascii=True) + "\n")
    return summary, rows


def _summary(plan: CalibrationPlan, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"format": FORMAT, "version": 1, "spec": plan.spec, **summarise(rows)}


def _means(results: Sequence[QuestionResult]) -> dict[str, float | None]:
    """Means over the questions where a number is defined."""

    def mean_share(share: Callable[[UnitChain], Fraction]) -> float | None:
        shares = [
            sum(map(share, result.chains), Fraction(0)) / len(result.chains)
            for result in results
            if result.chains
        ]
        return _mean(shares)

    measured = ("evidence_recall", "answered", "right", "token_f1", "words_retrieved")
    return {
        "kept_coverage": mean_share(lambda chain: min(chain.kept / chain.needs, Fraction(1))),
        "kept_recall": mean_share(lambda chain: Fraction(chain.kept >= chain.needs)),
        **{
            name: _mean(
                [value for result in results if (value := result.measures[name]) is not None]
            )
            for name in measured
        },
    }


def _mean(values: Sequence[Fraction]) -> float | None:
    return rounded(sum(values, Fraction(0)) / len(values)) if values else None

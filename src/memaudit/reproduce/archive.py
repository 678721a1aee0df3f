"""The paper's natural results from its archive: optima, their sensitivity, and writers' ratios.

The paper's Estimated-GVT uses estimates that only its archive holds. Ours uses the cue prior, so
that line compares two writers and reproduces nothing. The rest follows from the packages.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from memaudit.core.package import Package
from memaudit.experiments.evaluate import EvaluatedPackage
from memaudit.reproduce.scoreboard import ScoreboardLine, compare, published
from memaudit.solvers.solve import PackageSolver
from memaudit.stats.bootstrap import mean_intervals, resample_counts
from memaudit.writers.registry import named_writer

WRITERS = ("gvt", "estimated_gvt", "recency_raw")


@dataclass(slots=True)
class ArchiveResults:
    """Per budget and metric, one number per example; NaN where it is undefined."""

    examples: int
    uncertified: int = 0
    numbers: dict[tuple[int, str], list[float]] = field(default_factory=dict)

    def add(self, budget: int, metric: str, value: Fraction | None) -> None:
        number = math.nan if value is None else float(value)
        self.numbers.setdefault((budget, metric), []).append(number)

    def mean(self, budget: int, metric: str) -> tuple[float, float, float] | None:
        """The mean over examples where it is defined, and its interval."""
        values = np.array(self.numbers.get((budget, metric), []))[:, None]
        if not len(values) or np.isnan(values).all():
            return None
        (interval,) = mean_intervals(values, resample_counts(len(values)))
        return interval.mean, interval.low, interval.high


def measure_archive(
    packages: Sequence[Package], progress: Callable[[int], None] | None = None
) -> ArchiveResults:
    """Recompute every number from the packages."""
    results = ArchiveResults(len(packages))
    budgets = [int(budget) for budget in published("natural")["budgets"]]
    for done, package in enumerate(packages, 1):
        _measure_package(results, package, budgets)
        if progress:
            progress(done)
    return results


def _measure_package(results: ArchiveResults, package: Package, budgets: Sequence[int]) -> None:
    subject = EvaluatedPackage(package)
    two, by_bytes = PackageSolver(package, 2), PackageSolver(package.recost("bytes"))
    for budget in budgets:
        amount = Fraction(budget)
        best = subject.oracle.optimum(amount)
        variants = {"opt": best, "opt_two": two.solve(budget), "opt_bytes": by_bytes.solve(budget)}
        for metric, optimum in variants.items():
            results.uncertified += not optimum.certified
            results.add(budget, metric, optimum.value if optimum.certified else None)
        base = best.value if best.certified and best.value else None
        pairs = {"two_over_one": variants["opt_two"], "bytes_over_default": variants["opt_bytes"]}
        for metric, optimum in pairs.items():
            results.add(budget, metric, optimum.value / base if base else None)
        for name in WRITERS:
            store = subject.written_by(named_writer(name), amount, 0)
            value = subject.scorer.worth(store).value
            results.add(budget, name, value / base if base else None)


def writer_rows(results: ArchiveResults) -> Iterator[tuple[str, int, float, float, float]]:
    """Our writers at the paper's budgets: mean ratio over examples and its interval."""
    for name in WRITERS:
        for budget in map(int, published("natural")["budgets"]):
            ours = results.mean(budget, name)
            if ours is not None:
                yield name, budget, *ours


def natural_lines(results: ArchiveResults) -> Iterator[ScoreboardLine]:
    """Published numbers beside ours."""
    for entry in published("natural")["numbers"]:
        metric, end = entry["metric"], 0
        for place, suffix in ((1, "_low"), (2, "_high")):
            if metric.endswith(suffix):
                metric, end = metric.removesuffix(suffix), place
        for budget, printed in entry["at"].items():
            ours = results.mean(int(budget), metric)
            number = None if ours is None else ours[end]
            yield compare("natural", f"{entry['what']}, B = {budget}", printed, number)

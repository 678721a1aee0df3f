"""The paper's natural results from its archive: optima, their sensitivity, and writers' ratios.

The paper's Estimated-GVT goes by estimates that only its archive holds; ours is the cue prior, so
that line compares two writers and reproduces nothing. The rest follows from the packages.
"""

import math
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.resources import files
from typing import Any

import numpy as np

from memaudit.core.package import Package
from memaudit.experiments.evaluate import Subject
from memaudit.reproduce.scoreboard import Line, compared
from memaudit.solvers.solve import PackageSolver
from memaudit.stats.intervals import draws, intervals
from memaudit.writers.registry import named_writer

WRITERS = ("gvt", "estimated_gvt", "recency_raw")


@dataclass(slots=True)
class Natural:
    """Per budget and metric, one number per example; NaN where it is undefined."""

    examples: int
    uncertified: int = 0
    numbers: dict[tuple[int, str], list[float]] = field(default_factory=dict)

    def add(self, budget: int, metric: str, value: Fraction | None) -> None:
        """Put down a number."""
        number = math.nan if value is None else float(value)
        self.numbers.setdefault((budget, metric), []).append(number)

    def mean(self, budget: int, metric: str) -> tuple[float, float, float] | None:
        """The mean over examples where it is defined, and its interval."""
        values = np.array(self.numbers.get((budget, metric), []))[:, None]
        if not len(values) or np.isnan(values).all():
            return None
        (found,) = intervals(values, draws(len(values)))
        return found.mean, found.low, found.high


def published() -> dict[str, Any]:
    """What the paper states."""
    text = files("memaudit.reproduce").joinpath("published_natural.toml").read_text("utf-8")
    return tomllib.loads(text)


def measure(packages: Sequence[Package], progress: Callable[[int], None] | None = None) -> Natural:
    """Every number again, from the packages."""
    found = Natural(len(packages))
    for done, package in enumerate(packages, 1):
        _one(found, package, [int(budget) for budget in published()["budgets"]])
        if progress:
            progress(done)
    return found


def _one(found: Natural, package: Package, budgets: Sequence[int]) -> None:
    subject = Subject(package)
    two, by_bytes = PackageSolver(package, 2), PackageSolver(package.recost("bytes"))
    for budget in budgets:
        amount = Fraction(budget)
        best = subject.oracle.optimum(amount)
        variants = {"opt": best, "opt_two": two.solve(budget), "opt_bytes": by_bytes.solve(budget)}
        for metric, optimum in variants.items():
            found.uncertified += not optimum.certified
            found.add(budget, metric, optimum.value if optimum.certified else None)
        base = best.value if best.certified and best.value else None
        pairs = {"two_over_one": variants["opt_two"], "bytes_over_default": variants["opt_bytes"]}
        for metric, optimum in pairs.items():
            found.add(budget, metric, optimum.value / base if base else None)
        for name in WRITERS:
            store = subject.written_by(named_writer(name), amount, 0)
            value = subject.scorer.score(store).value
            found.add(budget, name, value / base if base else None)


def writer_rows(found: Natural) -> Iterator[tuple[str, int, float, float, float]]:
    """Our writers at the paper's budgets: mean ratio over examples and its interval."""
    for name in WRITERS:
        for budget in map(int, published()["budgets"]):
            ours = found.mean(budget, name)
            if ours is not None:
                yield name, budget, *ours


def lines(found: Natural) -> Iterator[Line]:
    """Published numbers beside ours."""
    for entry in published()["numbers"]:
        metric, end = entry["metric"], 0
        for place, suffix in ((1, "_low"), (2, "_high")):
            if metric.endswith(suffix):
                metric, end = metric.removesuffix(suffix), place
        for budget, printed in entry["at"].items():
            ours = found.mean(int(budget), metric)
            number = None if ours is None else ours[end]
            yield compared("natural", f"{entry['what']}, B = {budget}", printed, number)

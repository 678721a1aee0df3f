"""Whether the ratio predicts what is retrieved and answered: one point per store.

Correlations come in three ways, with intervals over packages. Pooled: all points together. Packages
and budgets differ in how hard they are, which moves ratio and outcome together or apart whatever
writers do. Within: over the writers of one package and budget, then the mean of these. Of means:
every writer's mean ratio against its mean outcome, one point per writer.

Between ratio and outcome lie steps: what is kept counted alike for all questions, kept in full,
retrieved, answered. A pair disagrees at the first step that orders it the other way.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, permutations
from pathlib import Path
from typing import Any

import numpy as np

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.number_text import rounded
from memaudit.kernel.package.budgets import budget_cost, split_budgets
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.score import Ratio
from memaudit.kernel.score.store_value import StoreValuer
from memaudit.kernel.stats.bootstrap import Floats, Indices, mean_intervals, resample_counts
from memaudit.lab.downstream.ask_questions import (
    QuestionResult,
    ReadingSetup,
    examine,
    reading_spec,
)
from memaudit.lab.downstream.calibration_files import CALIBRATION_STEPS, PARTING_REASONS
from memaudit.lab.downstream.evidence_trace import UnitChain
from memaudit.lab.downstream.store_cases import WRITTEN, candidate_store
from memaudit.lab.studies.rank_correlation import (
    Correlation,
    correlation_interval,
    kendall,
    row_correlations,
    spearman,
)
from memaudit.lab.sweeps.writers.protocol import Writer, WriterRunner
from memaudit.workspace.journal import Journal, read_journal, rows_in_order, to_line
from memaudit.workspace.run_folder import ROWS, claimed_by_spec

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
            # Checked before anything is solved: a resumed run does not repeat finished packages.
            if skip < per_package:
                yield from self._package_points(set_name, package, skip)

    def _package_points(
        self, set_name: str, package: Package, skip: int
    ) -> Iterator[dict[str, Any]]:
        """The points of a package, by budget and writer, without the first `skip`."""
        runner = WriterRunner(package)
        scorer = StoreValuer(package, runner.oracle.form)
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


Point = dict[str, Any]

TARGETS = ("kept_recall", "evidence_recall", "answered", "right", "token_f1")
"""What the ratio is compared with."""

ALL = "all"
LISTED = ("evidence_recall", "answered")
"""Outcomes whose disagreements are listed."""

MOST = 10
"""Disagreements that are listed: the largest one of each of as many packages."""


def summarise(points: Sequence[Point]) -> dict[str, Any]:
    """Correlations of every set and of all sets, and where the orders disagree."""
    sets = list(dict.fromkeys(point["set"] for point in points))
    groups = {name: [point for point in points if point["set"] == name] for name in sets}
    if len(sets) > 1:
        groups[ALL] = list(points)
    return {
        "points": len(points),
        "undefined": sum(point["ratio"] is None for point in points),
        "sets": {name: len(_packages(group)) for name, group in groups.items()},
        "correlations": [
            row for name, group in groups.items() for row in _correlations(name, group)
        ],
        "partings": [disagreements(points, target) for target in LISTED],
    }


def _correlations(name: str, points: Sequence[Point]) -> list[dict[str, Any]]:
    packages = _packages(points)
    place = {package: at for at, package in enumerate(packages)}
    cluster = np.array([place[p["set"], p["package"]] for p in points])
    # Packages are drawn, not points: those of one package share its conversation.
    drawn = resample_counts(len(packages))
    ratio = _column(points, "ratio")
    rows = []
    for target in TARGETS:
        outcome = _column(points, target)
        defined = ~(np.isnan(ratio) | np.isnan(outcome))
        x, y, own = ratio[defined], outcome[defined], cluster[defined]
        chosen = [point for point, is_defined in zip(points, defined, strict=True) if is_defined]
        rows += [
            _row(name, target, "pooled", *_pooled(x, y, own, drawn)),
            _row(name, target, "within", *_within(chosen, x, y, own, drawn)),
            _row(name, target, "of means", *_of_means(chosen, x, y, own, drawn)),
        ]
    return rows


def _pooled(x: Floats, y: Floats, own: Indices, drawn: Floats) -> tuple[Correlation, Correlation]:
    rho = correlation_interval(spearman(x, y)[0], spearman(x, y, drawn[:, own]), len(x))
    return rho, correlation_interval(kendall(x, y)[0], kendall(x, y, own, drawn), len(x))


def _within(
    points: Sequence[Point], x: Floats, y: Floats, own: Indices, drawn: Floats
) -> tuple[Correlation, Correlation]:
    """Undefined where all writers of a cell have one ratio, or one outcome."""
    cells: dict[tuple[int, str], list[int]] = {}
    for at, point in enumerate(points):
        # `own` numbers packages over all sets: two sets may have packages of one name.
        cells.setdefault((int(own[at]), point["budget"]), []).append(at)
    values = np.array(
        [
            np.concatenate(row_correlations(x[places][None], y[places][None]))
            for places in cells.values()
        ]
    ).reshape(len(cells), 2)
    means = mean_intervals(values, drawn[:, [package for package, _ in cells]])
    rho, tau = (Correlation(mean.n, mean.mean, mean.low, mean.high) for mean in means)
    return rho, tau


def _of_means(
    points: Sequence[Point], x: Floats, y: Floats, own: Indices, drawn: Floats
) -> tuple[Correlation, Correlation]:
    writers = sorted({point["writer"] for point in points})
    at = {writer: place for place, writer in enumerate(writers)}
    column = np.array([at[point["writer"]] for point in points], np.int64)
    sums = np.zeros((3, drawn.shape[1], len(writers)))
    for row, values in enumerate((x, y, np.ones(len(x)))):
        # Sums by package and writer: every resample is then one matrix product.
        np.add.at(sums[row], (own, column), values)
    observed = row_correlations(*_weighted_means(np.ones((1, drawn.shape[1])), sums))
    # A resample without any package of some writer compares other writers: it is undefined.
    resampled = row_correlations(*_weighted_means(drawn, sums))
    rho, tau = (
        correlation_interval(value[0], others, len(writers))
        for value, others in zip(observed, resampled, strict=True)
    )
    return rho, tau


def _weighted_means(drawn: Floats, sums: Floats) -> tuple[Floats, Floats]:
    """Every writer's mean ratio and outcome in every resample."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return (drawn @ sums[0]) / (drawn @ sums[2]), (drawn @ sums[1]) / (drawn @ sums[2])


def _row(name: str, target: str, how: str, rho: Correlation, tau: Correlation) -> dict[str, Any]:
    return {
        "set": name,
        "target": target,
        "how": how,
        "n": rho.n,
        "spearman": _numbers(rho),
        "kendall": _numbers(tau),
    }


def _numbers(correlation: Correlation) -> dict[str, float | None]:
    named = {"value": correlation.value, "ci_low": correlation.low, "ci_high": correlation.high}
    return {name: rounded(number) for name, number in named.items()}


def _packages(points: Sequence[Point]) -> list[tuple[str, str]]:
    """Set and name of every package, in order."""
    return list(dict.fromkeys((point["set"], point["package"]) for point in points))


def _column(points: Sequence[Point], name: str) -> Floats:
    return np.array([math.nan if p[name] is None else p[name] for p in points], np.float64)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One pair: `first` has the higher ratio, `second` the better outcome."""

    first: Point
    second: Point
    target: str
    step: str

    @property
    def size(self) -> float:
        """The product of both differences."""
        ratio = self.first["ratio"] - self.second["ratio"]
        return float(ratio * (self.second[self.target] - self.first[self.target]))

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "step": self.step,
            "why": PARTING_REASONS[self.step],
            **{name: self.first[name] for name in ("set", "package", "budget")},
            "first": _steps(self.first),
            "second": _steps(self.second),
        }


def disagreements(points: Sequence[Point], target: str) -> dict[str, Any]:
    """How many pairs agree, are tied, or disagree by reason, and the largest disagreements."""
    apart: list[Disagreement] = []
    agree = tied = 0
    for first, second in _pairs(points, target):
        difference = first[target] - second[target]
        # `_pairs` gives the one with the higher ratio first, so the sign alone decides.
        if difference > 0:
            agree += 1
        elif difference == 0:
            tied += 1
        else:
            apart.append(Disagreement(first, second, target, _step(first, second, target)))
    counts = Counter(pair.step for pair in apart)
    largest = sorted(apart, key=lambda pair: (-pair.size, _name(pair.first), _name(pair.second)))
    by_package: dict[tuple[str, str], Disagreement] = {}
    for pair in largest:
        by_package.setdefault((pair.first["set"], pair.first["package"]), pair)
    return {
        "target": target,
        "agree": agree,
        "tied": tied,
        "apart": {step: counts[step] for step in PARTING_REASONS if counts[step]},
        "largest": [pair.to_json() for pair in list(by_package.values())[:MOST]],
    }


def _pairs(points: Sequence[Point], target: str) -> Iterator[tuple[Point, Point]]:
    """Writers of the same package and budget, the one with the strictly higher ratio first."""

    def cell(point: Point) -> tuple[str, str, str]:
        return point["set"], point["package"], point["budget"]

    defined = [p for p in points if p["ratio"] is not None and p[target] is not None]
    for _, group in groupby(sorted(defined, key=cell), key=cell):
        for first, second in permutations(group, 2):
            if first["ratio"] > second["ratio"]:
                yield first, second


def _step(first: Point, second: Point, target: str) -> str:
    """The first step in the other order, up to the target."""
    for name in list(CALIBRATION_STEPS)[1:]:
        if first[name] is not None and second[name] is not None and first[name] < second[name]:
            return name
        if name == target:
            break
    return "answered"  # the words of the answers differ, whatever is counted as answered


def _steps(point: Point) -> dict[str, Any]:
    return {"writer": point["writer"], **{name: point[name] for name in CALIBRATION_STEPS}}


def _name(point: Point) -> tuple[str, str, str, str]:
    return point["set"], point["package"], point["budget"], point["writer"]

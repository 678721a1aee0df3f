"""The audit of ratios: stores fixed once, then scored under every label set and every draw.

Under other labels a package has other certified optima, and its stores other values and ratios.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memaudit.building.label_passes import CellKey
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.score import Ratio
from memaudit.kernel.solvers.solve import PackageSolver
from memaudit.lab.labels.audited_package import (
    AuditedPackage,
    CellLabels,
    FixedStores,
    StoreKey,
    StoreTask,
    changes,
    check_distinct_names,
    fixed_stores,
    own_values,
    relabelled,
    store_names,
)
from memaudit.lab.labels.frame import PACKAGE, Frame
from memaudit.lab.labels.label_samples import LabelSamples, label_samples
from memaudit.lab.labels.label_sources import (
    LabelSource,
    check_sources,
    consensus_source,
    package_source,
)
from memaudit.workspace.task_journal import Result, TaskRunner
from memaudit.workspace.typed_json import data_digest

Relabelling = tuple[tuple[CellKey, Fraction], ...]
"""Cells whose labels differ from the package's, in order; identifies a labelling."""

LABELLINGS_PER_TASK = 8
"""Few enough to keep all cores busy with one package."""


@dataclass(frozen=True, slots=True)
class RelabelTask:
    """A package, its stores, and the labellings to score them under."""

    package: Package
    fixed: FixedStores
    budgets: tuple[Fraction, ...]
    labellings: tuple[Relabelling, ...]
    by: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class OptimumSummary:
    """An optimum without its proof; if it is certified, no store is worth more than `highest`.

    `undefined` says why it gives no ratios.
    """

    value: Fraction
    highest: Fraction
    certified: bool
    undefined: str
    store: tuple[str, ...]
    assumed: Fraction = Fraction(0)
    """The share of the value that rests on assumed cells."""


@dataclass(frozen=True, slots=True)
class RelabelledScores:
    """Every store under one labelling; a ratio is None where it is undefined."""

    digest: str
    optima: Mapping[Fraction, OptimumSummary]
    values: Mapping[StoreKey, Fraction]
    ratios: Mapping[StoreKey, Fraction | None]


def relabel_tasks(
    package: Package,
    fixed: FixedStores,
    budgets: tuple[Fraction, ...],
    labellings: Sequence[Relabelling],
    by: str,
    seconds: float | None = None,
) -> list[RelabelTask]:
    """The labellings, a few per task."""
    size = LABELLINGS_PER_TASK
    return [
        RelabelTask(package, fixed, budgets, tuple(labellings[at : at + size]), by, seconds)
        for at in range(0, len(labellings), size)
    ]


def score_labellings(task: RelabelTask) -> list[RelabelledScores]:
    """The scores under each labelling, in their order."""
    return [_scores(task, labelling) for labelling in task.labellings]


def _scores(task: RelabelTask, labelling: Relabelling) -> RelabelledScores:
    # One solver for all budgets: the form and its bounds are the same.
    scorer = RelabelledScorer(relabelled(task.package, dict(labelling), task.by), task.seconds)
    ratios = {at: scorer.ratio(store, at[1]) for at, store in task.fixed.stores.items()}
    return RelabelledScores(
        scorer.digest,
        {budget: scorer.summary(budget) for budget in task.budgets},
        {at: ratio.numerator for at, ratio in ratios.items()},
        {at: ratio.value for at, ratio in ratios.items()},
    )


class RelabelledScorer:
    """Scores stores of one package; every budget is solved once."""

    def __init__(self, package: Package, seconds: float | None = None) -> None:
        self.package, self.seconds = package, seconds
        self._solver = PackageSolver(package)
        self._place = {id: u for u, id in enumerate(self._solver.form.candidate_ids)}
        self._optima: dict[Fraction, Optimum] = {}

    @property
    def digest(self) -> str:
        """The digest of the package under these labels."""
        return self._solver.checker.digest

    def optimum(self, budget: Fraction) -> Optimum:
        """The best store at a budget."""
        if budget not in self._optima:
            self._optima[budget] = self._solver.solve(budget, seconds=self.seconds)
        return self._optima[budget]

    def summary(self, budget: Fraction) -> OptimumSummary:
        """The optimum without its proof."""
        best = self.optimum(budget)
        # Where the response is irrational, a value is an interval, and its upper end bounds every
        # store.
        highest = best.value if best.value_high is None else best.value_high
        undefined = Ratio(best.value, best).undefined
        return OptimumSummary(
            best.value, highest, best.certified, undefined, best.store, best.assumed
        )

    def ratio(self, store: Sequence[str], budget: Fraction) -> Ratio:
        """The store's value, rounded down where h is irrational, over the optimum."""
        form = self._solver.form
        value = form.low([self._place[id] for id in store])
        return Ratio(Fraction(value, form.value_scale), self.optimum(budget))


STORES, LABELS, DRAWS = "stores", "label sets", "draws"
"""The steps, in order."""

DEFAULT_DRAWS = 100
"""Enough for the middle 95 % of the draws."""

Progress = Callable[[str, int, int], None]
"""Called with a step, how much of it is done, and the total."""


@dataclass(frozen=True, slots=True)
class RatioAuditSpec:
    """What to score, under which labels, and how many draws of labels.

    `frame` is the one that the label sets are about, if any: with its key, the cells that it stands
    for are in doubt too.
    """

    packages: tuple[AuditedPackage, ...]
    sources: tuple[LabelSource, ...]
    budgets: tuple[Fraction, ...]
    writers: tuple[str, ...]
    draws: int = DEFAULT_DRAWS
    seed: int = 0
    seconds: float | None = None
    frame: Frame | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that decides the results, for a journal of them."""
        return {
            "packages": [digest(audited.package) for audited in self.packages],
            "stores": [digest(audited.scored) for audited in self.packages if audited.stores],
            "labels": data_digest(self.sources),
            "budgets": [str(budget) for budget in self.budgets],
            "writers": self.writers,
            "draws": self.draws,
            "seed": self.seed,
            "seconds": self.seconds,
            "frame": None if self.frame is None else data_digest(self.frame),
        }


@dataclass(frozen=True, slots=True)
class RatioAudit:
    """All measurements. Lists by package are in the order of the spec.

    `sources` includes the consensus if there are several annotators. `scores` and `relabellings`
    are by label set, the package's own labels first.
    """

    spec: RatioAuditSpec
    store_names: tuple[str, ...]
    sources: tuple[LabelSource, ...]
    own: LabelSource
    fixed: list[FixedStores]
    scores: Mapping[str, list[RelabelledScores]]
    relabellings: Mapping[str, list[Relabelling]]
    contradicting: int
    label_samples: LabelSamples
    drawn_scores: list[list[RelabelledScores]]


def audit_ratios(spec: RatioAuditSpec, run: TaskRunner, progress: Progress) -> RatioAudit:
    """Measure everything that the tables show."""
    if not spec.packages:
        raise MemAuditError("no packages to audit")
    if spec.draws < 0:
        raise MemAuditError("draws must be at least 0")
    check_distinct_names(spec.packages)
    check_sources(spec.sources)
    own = package_source(spec.packages, spec.sources)
    consensus = consensus_source(spec.sources)
    sources = (*spec.sources, *([consensus] if consensus is not None else []))
    draws = label_samples(spec.packages, spec.sources, own, spec.frame)
    names = store_names(spec.packages, spec.writers)
    auditor = _Auditor(spec, run, progress)
    fixed = auditor.fix_stores()

    # The empty relabelling is the package itself, scored like any other.
    relabellings: dict[str, list[Relabelling]] = {PACKAGE: [() for _ in spec.packages]}
    contradicting = 0
    for source in sources:
        spreads = [audited.spread(source.labels.get(audited.name, {})) for audited in spec.packages]
        contradicting += sum(spread.contradicting for spread in spreads)
        relabellings[source.name] = [
            auditor.relabelling(place, spread.labels) for place, spread in enumerate(spreads)
        ]

    auditor.score(relabellings.values(), LABELS)
    return RatioAudit(
        spec=spec,
        store_names=names,
        sources=sources,
        own=own,
        fixed=fixed,
        scores={name: auditor.scores(by_package) for name, by_package in relabellings.items()},
        relabellings=relabellings,
        contradicting=contradicting,
        label_samples=draws,
        drawn_scores=auditor.drawn(draws),
    )


class _Auditor:
    """Runs the steps. Lists are by package; a labelling is scored once."""

    def __init__(self, spec: RatioAuditSpec, run: TaskRunner, progress: Progress) -> None:
        self.spec, self.run, self.progress = spec, run, progress
        self.values = [own_values(audited.scored) for audited in spec.packages]
        self.fixed: list[FixedStores] = []
        self.scored: list[dict[Relabelling, RelabelledScores]] = [{} for _ in spec.packages]

    def fix_stores(self) -> list[FixedStores]:
        """The stores that are scored, the same under every label set."""
        spec = self.spec
        tasks = [
            StoreTask(audited, spec.writers, spec.budgets, spec.seed, spec.seconds)
            for audited in spec.packages
        ]
        self.fixed = self._counted(self.run(fixed_stores, tasks), STORES, len(tasks))
        return self.fixed

    def relabelling(self, place: int, labels: CellLabels) -> Relabelling:
        """The labels that differ from the package's own."""
        return tuple(changes(self.values[place], labels).items())

    def score(self, wanted: Collection[Sequence[Relabelling]], step: str) -> None:
        """Score every labelling (by label set or draw, then by package) that is not scored yet."""
        # Draws often repeat a labelling, and label sets often agree on a package. Each is solved
        # once.
        by_package = zip(*wanted, strict=True)
        work = [
            (place, task)
            for place, (audited, labellings) in enumerate(
                zip(self.spec.packages, by_package, strict=False)
            )
            for task in relabel_tasks(
                audited.scored,
                self.fixed[place],
                self.spec.budgets,
                [new for new in dict.fromkeys(labellings) if new not in self.scored[place]],
                step,
                self.spec.seconds,
            )
        ]
        done, total = 0, sum(len(task.labellings) for _, task in work)
        self.progress(step, 0, total)
        # Results come in the order of tasks, so a journal that has some of them can be resumed.
        results = self.run(score_labellings, [task for _, task in work])
        for (place, task), result in zip(work, results, strict=True):
            self.scored[place].update(zip(task.labellings, result, strict=True))
            done += len(result)
            self.progress(step, done, total)

    def scores(self, labellings: Sequence[Relabelling]) -> list[RelabelledScores]:
        """The scores of one labelling per package."""
        return [self.scored[place][labelling] for place, labelling in enumerate(labellings)]

    def drawn(self, draws: LabelSamples) -> list[list[RelabelledScores]]:
        """Every draw of labels for every package."""
        drawn = [
            [
                self.relabelling(
                    place, audited.spread(draws.labels(place, self.spec.seed, draw)).labels
                )
                for place, audited in enumerate(self.spec.packages)
            ]
            for draw in range(self.spec.draws)
        ]
        self.score(drawn, DRAWS)
        return [self.scores(labellings) for labellings in drawn]

    def _counted(self, results: Iterator[Result], step: str, total: int) -> list[Result]:
        self.progress(step, 0, total)
        finished = []
        for result in results:
            finished.append(result)
            self.progress(step, len(finished), total)
        return finished

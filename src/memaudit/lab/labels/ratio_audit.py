"""The audit of ratios: what writers keep is fixed once, then scored under every label set.

Writers see the package as it is; references that look at its hidden side see its own labels. Under
other labels a package has another certified optimum, and what was written other values and ratios.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memaudit.building.label_passes import CellKey
from memaudit.kernel.errors import MemAuditError, MissingTool
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.score import Ratio
from memaudit.kernel.solvers.solve import PackageSolver
from memaudit.lab.labels.frame import PACKAGE
from memaudit.lab.labels.label_sources import LabelSource, check_sources, consensus_source
from memaudit.lab.labels.relabelling import changes, own_values, relabelled
from memaudit.lab.sweeps.writers.protocol import WriterRunner
from memaudit.lab.sweeps.writers.registry import WRITERS, named_writer
from memaudit.workspace.task_journal import TaskRunner
from memaudit.workspace.typed_json import data_digest

NEED_EXTRA = ("estimated_gvt_embedding", "estimated_greedy_embedding")
"""Writers that need an optional dependency: they run only if asked for by name."""

DEFAULT_WRITERS = (
    "gvt",
    *(
        writer.name
        for writer in WRITERS.values()
        if not writer.peeks and writer.name not in NEED_EXTRA
    ),
)
"""The reference and every writer that could be deployed."""

BY = "label sets"
"""The end of the provenance of changed cells."""

StoreKey = tuple[str, Fraction]
"""The name of a writer, and the budget."""

Relabelling = tuple[tuple[CellKey, Fraction], ...]
"""Cells whose labels differ from the package's, in order; identifies a labelling."""


@dataclass(frozen=True, slots=True)
class PackageTask:
    """One package, the writers to run on it, and the labels to score them under, by label set."""

    package: Package
    writers: tuple[str, ...]
    budgets: tuple[Fraction, ...]
    relabellings: Mapping[str, Relabelling]
    seed: int
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class OptimumSummary:
    """An optimum without its proof; `undefined` says why it gives no ratios."""

    value: Fraction
    certified: bool
    undefined: str
    assumed: Fraction
    """The share of the value that rests on assumed cells."""


@dataclass(frozen=True, slots=True)
class RelabelledScores:
    """Every store under one labelling; a ratio is None where it is undefined."""

    digest: str
    optima: Mapping[Fraction, OptimumSummary]
    values: Mapping[StoreKey, Fraction]
    ratios: Mapping[StoreKey, Fraction | None]


@dataclass(frozen=True, slots=True)
class PackageScores:
    """What writers kept of a package, or why they failed, and its scores by label set."""

    stores: Mapping[StoreKey, tuple[str, ...]]
    failed: Mapping[StoreKey, str]
    scores: Mapping[str, RelabelledScores]


def score_label_sets(task: PackageTask) -> PackageScores:
    """Run the writers once, and score what they keep under every label set."""
    stores: dict[StoreKey, tuple[str, ...]] = {}
    failed: dict[StoreKey, str] = {}
    runner = WriterRunner(task.package, task.seconds)
    for budget in task.budgets:
        for name in task.writers:
            try:
                stores[name, budget] = runner.written_by(named_writer(name), budget, task.seed)
            # What is not installed stops the audit. A writer that fails on one package does not:
            # its store is missing and counted.
            except MissingTool:
                raise
            except MemAuditError as error:
                failed[name, budget] = str(error)
    # Label sets often agree on a package. Each labelling is solved once.
    scored = {
        labelling: _scores(task, labelling, stores)
        for labelling in dict.fromkeys(task.relabellings.values())
    }
    scores = {name: scored[labelling] for name, labelling in task.relabellings.items()}
    return PackageScores(stores, failed, scores)


def _scores(
    task: PackageTask, labelling: Relabelling, stores: Mapping[StoreKey, Sequence[str]]
) -> RelabelledScores:
    # One solver for all budgets: the form and its bounds are the same.
    solver = PackageSolver(relabelled(task.package, dict(labelling), BY))
    form = solver.form
    place = {id: u for u, id in enumerate(form.candidate_ids)}
    best = {budget: solver.solve(budget, seconds=task.seconds) for budget in task.budgets}
    # A value is rounded down where h is irrational.
    values = {
        at: Fraction(form.low([place[id] for id in store]), form.value_scale)
        for at, store in stores.items()
    }
    return RelabelledScores(
        solver.checker.digest,
        {
            budget: OptimumSummary(
                optimum.value,
                optimum.certified,
                Ratio(optimum.value, optimum).undefined,
                optimum.assumed,
            )
            for budget, optimum in best.items()
        },
        values,
        {at: Ratio(value, best[at[1]]).value for at, value in values.items()},
    )


@dataclass(frozen=True, slots=True)
class RatioAuditSpec:
    """What to score, and under which labels."""

    packages: tuple[Package, ...]
    sources: tuple[LabelSource, ...]
    budgets: tuple[Fraction, ...]
    writers: tuple[str, ...]
    seed: int = 0
    seconds: float | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that decides the results, for a journal of them."""
        return {
            "packages": [digest(package) for package in self.packages],
            "labels": data_digest(self.sources),
            "budgets": [str(budget) for budget in self.budgets],
            "writers": self.writers,
            "seed": self.seed,
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True)
class RatioAudit:
    """All measurements, package by package in the order of the spec.

    `sources` includes the consensus if there are several annotators. Scores are by label set, the
    package's own labels first.
    """

    spec: RatioAuditSpec
    sources: tuple[LabelSource, ...]
    packages: tuple[PackageScores, ...]

    @property
    def label_sets(self) -> tuple[str, ...]:
        """The names of the label sets, the package's own first."""
        return (PACKAGE, *(source.name for source in self.sources))


def audit_ratios(
    spec: RatioAuditSpec, run: TaskRunner, progress: Callable[[int], None] = lambda _: None
) -> RatioAudit:
    """Score everything; `progress` is called with the number of packages done."""
    if not spec.packages:
        raise MemAuditError("no packages to audit")
    names = Counter(package.name for package in spec.packages)
    if twice := sorted(name for name, number in names.items() if number > 1):
        raise MemAuditError(
            f"two packages are called {twice[0]!r}, and labels identify packages by name; give "
            "each once"
        )
    check_sources(spec.sources)
    consensus = consensus_source(spec.sources)
    sources = (*spec.sources, *([consensus] if consensus is not None else []))
    tasks = []
    for package in spec.packages:
        own = own_values(package)
        # The empty relabelling is the package itself, scored like any other.
        relabellings: dict[str, Relabelling] = {PACKAGE: ()}
        for source in sources:
            labels = source.labels.get(package.name, {})
            relabellings[source.name] = tuple(changes(own, labels).items())
        tasks.append(
            PackageTask(package, spec.writers, spec.budgets, relabellings, spec.seed, spec.seconds)
        )
    measured = []
    for scores in run(score_label_sets, tasks):
        measured.append(scores)
        progress(len(measured))
    return RatioAudit(spec, sources, tuple(measured))

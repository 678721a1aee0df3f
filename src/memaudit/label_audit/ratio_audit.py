"""The audit of ratios: stores fixed once, then scored under every label set, draw and bound.

The steps are those of `audit_ratios`: stores, label sets, bounds (with the effect of single units),
and draws of labels.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.io.task_journal import Result, TaskRunner
from memaudit.io.typed_json import data_digest
from memaudit.label_audit.audited_package import (
    NOT_COVERED,
    AuditedPackage,
    CellLabels,
    changes,
    check_distinct_names,
    own_values,
)
from memaudit.label_audit.fixed_stores import (
    FixedStores,
    StoreKey,
    StoreTask,
    fixed_stores,
    store_names,
)
from memaudit.label_audit.frame import PACKAGE, Frame
from memaudit.label_audit.label_draws import Confusion, LabelDraws, label_draws
from memaudit.label_audit.label_sources import (
    LabelSource,
    check_sources,
    consensus_source,
    package_source,
)
from memaudit.label_audit.ratio_bounds import (
    BoundsResult,
    BoundsTask,
    LabelBox,
    RatioBounds,
    bounds_of_package,
    label_box,
)
from memaudit.label_audit.relabelled_optima import (
    RelabelledScores,
    Relabelling,
    relabel_tasks,
    score_labellings,
)
from memaudit.natural.label_passes import CellKey

STORES, LABELS, BOUNDS, DRAWS = "stores", "label sets", "bounds", "draws"
"""The steps, in order."""

DEFAULT_DRAWS = 100
"""Enough for the middle 95 % of the draws."""

Progress = Callable[[str, int, int], None]
"""Called with a step, how much of it is done, and the total."""


@dataclass(frozen=True, slots=True)
class RatioAuditSpec:
    """What to score, under which labels, and how many draws of labels from which confusion.

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
    confusion: Confusion = "package"

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
            "confusion": self.confusion,
        }


@dataclass(frozen=True, slots=True)
class UnitEffect:
    """What one unit's changed labels do alone: means over stores and budgets with defined ratios.

    F is a sum over units, so what a unit does to the value of a store is exact and adds up. What it
    does to OPT is solved anew; effects of several units on OPT need not add up.

    `size` is the mean absolute change of the ratio, and orders units. `lost` counts stores and
    budgets without a ratio before or after.
    """

    package: str
    unit: str
    text: str
    cells: tuple[tuple[CellKey, Fraction, Fraction], ...]
    value: Fraction
    optimum: Fraction
    optima: Mapping[Fraction, Fraction]
    ratio: Fraction
    size: Fraction
    lost: int


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
    effects: Mapping[str, list[UnitEffect]]
    label_draws: LabelDraws
    drawn_scores: list[list[RelabelledScores]]
    boxes: list[LabelBox]
    bounds: list[Mapping[StoreKey, RatioBounds | str]]


def audit_ratios(spec: RatioAuditSpec, run: TaskRunner, progress: Progress) -> RatioAudit:
    """Measure everything that the tables show."""
    if not spec.packages:
        raise MemAuditError("no packages to audit")
    if spec.draws < 0:
        raise MemAuditError("--draws must be at least 0")
    check_distinct_names(spec.packages)
    check_sources(spec.sources)
    own = package_source(spec.packages, spec.sources)
    consensus = consensus_source(spec.sources)
    sources = (*spec.sources, *([consensus] if consensus is not None else []))
    draws = label_draws(spec.packages, spec.sources, own, spec.frame, spec.confusion)
    names = store_names(spec.packages, spec.writers)
    auditor = _Auditor(spec, run, progress)
    fixed = auditor.fix_stores()

    relabellings: dict[str, list[Relabelling]] = {PACKAGE: [() for _ in spec.packages]}
    contradicting = 0
    labels_by_package: list[list[CellLabels]] = [[] for _ in spec.packages]
    for source in sources:
        spreads = [audited.spread(source.labels.get(audited.name, {})) for audited in spec.packages]
        contradicting += sum(spread.contradicting for spread in spreads)
        for labels, spread in zip(labels_by_package, spreads, strict=True):
            labels.append(spread.labels)
        relabellings[source.name] = [
            auditor.relabelling(place, spread.labels) for place, spread in enumerate(spreads)
        ]
    boxes = [label_box(*both) for both in zip(labels_by_package, auditor.values, strict=True)]

    auditor.score(relabellings.values(), LABELS)
    bounds = auditor.bounds(boxes, relabellings.values())
    return RatioAudit(
        spec=spec,
        store_names=names,
        sources=sources,
        own=own,
        fixed=fixed,
        scores={name: auditor.scores(by_package) for name, by_package in relabellings.items()},
        relabellings=relabellings,
        contradicting=contradicting,
        effects={
            source.name: auditor.unit_effects(relabellings[source.name], bounds)
            for source in sources
        },
        label_draws=draws,
        drawn_scores=auditor.drawn(draws),
        boxes=boxes,
        bounds=[result.bounds for result in bounds],
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
        results = self.run(score_labellings, [task for _, task in work])
        for (place, task), result in zip(work, results, strict=True):
            self.scored[place].update(zip(task.labellings, result, strict=True))
            done += len(result)
            self.progress(step, done, total)

    def scores(self, labellings: Sequence[Relabelling]) -> list[RelabelledScores]:
        """The scores of one labelling per package."""
        return [self.scored[place][labelling] for place, labelling in enumerate(labellings)]

    def bounds(
        self, boxes: Sequence[LabelBox], relabellings: Collection[Sequence[Relabelling]]
    ) -> list[BoundsResult]:
        """Bounds, and scores under the labels of single units, of every package."""
        tasks = []
        for place, audited in enumerate(self.spec.packages):
            units = dict.fromkeys(
                labelling
                for by_package in relabellings
                for labelling in by_unit(audited.scored, by_package[place]).values()
            )
            tasks.append(
                BoundsTask(
                    audited.scored,
                    boxes[place],
                    self.fixed[place],
                    self.spec.budgets,
                    tuple(self.scored[place].items()),
                    tuple(units),
                    self.spec.seconds,
                )
            )
        return self._counted(self.run(bounds_of_package, tasks), BOUNDS, len(tasks))

    def drawn(self, draws: LabelDraws) -> list[list[RelabelledScores]]:
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

    def unit_effects(
        self, labellings: Sequence[Relabelling], bounds: Sequence[BoundsResult]
    ) -> list[UnitEffect]:
        """The units of a label set: those that move ratios most, then OPT, then values."""
        effects = [
            unit_effect(
                audited,
                self.values[place],
                unit,
                labelling,
                self.scored[place][()],
                bounds[place].units[labelling],
            )
            for place, audited in enumerate(self.spec.packages)
            for unit, labelling in by_unit(audited.scored, labellings[place]).items()
        ]
        return sorted(
            effects,
            key=lambda effect: (
                -effect.size,
                -abs(effect.optimum),
                -abs(effect.value),
                effect.package,
                effect.unit,
            ),
        )

    def _counted(self, results: Iterator[Result], step: str, total: int) -> list[Result]:
        self.progress(step, 0, total)
        finished = []
        for result in results:
            finished.append(result)
            self.progress(step, len(finished), total)
        return finished


def by_unit(package: Package, labelling: Relabelling) -> dict[str, Relabelling]:
    """A labelling unit by unit; units without weight move nothing and are left out."""
    cells: dict[str, list[tuple[CellKey, Fraction]]] = defaultdict(list)
    for at, value in labelling:
        if package.weights[at[1]]:
            cells[at[1]].append((at, value))
    return {unit: tuple(own) for unit, own in sorted(cells.items())}


def unit_effect(
    audited: AuditedPackage,
    own: CellLabels,
    unit: str,
    labelling: Relabelling,
    before: RelabelledScores,
    after: RelabelledScores,
) -> UnitEffect:
    """The effect of one unit's labels."""
    shifts = [
        new - old
        for at, new in after.ratios.items()
        if new is not None and (old := before.ratios[at]) is not None
    ]
    optima = {
        budget: best.highest - before.optima[budget].highest
        for budget, best in after.optima.items()
        if best.certified and before.optima[budget].certified
    }
    (text,) = (known.text for known in audited.package.units if known.id == unit)
    return UnitEffect(
        package=audited.name,
        unit=unit,
        text=text,
        cells=tuple((at, own.get(at, NOT_COVERED), value) for at, value in labelling),
        value=_mean([new - before.values[at] for at, new in after.values.items()]),
        optimum=_mean(list(optima.values())),
        optima=optima,
        ratio=_mean(shifts),
        size=_mean([abs(shift) for shift in shifts]),
        lost=len(after.ratios) - len(shifts),
    )


def _mean(numbers: Sequence[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0)) / len(numbers) if numbers else Fraction(0)

"""The audit of ratios: stores fixed once, then scored under every label set, draw and bound.

The steps are those of `audit_ratios`: stores, label sets, bounds (with the effect of single units),
and draws of labels.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeVar

from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
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

Task = TypeVar("Task")
Result = TypeVar("Result")

Progress = Callable[[str, int, int], None]
"""Called with a step, how much of it is done, and the total."""


class TaskRunner(Protocol):
    """Runs a function over tasks, in parallel or not; results come in the order of the tasks."""

    def __call__(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], /
    ) -> Iterator[Result]: ...


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
    _check(spec)
    packages = spec.packages
    own = package_source(packages, spec.sources)
    consensus = consensus_source(spec.sources)
    sources = (*spec.sources, *([consensus] if consensus is not None else []))
    draws = label_draws(packages, spec.sources, own, spec.frame, spec.confusion)
    names = store_names(packages, spec.writers)
    fixed = _fixed_stores(spec, run, progress)

    relabellings: dict[str, list[Relabelling]] = {PACKAGE: [() for _ in packages]}
    contradicting = 0
    labels_by_package: list[list[CellLabels]] = [[] for _ in packages]
    values = [own_values(audited.scored) for audited in packages]
    for source in sources:
        relabellings[source.name] = []
        for place, audited in enumerate(packages):
            spread = audited.spread(source.labels.get(audited.name, {}))
            contradicting += spread.contradicting
            labels_by_package[place].append(spread.labels)
            changed = changes(values[place], spread.labels)
            relabellings[source.name].append(tuple(changed.items()))
    boxes = [label_box(*both) for both in zip(labels_by_package, values, strict=True)]

    wanted = [
        _distinct(by_package[place] for by_package in relabellings.values())
        for place in range(len(packages))
    ]
    scored = _scored(spec, fixed, wanted, run, progress, LABELS)
    bounds = _bounds(spec, boxes, fixed, scored, relabellings, run, progress)
    return RatioAudit(
        spec=spec,
        store_names=names,
        sources=sources,
        own=own,
        fixed=fixed,
        scores={
            name: [scored[place][labelling] for place, labelling in enumerate(by_package)]
            for name, by_package in relabellings.items()
        },
        relabellings=relabellings,
        contradicting=contradicting,
        effects={
            source.name: _unit_effects(spec, values, relabellings[source.name], scored, bounds)
            for source in sources
        },
        label_draws=draws,
        drawn_scores=_drawn(spec, draws, fixed, values, scored, run, progress),
        boxes=boxes,
        bounds=[result.bounds for result in bounds],
    )


def _check(spec: RatioAuditSpec) -> None:
    if not spec.packages:
        raise MemAuditError("no packages to audit")
    if spec.draws < 0:
        raise MemAuditError("--draws must be at least 0")
    check_distinct_names(spec.packages)
    check_sources(spec.sources)


def _fixed_stores(spec: RatioAuditSpec, run: TaskRunner, progress: Progress) -> list[FixedStores]:
    tasks = [
        StoreTask(audited, spec.writers, spec.budgets, spec.seed, spec.seconds)
        for audited in spec.packages
    ]
    return list(_counted(run(fixed_stores, tasks), STORES, len(tasks), progress))


def _scored(
    spec: RatioAuditSpec,
    fixed: Sequence[FixedStores],
    wanted: Sequence[Sequence[Relabelling]],
    run: TaskRunner,
    progress: Progress,
    step: str,
) -> list[dict[Relabelling, RelabelledScores]]:
    """The scores under every wanted labelling of every package."""
    work = [
        (place, task)
        for place, audited in enumerate(spec.packages)
        for task in relabel_tasks(
            audited.scored, fixed[place], spec.budgets, wanted[place], step, spec.seconds
        )
    ]
    scored: list[dict[Relabelling, RelabelledScores]] = [{} for _ in spec.packages]
    done, total = 0, sum(len(task.labellings) for _, task in work)
    progress(step, 0, total)
    results = run(score_labellings, [task for _, task in work])
    for (place, task), result in zip(work, results, strict=True):
        scored[place].update(zip(task.labellings, result, strict=True))
        done += len(result)
        progress(step, done, total)
    return scored


def _bounds(
    spec: RatioAuditSpec,
    boxes: Sequence[LabelBox],
    fixed: Sequence[FixedStores],
    scored: Sequence[Mapping[Relabelling, RelabelledScores]],
    relabellings: Mapping[str, Sequence[Relabelling]],
    run: TaskRunner,
    progress: Progress,
) -> list[BoundsResult]:
    """Bounds, and scores under the labels of single units, of every package."""
    tasks = [
        BoundsTask(
            audited.scored,
            boxes[place],
            fixed[place],
            spec.budgets,
            tuple(scored[place].items()),
            tuple(
                _distinct(
                    labelling
                    for by_package in relabellings.values()
                    for labelling in by_unit(audited.scored, by_package[place]).values()
                )
            ),
            spec.seconds,
        )
        for place, audited in enumerate(spec.packages)
    ]
    return list(_counted(run(bounds_of_package, tasks), BOUNDS, len(tasks), progress))


def _drawn(
    spec: RatioAuditSpec,
    draws: LabelDraws,
    fixed: Sequence[FixedStores],
    values: Sequence[CellLabels],
    known: Sequence[Mapping[Relabelling, RelabelledScores]],
    run: TaskRunner,
    progress: Progress,
) -> list[list[RelabelledScores]]:
    """Every draw of labels for every package; labellings already scored are not scored again."""
    drawn: list[list[Relabelling]] = [[] for _ in spec.packages]
    for place, audited in enumerate(spec.packages):
        for draw in range(spec.draws):
            labels = audited.spread(draws.labels(place, spec.seed, draw)).labels
            drawn[place].append(tuple(changes(values[place], labels).items()))
    wanted = [
        [labelling for labelling in _distinct(drawn[place]) if labelling not in known[place]]
        for place in range(len(drawn))
    ]
    scored = _scored(spec, fixed, wanted, run, progress, DRAWS)
    return [
        [
            known[place].get(labellings[draw]) or scored[place][labellings[draw]]
            for place, labellings in enumerate(drawn)
        ]
        for draw in range(spec.draws)
    ]


def _unit_effects(
    spec: RatioAuditSpec,
    values: Sequence[CellLabels],
    relabellings: Sequence[Relabelling],
    scored: Sequence[Mapping[Relabelling, RelabelledScores]],
    bounds: Sequence[BoundsResult],
) -> list[UnitEffect]:
    """The units of a label set: those that move ratios most, then OPT, then values."""
    effects = [
        unit_effect(
            audited, values[place], unit, labelling, scored[place][()],
            bounds[place].units[labelling],
        )
        for place, audited in enumerate(spec.packages)
        for unit, labelling in by_unit(audited.scored, relabellings[place]).items()
    ]  # fmt: skip
    return sorted(
        effects,
        key=lambda effect: (
            -effect.size, -abs(effect.optimum), -abs(effect.value), effect.package, effect.unit,
        ),
    )  # fmt: skip


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


def _counted(
    results: Iterator[Result], step: str, total: int, progress: Progress
) -> Iterator[Result]:
    progress(step, 0, total)
    for done, result in enumerate(results, 1):
        progress(step, done, total)
        yield result


def _distinct(labellings: Iterable[Relabelling]) -> list[Relabelling]:
    return list(dict.fromkeys(labellings))

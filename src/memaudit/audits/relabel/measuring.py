"""The same stores measured under many labellings, each solved anew: one task, many labellings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.audits.relabel.kept import At, Kept
from memaudit.audits.relabel.labelled import Best, Labelled
from memaudit.audits.relabel.labels import Cell, relabelled
from memaudit.core.package import Package

Change = tuple[tuple[Cell, Fraction], ...]
"""Cells that are labelled otherwise than in the package, in order: names a labelling."""

TOGETHER = 8
"""Labellings a task takes at most: small enough to keep all cores busy with one package."""


@dataclass(frozen=True, slots=True)
class Task:
    """A package, its stores, and the labellings to measure them under."""

    package: Package
    kept: Kept
    budgets: tuple[Fraction, ...]
    labellings: tuple[Change, ...]
    by: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """Every store under one labelling; a ratio is None where it is undefined."""

    digest: str
    optima: Mapping[Fraction, Best]
    values: Mapping[At, Fraction]
    ratios: Mapping[At, Fraction | None]


def measure(task: Task) -> list[Measured]:
    """The measurements, in the order of the labellings."""
    return [_measured(task, change) for change in task.labellings]


def _measured(task: Task, change: Change) -> Measured:
    labelled = Labelled(relabelled(task.package, dict(change), task.by), task.seconds)
    found = {at: labelled.ratio(store, at[1]) for at, store in task.kept.stores.items()}
    return Measured(
        labelled.digest,
        {budget: labelled.best(budget) for budget in task.budgets},
        {at: ratio.numerator for at, ratio in found.items()},
        {at: ratio.value for at, ratio in found.items()},
    )


def tasks(
    package: Package,
    kept: Kept,
    budgets: tuple[Fraction, ...],
    labellings: Sequence[Change],
    by: str,
    seconds: float | None = None,
) -> list[Task]:
    """The labellings, a few a task."""
    return [
        Task(package, kept, budgets, tuple(labellings[at : at + TOGETHER]), by, seconds)
        for at in range(0, len(labellings), TOGETHER)
    ]

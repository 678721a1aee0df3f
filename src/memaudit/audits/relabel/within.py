"""One package inside its box: bounds of every store, and each unit's labels alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from memaudit.audits.relabel.bounds import Bounds, bounds
from memaudit.audits.relabel.inside import Box, Inside
from memaudit.audits.relabel.kept import At, Kept
from memaudit.audits.relabel.measuring import Change, Measured
from memaudit.core.package import Package


@dataclass(frozen=True, slots=True)
class WithinTask:
    """A package, its stores, what was solved before, and the labellings of single units."""

    package: Package
    box: Box
    kept: Kept
    budgets: tuple[Fraction, ...]
    known: tuple[tuple[Change, Measured], ...]
    units: tuple[Change, ...]
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Within:
    """The bounds, or why there are none, and the measurements of single units' labels."""

    bounds: Mapping[At, Bounds | str]
    units: Mapping[Change, Measured]


def within(task: WithinTask) -> Within:
    """Both ends of the box come first: they decide most of what is between them."""
    inside = Inside(task.package, task.box, task.seconds)
    for change, found in task.known:
        inside.learn(dict(change), found)
    for budget in task.budgets:
        for end in (task.box.high, task.box.low):
            inside.optimum(end, budget)
    stores = task.kept.stores
    return Within(
        {at: bounds(inside, store, at[1]) for at, store in stores.items()},
        {change: inside.measured(dict(change), task.kept, task.budgets) for change in task.units},
    )

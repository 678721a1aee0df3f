"""The units that move a ratio: each unit's changed labels alone, all others left as they were.

F is a sum over units, so what a unit does to the value of a store is exact and adds up. What it
does to OPT is solved anew; effects of several units on OPT need not add up.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.package import Package
from memaudit.label_audit.audited_package import NOT_COVERED, Case, Cell, Labels
from memaudit.label_audit.relabelled_optima import Change, Measured


@dataclass(frozen=True, slots=True)
class Moved:
    """What one unit's labels change: means over stores and budgets where ratios are defined.

    `size` is the mean absolute change of the ratio, and orders units. `lost` counts stores and
    budgets without a ratio before or after.
    """

    package: str
    unit: str
    text: str
    cells: tuple[tuple[Cell, Fraction, Fraction], ...]
    value: Fraction
    optimum: Fraction
    optima: Mapping[Fraction, Fraction]
    ratio: Fraction
    size: Fraction
    lost: int


def alone(package: Package, change: Change) -> dict[str, Change]:
    """A labelling unit by unit; units that weigh nothing move nothing and are left out."""
    found: dict[str, list[tuple[Cell, Fraction]]] = defaultdict(list)
    for at, value in change:
        if package.weights[at[1]]:
            found[at[1]].append((at, value))
    return {unit: tuple(cells) for unit, cells in sorted(found.items())}


def moved(
    case: Case, own: Labels, unit: str, change: Change, base: Measured, after: Measured
) -> Moved:
    """The effect of one unit's labels."""
    shifts = [
        new - old
        for at, new in after.ratios.items()
        if new is not None and (old := base.ratios[at]) is not None
    ]
    optima = {
        budget: best.highest - base.optima[budget].highest
        for budget, best in after.optima.items()
        if best.certified and base.optima[budget].certified
    }
    (text,) = (one.text for one in case.package.units if one.id == unit)
    return Moved(
        package=case.name,
        unit=unit,
        text=text,
        cells=tuple((at, own.get(at, NOT_COVERED), value) for at, value in change),
        value=_mean([new - base.values[at] for at, new in after.values.items()]),
        optimum=_mean(list(optima.values())),
        optima=optima,
        ratio=_mean(shifts),
        size=_mean([abs(one) for one in shifts]),
        lost=len(after.ratios) - len(shifts),
    )


def by_size(found: Sequence[Moved]) -> list[Moved]:
    """The units that move ratios most come first; then those that move OPT or values."""
    return sorted(
        found,
        key=lambda one: (-one.size, -abs(one.optimum), -abs(one.value), one.package, one.unit),
    )


def _mean(numbers: Sequence[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0)) / len(numbers) if numbers else Fraction(0)

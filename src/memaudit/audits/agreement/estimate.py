"""A coefficient with its intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.audits.agreement.coefficients import Table
from memaudit.audits.agreement.resampling import Bounds


@dataclass(frozen=True, slots=True)
class Estimate:
    """The exact value, None where it is not defined, and its bootstrap intervals.

    `over_packages` is None where there is one package only: nothing is known then about others.
    """

    value: Fraction | None
    over_cells: Bounds | None = None
    over_packages: Bounds | None = None

    @property
    def interval(self) -> Bounds | None:
        """Over packages where there are several: cells of one package share their texts."""
        return self.over_packages or self.over_cells


@dataclass(frozen=True, slots=True)
class Measured:
    """What a confusion table says; `specific` is each category's own agreement."""

    table: Table
    kappa: Estimate
    raw: Estimate
    specific: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """Bootstrap intervals of several coefficients; over packages None where there is only one."""

    over_cells: Sequence[Bounds | None]
    over_packages: Sequence[Bounds | None] | None


def estimates(values: Sequence[Fraction | None], answer: Answer) -> list[Estimate]:
    """Values with their intervals; what is not defined has none."""
    wider = [None] * len(values) if answer.over_packages is None else answer.over_packages
    return [
        Estimate(None) if value is None else Estimate(value, cells, packages)
        for value, cells, packages in zip(values, answer.over_cells, wider, strict=True)
    ]

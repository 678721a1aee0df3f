"""A store's value as a share of a certified optimum."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from memaudit.core.optimum import Optimum

Basis = Literal["package", "union", "common union"]

NOT_CERTIFIED = "optimum not certified"
ZERO = "optimum is 0"


def bound_text(optimum: Optimum) -> str:
    """How far an optimum is known that is not certified, in words."""
    low, high = f"{float(optimum.value):.7g}", f"{float(optimum.bound):.7g}"
    if not optimum.gap:
        return f"is {low} by its bound, but its certificate is not finished"
    return f"is not certified, it lies between {low} and {high}"


@dataclass(frozen=True, slots=True)
class Ratio:
    """Undefined where the optimum is 0 or not certified: counted, never taken as 0 or 1.

    `highest` is what the numerator may be at most, where it is itself an optimum that is not
    certified.
    """

    numerator: Fraction
    optimum: Optimum
    basis: Basis = "package"
    highest: Fraction | None = None

    @property
    def undefined(self) -> str:
        """Why there is no ratio; empty where there is one."""
        if not self.optimum.certified or self.highest is not None:
            return NOT_CERTIFIED
        return ZERO if self.optimum.value == 0 else ""

    @property
    def value(self) -> Fraction | None:
        """The ratio; below it by at most the width of the enclosure where some h is irrational."""
        if self.undefined:
            return None
        high = self.optimum.value_high
        return self.numerator / (self.optimum.value if high is None else high)

    @property
    def slack(self) -> Fraction:
        """What the width of the optimum's enclosure takes from `value`, as a factor: 1 unless some
        h is irrational. A store that is optimal itself has a value of 1 divided by it."""
        high = self.optimum.value_high
        return Fraction(1) if high is None or not self.optimum.value else high / self.optimum.value

    @property
    def between(self) -> tuple[Fraction, Fraction] | None:
        """Where the ratio lies while the optimum is known only to lie between what was found and
        its bound; None where the ratio is known, or nothing is."""
        if self.undefined != NOT_CERTIFIED or not self.optimum.value:
            return None
        low = self.numerator / self.optimum.bound
        if self.highest is None:
            return low, self.numerator / self.optimum.value
        return low, min(Fraction(1), self.highest / self.optimum.value)  # a part of the optimum

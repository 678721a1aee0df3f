"""A store's value as a share of a certified optimum."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from memaudit.core.optimum import Optimum

Basis = Literal["package", "union", "common union"]

NOT_CERTIFIED = "optimum not certified"
ZERO = "optimum is 0"


@dataclass(frozen=True, slots=True)
class Ratio:
    """Undefined where the optimum is 0 or not certified: counted, never taken as 0 or 1."""

    numerator: Fraction
    optimum: Optimum
    basis: Basis = "package"

    @property
    def undefined(self) -> str:
        """Why there is no ratio; empty where there is one."""
        if not self.optimum.certified:
            return NOT_CERTIFIED
        return ZERO if self.optimum.value == 0 else ""

    @property
    def value(self) -> Fraction | None:
        """The ratio; below it by at most the width of the enclosure where some h is irrational."""
        if self.undefined:
            return None
        high = self.optimum.value_high
        return self.numerator / (self.optimum.value if high is None else high)

"""Two raters on one scale: the cells they share, and what the confusion table says."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memaudit.audits.agreement.coding import Codes, crossed
from memaudit.audits.agreement.coefficients import coefficients
from memaudit.audits.agreement.estimate import Answer, Measured, estimates
from memaudit.audits.agreement.groups import Group
from memaudit.audits.agreement.raters import Rater
from memaudit.audits.agreement.scale import Scale
from memaudit.audits.agreement.weights import Weights


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where each cell falls in the pair's confusion table, -1 where it is left out."""

    first: Rater
    second: Rater
    scale: Scale
    places: NDArray[np.int64]
    left_out: Mapping[str, int]

    @property
    def cells(self) -> int:
        """Cells compared."""
        return int((self.places >= 0).sum())


@dataclass(frozen=True, slots=True)
class Comparison:
    """The agreement of a pair on a scale; `natural` is None where cells all weigh the same."""

    first: Rater
    second: Rater
    scale: Scale
    cells: int
    left_out: Mapping[str, int]
    as_drawn: Measured
    natural: Measured | None
    groups: tuple[Group, ...]

    @property
    def title(self) -> str:
        """Both names."""
        return f"{self.first.title} - {self.second.title}"

    @property
    def kind(self) -> str:
        """Both roles."""
        return f"{self.first.role}-{self.second.role}"


def crossing(first: Rater, second: Rater, scale: Scale, codes: Mapping[str, Codes]) -> Crossing:
    """The pair's cells; `codes` are of this scale, by the raters' names."""
    places, left_out = crossed(codes[first.name], codes[second.name], scale)
    return Crossing(first, second, scale, places, left_out)


def measured(pair: Crossing, weights: Weights, answer: Answer) -> Measured:
    """The exact coefficients with their intervals."""
    table = weights.table(pair.places, pair.scale.size)
    kappa, raw, *specific = estimates(coefficients(table), answer)
    return Measured(table, kappa, raw, tuple(specific))

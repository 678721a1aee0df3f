"""Kendall's tau-b between two rankings, from exact counts of pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import sqrt


@dataclass(frozen=True, slots=True)
class Tau:
    """Pairs of items by how two rankings order them; a tie is an equal value."""

    concordant: int = 0
    discordant: int = 0
    tied_in_first: int = 0
    tied_in_second: int = 0

    @property
    def value(self) -> float | None:
        """(C - D) / sqrt((pairs untied in the first) (pairs untied in the second)).

        None where one ranking orders nothing: fewer than two items, or all tied.
        """
        ordered = self.concordant + self.discordant
        first, second = ordered + self.tied_in_second, ordered + self.tied_in_first
        if not first or not second:
            return None
        # Equal factors, as without ties, give a root without rounding.
        return (self.concordant - self.discordant) / (
            first if first == second else sqrt(first * second)
        )

    @property
    def same_order(self) -> bool:
        """Whether every pair is ordered, or tied, alike."""
        return not (self.discordant or self.tied_in_first or self.tied_in_second)


def kendall(first: Sequence[Fraction], second: Sequence[Fraction]) -> Tau:
    """Two values of the same items, in the same order of items."""
    counts = dict.fromkeys(Tau.__slots__, 0)
    for (a, b), (c, d) in combinations(zip(first, second, strict=True), 2):
        one, other = _sign(a - c), _sign(b - d)
        if not one and not other:
            continue
        if not one:
            counts["tied_in_first"] += 1
        elif not other:
            counts["tied_in_second"] += 1
        else:
            counts["concordant" if one == other else "discordant"] += 1
    return Tau(**counts)


def _sign(number: Fraction) -> int:
    return (number > 0) - (number < 0)

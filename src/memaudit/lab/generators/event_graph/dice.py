"""Random draws that are the same on every machine and in every version of Python."""

from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import TypeVar

Item = TypeVar("Item")

_BITS = 53
_SCALE = 1 << _BITS


class Dice:
    """Draws from `random()` alone, whose sequence is guaranteed; that of `choice` is not."""

    __slots__ = ("_random",)

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def bits(self) -> int:
        """A uniform whole number below 2**53."""
        return int(self._random.random() * _SCALE)

    def below(self, count: int) -> int:
        """A whole number from 0 to count - 1."""
        return self.bits() * count >> _BITS

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + self.below(high - low + 1)

    def chance(self, share: Fraction) -> bool:
        """True with this probability."""
        return self.bits() * share.denominator < share.numerator * _SCALE

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        keys = [(self.bits(), place) for place in range(len(items))]
        return [items[place] for _, place in sorted(keys)]

"""The parameters of the event graph, and random draws that are the same everywhere."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from random import Random
from typing import Annotated, Any, TypeVar, get_type_hints

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact, plain

_RATES = {
    "update_rate": Fraction(1),
    "interval_rate": Fraction(1),
    "redundancy": Fraction(1),
    "scope_shifts": Fraction(1),
    "distractors": Fraction(9, 10),
}
_COUNTS = {"experiences": (7, 10_000), "chain_length": (2, 8)}


@dataclass(frozen=True, slots=True)
class Parameters:
    """Validated parameters. Shares may be given as numbers or text, and are exact."""

    experiences: Annotated[int, "Messages in the stream, 7 to 10000."] = 40

    update_rate: Annotated[
        Fraction,
        "Share of things told that are replaced later, 0 to 1; at 0 nothing is superseded.",
    ] = Fraction(1, 5)

    chain_length: Annotated[
        int, "Maximum number of values of one attribute, 2 to 8; at 2 a value is replaced once."
    ] = 3

    interval_rate: Annotated[
        Fraction, "Share of the remaining things that are events with a start and an end, 0 to 1."
    ] = Fraction(3, 20)

    redundancy: Annotated[
        Fraction, "How often something is told again later in other words, 0 to 1."
    ] = Fraction(1, 5)

    scope_shifts: Annotated[
        Fraction, "How often a preference differs by place (home, work, trips ...), 0 to 1."
    ] = Fraction(1, 2)

    distractors: Annotated[
        Fraction, "Share of messages that are small talk no question needs, 0 to 0.9."
    ] = Fraction(3, 20)

    def __post_init__(self) -> None:
        for name, (low, high) in _COUNTS.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise MemAuditError(
                    f"event_graph: {name} is {value!r}; give a whole number from {low} to {high}"
                )
        for name, most in _RATES.items():
            object.__setattr__(self, name, _share(name, getattr(self, name), most))

    def changed(self) -> dict[str, Any]:
        """The parameters that differ from their default, as whole numbers and text."""
        changed: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                changed[field.name] = value if isinstance(value, int) else str(value)
        return changed


def meanings() -> dict[str, str]:
    """What each parameter is, with its default."""
    hints = get_type_hints(Parameters, include_extras=True)
    return {
        field.name: f"{hints[field.name].__metadata__[0]} Default: {field.default}."
        for field in fields(Parameters)
    }


def _share(name: str, value: Any, most: Fraction) -> Fraction:
    try:
        share = exact(value)
    except ValueError:
        share = Fraction(-1)
    if not 0 <= share <= most:
        raise MemAuditError(
            f"event_graph: {name} is {value!r}; give a number from 0 to {plain(most)}"
        )
    return share


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

"""Sessions and times of day."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from memaudit.generators.event_graph.dice import Dice

_START = datetime(2023, 1, 2)
_PARTS = (8, 13, 19)
"""The hours at which the three parts of a day begin."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When a message is written, and whether it is the first or the last of its session."""

    session: int
    time: datetime
    part: int
    opens: bool
    closes: bool


def diary(dice: Dice, sizes: list[int]) -> list[Moment]:
    """Moments for chapters of these sizes; a session never runs from one chapter into the next."""
    lengths = [length for size in sizes for length in _sessions(dice, size)]
    widest = max(2, min(60, 6000 // len(lengths)))
    slot = dice.below(3 * 700)
    moments: list[Moment] = []
    for session, length in enumerate(lengths):
        day, part = divmod(slot, 3)
        hour = _PARTS[part]
        time = _START + timedelta(days=day, hours=hour, minutes=dice.below(180))
        for place in range(length):
            moments.append(Moment(session, time, part, place == 0, place == length - 1))
            time += timedelta(minutes=dice.between(1, 4), seconds=dice.below(60))
        slot += dice.between(1, widest)
    return moments


def _sessions(dice: Dice, size: int) -> list[int]:
    """How many messages the sessions of a chapter have."""
    lengths: list[int] = []
    longest = 7 if size > 12 else 4
    while size > 0:
        length = dice.between(3, longest)
        length = size if size - length < 3 else length  # no session of one or two messages
        lengths.append(length)
        size -= length
    return lengths

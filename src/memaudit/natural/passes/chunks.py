"""Which memories and units go to the judge together.

The rule: memories and units are put in the order of the SHA-256 of their text, which says nothing
about who wrote them or where they come from. Units are taken eight at a time, and with each eight
all memories in order; a request holds at most 96 pairs, 32 memories and 24,000 letters. All pairs
are asked: a memory of one session can preserve what another session says, so leaving such pairs
out would make silent zeros.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

MOST_PAIRS, MOST_MEMORIES, MOST_UNITS = 96, 32, 8
MOST_LETTERS = 24_000

Pair = tuple[str, str]
"""The text of a memory and the text of a unit."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One request's pairs; numbers count from 1 in the order of the lists."""

    memories: tuple[str, ...]
    units: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]

    def pair(self, numbers: tuple[int, int]) -> Pair:
        """The texts behind two numbers."""
        return self.memories[numbers[0] - 1], self.units[numbers[1] - 1]


def rank(text: str) -> str:
    """Where a text comes: the same for everybody, and a secret to nobody."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def shuffled(texts: Iterable[str]) -> list[str]:
    """Distinct texts in the order of their rank."""
    return sorted(set(texts), key=rank)


def chunks(pairs: Iterable[Pair], most_memories: int = MOST_MEMORIES) -> Iterator[Chunk]:
    """All pairs, each in one chunk."""
    wanted = set(pairs)
    memory_place = {text: place for place, text in enumerate(shuffled(one for one, _ in wanted))}
    unit_place = {text: place for place, text in enumerate(shuffled(one for _, one in wanted))}
    ordered = sorted(
        wanted,
        key=lambda pair: (
            unit_place[pair[1]] // MOST_UNITS,
            memory_place[pair[0]],
            unit_place[pair[1]],
        ),
    )
    together: list[Pair] = []
    memories: set[str] = set()
    units: set[str] = set()
    for memory, unit in ordered:
        memories.add(memory)
        units.add(unit)
        letters = sum(map(len, memories)) + sum(map(len, units))
        full = len(memories) > most_memories or len(units) > MOST_UNITS or letters > MOST_LETTERS
        if together and (full or len(together) == MOST_PAIRS):
            yield _chunk(together, memory_place, unit_place)
            together, memories, units = [], {memory}, {unit}
        together.append((memory, unit))
    if together:
        yield _chunk(together, memory_place, unit_place)


def _chunk(
    pairs: Sequence[Pair], memory_place: dict[str, int], unit_place: dict[str, int]
) -> Chunk:
    memories = sorted({one for one, _ in pairs}, key=memory_place.__getitem__)
    units = sorted({one for _, one in pairs}, key=unit_place.__getitem__)
    numbers = {(memories.index(memory) + 1, units.index(unit) + 1) for memory, unit in pairs}
    return Chunk(tuple(memories), tuple(units), tuple(sorted(numbers)))

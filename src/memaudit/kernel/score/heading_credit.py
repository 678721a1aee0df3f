"""Half credit that entries owe to a heading they share counts once.

"Adoption plans" may be half of what a unit says, and stands before every entry below it. Two such
entries are not all of it. So headings are judged as texts of their own, each alone and with those
above it: where a heading earns as much as an entry does, the credit is the heading's. It counts at
the cheapest entry of the store that carries it, wherever in its documents the heading stands. What
an entry adds beyond its headings is its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from memaudit.kernel.score.judge import Cell, Cells, MemoryText
from memaudit.kernel.score.written_store import WrittenMemory, WrittenStore
from memaudit.kernel.words.text import content_key

REPEATED = "cells that repeat the credit of a heading"
NOT_NAMED = "headings that nobody judged: what entries owe to them may count twice"


def heading_texts(store: WrittenStore, example: str) -> list[MemoryText]:
    """The headings that several entries carry, as texts to judge."""
    carried: dict[str, int] = {}
    text: dict[str, str] = {}
    for memory in store.memories:
        for id, title in dict(_headings(memory)).items():
            carried[id] = carried.get(id, 0) + 1
            text.setdefault(id, title)
    return [
        MemoryText(id, text[id], (), example, is_heading=True)
        for id, entries in carried.items()
        if entries > 1
    ]


def count_once(store: WrittenStore, judged: Cells) -> WrittenStore:
    """The store with the credit of each heading at the cheapest entry that carries it."""
    taken: set[tuple[str, str]] = set()
    repeated = 0
    memories: dict[str, WrittenMemory] = {}
    for memory in sorted(store.in_file_order, key=lambda memory: memory.cost):
        cells = dict(memory.coverage)
        for unit, cell in memory.coverage.items():
            owed = _owed_to(memory, unit, cell, judged)
            if owed is None:
                continue
            if (owed, unit) in taken:
                cells[unit] = Cell(
                    Fraction(0),
                    cell.provenance,
                    "credit of its heading, counted at the cheapest entry that carries it",
                )
                repeated += 1
            taken.add((owed, unit))
        memories[memory.id] = replace(memory, coverage=cells)
    if not repeated:
        return store
    caveats = replace(store.caveats, left_out={**store.caveats.left_out, REPEATED: repeated})
    return replace(
        store, memories=tuple(memories[memory.id] for memory in store.memories), caveats=caveats
    )


def _owed_to(memory: WrittenMemory, unit: str, cell: Cell, judged: Cells) -> str | None:
    """The first heading that earns what the entry does; full credit cannot add up."""
    if not 0 < cell.value < 1:
        return None
    for id, _ in _headings(memory):
        of_heading: Mapping[str, Cell] = judged.get(id, {})
        if unit in of_heading and of_heading[unit].value >= cell.value:
            return id
    return None


def _headings(memory: WrittenMemory) -> Iterator[tuple[str, str]]:
    """The ids and texts of what stands above an entry: each heading alone, then the paths of them,
    from the top. Equal texts are one heading."""
    if memory.document is None:
        return
    for title in memory.context:
        yield _id(title), title
    for count in range(2, len(memory.context) + 1):
        title = ": ".join(memory.context[:count])
        yield _id(title), title


def _id(title: str) -> str:
    return f"heading {content_key(title)}"

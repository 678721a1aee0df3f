"""The judged store: what each memory covers, and the credit of headings counted once.

Every entry below the heading "Adoption plans" begins with it, and it may be half of what a unit
says. Two such entries are not all of it. So headings are judged as texts of their own, each alone
and with those above it: where a heading earns as much as an entry does, the credit is the
heading's. It counts at the cheapest entry of the store that carries it, wherever in its documents
the heading stands. What an entry adds beyond its headings is its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judge import (
    Cell,
    Cells,
    Judge,
    MemoryText,
    NotJudged,
    ask_judge,
    for_package,
)
from memaudit.kernel.score.priced_store import (
    OWN_SALIENCE,
    JudgedStore,
    PricedStore,
    Salience,
    WrittenMemory,
    price_store,
)
from memaudit.kernel.score.script_support import refuse_unreadable
from memaudit.kernel.words.text import content_key

REPEATED = "cells that repeat the credit of a heading"
NOT_NAMED = "headings that nobody judged: what entries owe to them may count twice"


def judge_store(
    package: Package, store: ExportedStore, judge: Judge, salience: Salience = OWN_SALIENCE
) -> JudgedStore:
    """The active memories of a store, priced, and judged against the units of a package.

    `judge` sees the texts with the times a reader is shown, and headings as texts of their own. One
    that cannot judge this store or package raises NotJudged. `salience` adds scores that policies
    cut by; without it a memory has the one its system gave.
    """
    priced = price_store(package, store, salience)
    headings = heading_texts(priced, package.name)
    texts = [
        MemoryText(memory.id, memory.text, memory.sources, package.name)
        for memory in priced.memories
    ]
    try:
        refuse_unreadable(judge, package, (memory.text for memory in texts))
        asked = for_package(judge, package)
        judged = ask_judge(asked, [*texts, *headings], package.units)
    except NotJudged as error:
        raise NotJudged(f"store {store.name!r}: {error}") from None
    memories = tuple(
        replace(memory, coverage=judged.cells.get(memory.id, {})) for memory in priced.memories
    )
    cells = [cell for memory in memories for cell in memory.coverage.values()]
    # Headings are asked about too, but only memories are scored: no gap in them counts as one.
    ids = {memory.id for memory in memories}
    silent = sum(heading.id in judged.unknown for heading in headings)
    caveats = replace(
        priced.caveats,
        undecided=tuple(pair for pair in judged.undecided if pair[0] in ids),
        left_out={
            **judged.left_out,
            **({NOT_NAMED: silent} if silent else {}),
            **priced.caveats.left_out,
        },
        covers_nothing=bool(memories) and not any(cell.value or cell.upper for cell in cells),
    )
    return count_once(JudgedStore(priced.name, memories, caveats, priced.documents), judged.cells)


def heading_texts(store: PricedStore, example: str) -> list[MemoryText]:
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


def count_once(store: JudgedStore, judged: Cells) -> JudgedStore:
    """The store with the credit of each heading at the cheapest entry that carries it."""
    taken: set[tuple[str, str]] = set()
    repeated = 0
    memories: dict[str, WrittenMemory] = {}
    # Cheapest first, and of equal costs the first in the file: the credit stays where a small
    # budget can afford it, so that counting it once takes as little as possible from the store.
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

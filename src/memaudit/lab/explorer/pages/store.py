"""The memories of an exported store as rows, with its scores."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore, Memory
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.entries import LibraryEntry
from memaudit.lab.explorer.library.records import ScoreLine
from memaudit.lab.explorer.site import PathParams, QueryParams, Site
from memaudit.lab.explorer.views.package_stores import ScoredStore
from memaudit.lab.explorer.views.parts import list_page, list_pages


@dataclass(frozen=True, slots=True)
class ShownMemory:
    """A memory with its place in the order of writing."""

    place: int
    memory: Memory

    @property
    def when(self) -> str:
        """When it was written and changed, if the system says so."""
        memory = self.memory
        parts = [memory.created_at or ""]
        if memory.updated_at and memory.updated_at != memory.created_at:
            parts.append(f"changed {memory.updated_at}")
        if memory.valid_from or memory.valid_to:
            parts.append(f"valid {memory.valid_from or '…'} to {memory.valid_to or '…'}")
        return "; ".join(filter(None, parts))

    @property
    def more(self) -> str:
        """Everything else in the system's export."""
        memory = self.memory
        fields: dict[str, object] = {}
        if memory.sources:
            fields["sources"] = memory.sources
        if memory.salience is not None:
            fields["salience"] = memory.salience
        fields |= memory.metadata
        return json.dumps(fields, ensure_ascii=False) if fields else ""


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns are not empty."""

    when: bool
    namespace: bool
    example: bool
    more: bool


def memory_rows(store: ExportedStore) -> list[ShownMemory]:
    """All memories, in the order in which they were written."""
    return [ShownMemory(place, memory) for place, memory in enumerate(store.memories, start=1)]


def columns_of(rows: Sequence[ShownMemory]) -> Columns:
    """The columns that these rows need."""
    return Columns(
        any(row.when for row in rows),
        any(row.memory.namespace for row in rows),
        any(row.memory.example for row in rows),
        any(row.more for row in rows),
    )


def states_of(store: ExportedStore) -> dict[str, int]:
    """How many memories are active, deleted, ..."""
    return dict(sorted(Counter(memory.state for memory in store.memories).items()))


def examples_in(store: ExportedStore) -> dict[str, int]:
    """The packages that memories were written for, and how many."""
    return dict(
        sorted(Counter(memory.example for memory in store.memories if memory.example).items())
    )


MOST_ROWS = 1000
"""Memories per page."""
MOST_FILES, MOST_SCORES, MOST_EXAMPLES = 10, 40, 60
"""Score files that are searched for the store, and rows that are listed."""


def render_store(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    entry = site.library.named("store", parts["store"])
    store = site.library.store(entry)
    address = addresses.store(entry.slug)
    shown = list_page(memory_rows(store), address, parts, MOST_ROWS)
    scores, of_others = _scores(site, store)
    return site.render(
        "store.html",
        addresses.list_page_address(address, shown.number),
        store.name,
        crumbs=site.crumbs(entry),
        entry=entry,
        store=store,
        states=states_of(store),
        shown=shown,
        columns=columns_of(shown.rows),
        examples=_examples(site, store),
        most=MOST_EXAMPLES,
        scores=scores,
        of_others=of_others,
        looked=MOST_FILES,
        files=len(site.library.of("scores")),
        most_scores=MOST_SCORES,
    )


def _examples(site: Site, store: ExportedStore) -> list[tuple[str, int, str | None]]:
    """Packages that memories were written for, with their pages if the library has them."""
    known = {entry.name: entry for entry in reversed(site.library.of("package"))}
    return [
        (name, count, addresses.package(known[name].slug, "stores.html") if name in known else None)
        for name, count in examples_in(store).items()
    ]


def _scores(site: Site, store: ExportedStore) -> tuple[list[tuple[LibraryEntry, ScoreLine]], int]:
    """Scores of this store, and the number of scores of other stores of this name."""
    scored = ScoredStore(store)
    lines: list[tuple[LibraryEntry, ScoreLine]] = []
    for entry in site.library.of("scores")[:MOST_FILES]:
        try:
            scores = site.library.scores(entry)
        except MemAuditError:  # listed as unreadable
            continue
        lines += ((entry, line) for line in scores.lines if line.score.store == store.name)
    own = [line for line in lines if scored.has(line[1])]
    return own, len(lines) - len(own)


def _count_memories(site: Site, parts: PathParams) -> int:
    return len(site.library.store(site.library.named("store", parts["store"])).memories)


STORE_PAGES = list_pages("store/{store}/index.html", render_store, _count_memories, MOST_ROWS)

"""What a memory system wrote: where it comes from, what was left out, and every memory."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.records import Found
from memaudit.web.explorer.library.score_sheets import Line
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.views.memory_rows import (
    columns_of,
    examples_in,
    holding,
    memory_rows,
    states_of,
)
from memaudit.web.explorer.views.paging import others, turned
from memaudit.web.explorer.views.scored_store import ScoredStore

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

PATTERN, MORE = "store/{store}/index.html", "store/{store}/index-{page}.html"
MOST_ROWS = 1000
"""Memories on a page."""
LONGEST_QUERY = 200
MOST_FILES, MOST_SCORES, MOST_EXAMPLES = 10, 40, 60
"""Score files that are looked through for the store, and rows that are listed."""


def render(site: "Site", parts: Parts, asked: Asked) -> str:
    """The page; a server is asked for the memories that hold some words."""
    found = site.library.named("store", parts["store"])
    store = site.library.store(found)
    address = addresses.store(found.slug)
    everything = memory_rows(store)
    words = "" if site.bundled else asked.get("q", "")[:LONGEST_QUERY].strip()
    rows = holding(everything, words) if words else everything
    shown = turned(rows, address, {} if words else parts, MOST_ROWS)
    scores, of_others = _scores(site, store)
    return site.render(
        "store.html", addresses.turned(address, shown.number), store.name,
        crumbs=(("Stores", addresses.INDEX + "#stores"),), found=found, store=store,
        states=states_of(store), shown=shown, columns=columns_of(shown.rows), asked_words=words,
        all_memories=len(everything), examples=_examples(site, store), most=MOST_EXAMPLES,
        scores=scores, of_others=of_others, looked=MOST_FILES, files=len(site.library.of("scores")),
        most_scores=MOST_SCORES,
    )  # fmt: skip


def _examples(site: "Site", store: ExportedStore) -> list[tuple[str, int, str | None]]:
    """Packages that memories were written for, with their pages where they are here."""
    known = {one.name: one for one in reversed(site.library.of("package"))}
    return [
        (name, count,
         addresses.package(known[name].slug, "stores.html") if name in known else None)
        for name, count in examples_in(store).items()
    ]  # fmt: skip


def _scores(site: "Site", store: ExportedStore) -> tuple[list[tuple[Found, Line]], int]:
    """Scores of this store, and how many there are of others of its name."""
    scored = ScoredStore(store)
    lines: list[tuple[Found, Line]] = []
    for found in site.library.now("scores")[:MOST_FILES]:
        try:
            sheets = site.library.score_sheets(found)
        except MemAuditError:  # listed as unreadable
            continue
        lines += ((found, line) for line in sheets.lines if line.score.store == store.name)
    own = [one for one in lines if scored.has(one[1])]
    return own, len(lines) - len(own)


def pages(site: "Site", parts: Parts) -> Iterable[Parts]:
    """The pages after the first."""
    store = site.library.store(site.library.named("store", parts["store"]))
    return others(parts, len(store.memories), MOST_ROWS)


PAGE = Page(PATTERN, render, "store")
NEXT = Page(MORE, render, "store", pages)

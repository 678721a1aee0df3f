"""Search: every text that contains all the words, and the index that a bundle carries."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.addresses import anchor, slug
from memaudit.lab.explorer.library.entries import LibraryEntry
from memaudit.lab.explorer.site import Page, PathParams, QueryParams, Site
from memaudit.lab.explorer.views.package_data import shown

SEARCHED_TABLES = ("experiences", "candidates", "units", "queries")


@dataclass(frozen=True, slots=True)
class SearchText:
    """One text with its table and the id of its row."""

    table: str
    id: str
    text: str


def read_texts(site: Site, entry: LibraryEntry) -> list[SearchText]:
    """Every text of a package or a store; none of one that cannot be read."""
    try:
        if entry.kind == "store":
            memories = site.library.store(entry).memories
            return [SearchText("memories", memory.id, memory.text) for memory in memories]
        if entry.kind != "package":
            return []
        package = site.library.package(entry).package
    except MemAuditError:  # listed as unreadable
        return []
    return [
        SearchText(table, row.id, "\n".join(filter(None, (row.text, getattr(row, "answer", "")))))
        for table in SEARCHED_TABLES
        for row in getattr(package, table)
    ]


def texts_of(site: Site, entry: LibraryEntry) -> list[SearchText]:
    """The same, read once."""
    return site.made(lambda: read_texts(site, entry), [entry], "texts")


MOST_FOUND = 200
AROUND = 90
MOST_INDEXED = 8_000_000
"""Characters of text in the index of a bundle. If there are more, the index says so."""
PIECE = 160


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result: its address, and the text around the first word."""

    address: str
    kind: str
    name: str
    id: str
    before: str
    word: str
    after: str


def hits(site: Site, words: str) -> tuple[list[Hit], int]:
    """The first entries and texts that contain all the words, and how many more there are."""
    wanted = [word.lower() for word in words.split()]
    matches: list[Hit] = []
    more = 0
    for entry, text in _everything(site):
        plain = (
            f"{text.text}\n{text.id}".lower() if text else f"{entry.name}\n{entry.place}".lower()
        )
        if all(word in plain for word in wanted):
            if len(matches) < MOST_FOUND:
                matches.append(_hit(entry, text, wanted[0]))
            else:
                more += 1
    return matches, more


def _everything(site: Site) -> Iterator[tuple[LibraryEntry, SearchText | None]]:
    """Every entry by its name, then every text of packages and stores."""
    for entry in site.library.items:
        yield entry, None
    for entry in site.library.items:
        yield from ((entry, text) for text in texts_of(site, entry))


def _hit(entry: LibraryEntry, text: SearchText | None, word: str) -> Hit:
    full_text = (text.text if word in text.text.lower() else text.id) if text else entry.name
    at = max(full_text.lower().find(word), 0)
    start = max(at - AROUND, 0)
    end = at + len(word)
    return Hit(
        address_of(entry, text),
        (text.table if text else entry.kind),
        entry.name,
        text.id if text else "",
        ("…" if start else "") + full_text[start:at],
        full_text[at:end],
        full_text[end : end + 2 * AROUND] + ("…" if len(full_text) > end + 2 * AROUND else ""),
    )


def address_of(entry: LibraryEntry, text: SearchText | None) -> str:
    if text is None or entry.kind != "package":
        return addresses.entry_address(entry)
    if text.table == "queries":
        return addresses.query(entry.slug, slug(text.id))
    page = "coverage.html" if text.table == "units" else "stream.html"
    return f"{addresses.package(entry.slug, page)}#{anchor(text.table, text.id)}"


def index_data(site: Site) -> dict[str, Any]:
    """The index of a bundle: entries and their texts, with addresses relative to the entry's."""
    things: list[list[str]] = []
    rows: list[list[Any]] = []
    letters, left_out = 0, 0
    for entry in site.library.items:
        place = len(things)
        things.append([entry.kind, shown(entry.name, 80), addresses.entry_address(entry)])
        for text in texts_of(site, entry):
            piece = shown(text.text, PIECE)
            letters += len(piece) + len(text.id)
            if letters > MOST_INDEXED:
                left_out += 1
                continue
            rows.append([place, text.table, shown(text.id, 60), piece, address_of(entry, text)])
    return {"things": things, "texts": rows, "left_out": left_out}


LONGEST_QUERY = 200


def render_search(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    """The page: the results for `q`, or the complete index in a bundle."""
    words = params.get("q", "")[:LONGEST_QUERY].strip()
    matches: list[Hit] = []
    left_out, data = 0, {}
    if site.bundled:
        data = index_data(site)
    elif words:
        matches, left_out = hits(site, words)
    return site.render(
        "search.html",
        addresses.SEARCH,
        f"Search: {words}" if words else "Search",
        crumbs=(),
        words=words,
        found=matches,
        more=left_out,
        most=MOST_FOUND,
        data=data,
    )


SEARCH_PAGE = Page(addresses.SEARCH, render_search)

"""Search: every text that holds all the words, and the index that a bundle carries."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memaudit.core.errors import MemAuditError
from memaudit.web.explorer import addresses
from memaudit.web.explorer.addresses import anchor, slug
from memaudit.web.explorer.library.entries import Found
from memaudit.web.explorer.library.raw_texts import TABLES, Text, raw_texts
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.views.package_data import shown

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site


MOST_FOUND = 200
AROUND = 90
MOST_INDEXED = 8_000_000
"""Letters of texts that a bundle's index holds; it says so where there are more."""
PIECE = 160


@dataclass(frozen=True, slots=True)
class Hit:
    """A text that was found: where it stands, and what is around the first word."""

    address: str
    kind: str
    name: str
    id: str
    before: str
    word: str
    after: str


def hits(site: "Site", words: str) -> tuple[list[Hit], int]:
    """The first things that hold all the words, and how many more there are."""
    wanted = [word.lower() for word in words.split()]
    found: list[Hit] = []
    more = 0
    for one, text in _everything(site):
        plain = f"{text.text}\n{text.id}".lower() if text else f"{one.name}\n{one.place}".lower()
        if all(word in plain for word in wanted):
            if len(found) < MOST_FOUND:
                found.append(_hit(one, text, wanted[0]))
            else:
                more += 1
    return found, more


def _everything(site: "Site") -> Iterator[tuple[Found, Text | None]]:
    """Every thing by its name, then every text of packages and stores."""
    for one in site.library.items:
        yield one, None
    for one in site.library.items:
        yield from ((one, text) for text in texts_of(site, one))


def texts_of(site: "Site", found: Found) -> list[Text]:
    """The texts of one thing; what cannot be read has none here."""
    try:
        if found.kind == "package" and found.part:
            package = site.library.package(found).package
            return [
                Text(table, row.id, "\n".join(filter(None, (row.text, getattr(row, "answer", "")))))
                for table in TABLES
                for row in getattr(package, table)
            ]
        return site.kept_texts(found, raw_texts)
    except MemAuditError:
        return []


def _hit(found: Found, text: Text | None, word: str) -> Hit:
    whole = (text.text if word in text.text.lower() else text.id) if text else found.name
    at = max(whole.lower().find(word), 0)
    start = max(at - AROUND, 0)
    end = at + len(word)
    return Hit(
        address_of(found, text), (text.table if text else found.kind), found.name,
        text.id if text else "", ("…" if start else "") + whole[start:at], whole[at:end],
        whole[end : end + 2 * AROUND] + ("…" if len(whole) > end + 2 * AROUND else ""),
    )  # fmt: skip


def address_of(found: Found, text: Text | None) -> str:
    """The page on which a text stands."""
    if text is None or found.kind != "package":
        return addresses.of(found) or addresses.INDEX
    if text.table == "queries":
        return addresses.query(found.slug, slug(text.id))
    page = "coverage.html" if text.table == "units" else "stream.html"
    return f"{addresses.package(found.slug, page)}#{anchor(text.table, text.id)}"


def index_data(site: "Site") -> dict[str, Any]:
    """The index of a bundle: things, and their texts, each with its address below the thing's."""
    things: list[list[str]] = []
    rows: list[list[Any]] = []
    letters, left_out = 0, 0
    for found in site.library.items:
        place = len(things)
        things.append([found.kind, shown(found.name, 80), addresses.of(found) or addresses.INDEX])
        for text in texts_of(site, found):
            piece = shown(text.text, PIECE)
            letters += len(piece) + len(text.id)
            if letters > MOST_INDEXED:
                left_out += 1
                continue
            rows.append([place, text.table, shown(text.id, 60), piece, address_of(found, text)])
    return {"things": things, "texts": rows, "left_out": left_out}


LONGEST_QUERY = 200


def render_search(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page: what was found for `q`, or in a bundle the whole index."""
    words = asked.get("q", "")[:LONGEST_QUERY].strip()
    found: list[Hit] = []
    left_out, data = 0, None
    if site.bundled:
        data = index_data(site)
    elif words:
        found, left_out = hits(site, words)
    return site.render(
        "search.html", addresses.SEARCH, f"Search: {words}" if words else "Search", crumbs=(),
        words=words, found=found, more=left_out, most=MOST_FOUND, data=_plain(data),
    )  # fmt: skip


def _plain(data: Any) -> Any:
    return {} if data is None else data


SEARCH_PAGE = Page(addresses.SEARCH, render_search)

"""Search across the texts of the library: by the server, or by a script over a built index."""

from typing import TYPE_CHECKING, Any

from memaudit.web.explorer import addresses
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.views.texts import MOST_FOUND, Hit, hits, index_data

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

LONGEST_QUERY = 200


def render(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
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


PAGE = Page(addresses.SEARCH, render)

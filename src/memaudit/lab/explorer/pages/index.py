"""The first page: what is here and every entry; and the reports that lie in the folders."""

from memaudit.kernel.words.text import counted
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.entries import KINDS, Kind, read_page
from memaudit.lab.explorer.library.library import NotInLibrary
from memaudit.lab.explorer.site import Page, PathParams, QueryParams, Site
from memaudit.show.page_kit import one_file_title

MOST_LISTED = 5000
"""Entries listed per kind. If there are more, the page says so, and search finds them."""

NOUNS: dict[Kind, tuple[str, str]] = {
    "run": ("run of writers", "runs of writers"),
    "package": ("package", "packages"),
    "store": ("store of a memory system", "stores of memory systems"),
    "scores": ("score file", "score files"),
    "diagnosis": ("diagnosis", "diagnoses"),
    "certificate": ("file of certificates", "files of certificates"),
    "page": ("report", "reports"),
}


def render_index(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    library = site.library
    groups = [(kind, library.of(kind)) for kind in KINDS]
    return site.render(
        "index.html",
        addresses.INDEX,
        "What is here",
        groups=[(kind, addresses.TITLES[kind], entries) for kind, entries in groups if entries],
        unreadable=library.unreadable,
        most=MOST_LISTED,
        crumbs=(),
        here=_in_words(site),
    )


def _in_words(site: Site) -> str:
    """What is here, in a sentence."""
    counts = [
        counted(number, *NOUNS[kind]) for kind in KINDS if (number := len(site.library.of(kind)))
    ]
    return " and ".join(filter(None, (", ".join(counts[:-1]), *counts[-1:])))


INDEX_PAGE = Page(addresses.INDEX, render_index)


def render_report(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    """A page that lies in the folder, as it is now."""
    entry = site.library.named("page", parts["page"])
    text = read_page(entry.path)
    if one_file_title(text) is None:
        raise NotInLibrary(f"{entry.place} is no longer a page of MemAudit")
    return text


REPORT_PAGE = Page("page/{page}.html", render_report, "page")

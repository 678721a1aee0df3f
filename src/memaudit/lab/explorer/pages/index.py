"""The first page: what is here, the best result, where to begin, and every entry."""

from collections.abc import Iterator
from dataclasses import dataclass

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.words.text import counted
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.entries import KINDS, Kind, LibraryEntry, read_page
from memaudit.lab.explorer.library.folders import WRITTEN
from memaudit.lab.explorer.library.library import NotInLibrary
from memaudit.lab.explorer.library.records import ScoreLine
from memaudit.lab.explorer.pages.run import run_part
from memaudit.lab.explorer.site import Page, PathParams, QueryParams, Site
from memaudit.lab.explorer.views.package_data import package_links
from memaudit.lab.explorer.views.package_stores import scored_packages
from memaudit.show.page_charts import Member
from memaudit.show.page_kit import one_file_title

MOST_LISTED = 5000
"""Entries listed per kind. If there are more, the page says so, and search finds them."""
MOST_BYTES = 50_000_000
"""Score files that are read for the best result, and the rows of a run that is opened for it."""
MOST_ROWS = 20_000

NOUNS: dict[Kind, tuple[str, str]] = {
    "run": ("run of writers", "runs of writers"),
    "package": ("package", "packages"),
    "store": ("store of a memory system", "stores of memory systems"),
    "scores": ("score file", "score files"),
    "frame": ("audit of labels", "audits of labels"),
    "diagnosis": ("diagnosis", "diagnoses"),
    "certificate": ("file of certificates", "files of certificates"),
    "page": ("report", "reports"),
}


@dataclass(frozen=True, slots=True)
class BestScore:
    """The highest score here. Labelled ones count before estimates."""

    file: LibraryEntry
    line: ScoreLine
    stores: str | None
    """The stores tab of its package, if that is here."""


@dataclass(frozen=True, slots=True)
class BestWriter:
    """The best writer of a run that could be deployed."""

    run: LibraryEntry
    member: Member
    mean: float


def render_index(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    library = site.library
    groups = [(kind, library.of(kind)) for kind in KINDS]
    best = site.made(
        lambda: best_score(site), (*library.now("scores"), *library.now("package")), "best score"
    )
    writer = None if best else best_writer(site)
    return site.render(
        "index.html",
        addresses.INDEX,
        "What is here",
        groups=[(kind, addresses.TITLES[kind], entries) for kind, entries in groups if entries],
        unreadable=library.unreadable,
        most=MOST_LISTED,
        crumbs=(),
        here=_in_words(site),
        best=best,
        writer=writer,
        start=_start(site, best, writer),
        packages_of=_packages_of_stores(site),
    )


def _in_words(site: Site) -> str:
    """What is here, in a sentence."""
    counts = [
        counted(number, *NOUNS[kind]) for kind in KINDS if (number := len(site.library.of(kind)))
    ]
    return " and ".join(filter(None, (", ".join(counts[:-1]), *counts[-1:])))


def score_lines(site: Site) -> Iterator[tuple[LibraryEntry, ScoreLine]]:
    """The scores of all files that can be read quickly."""
    read = 0
    for entry in site.library.now("scores"):
        read += entry.bytes
        if read > MOST_BYTES:
            return
        try:
            lines = site.library.scores(entry).lines
        except MemAuditError:  # listed as unreadable
            continue
        yield from ((entry, line) for line in lines)


def best_score(site: Site) -> BestScore | None:
    known = [pair for pair in score_lines(site) if pair[1].score.score is not None]
    if not known:
        return None
    file, line = max(
        known,
        key=lambda pair: (not pair[1].file.coverage_is_an_estimate, pair[1].score.score or 0.0),
    )
    links = package_links(site.library, line.file.package, line.file.digest)
    page = addresses.package(links.indexed.entry.slug, "stores.html") if links.indexed else None
    return BestScore(file, line, page if links.same else None)


def best_writer(site: Site) -> BestWriter | None:
    """Of the first finished run that is not too long to open."""
    for entry in site.library.of("run"):
        if entry.count(WRITTEN) is not None or (entry.count("rows") or 0) > MOST_ROWS:
            continue
        try:
            places = run_part(site, entry, None, None).places
        except MemAuditError:  # its page says what is wrong with it
            continue
        for place in places:
            if place.member.group != "reference" and place.interval.n:
                return BestWriter(entry, place.member, place.interval.mean)
    return None


def _packages_of_stores(site: Site) -> dict[str, str]:
    """By slug, the packages that stores were written for: as they say, or as score files do."""
    library = site.library
    known = {entry.slug: entry.text("examples") for entry in library.of("store")}
    others = [entry for entry in library.of("store") if not known[entry.slug]]
    scored = site.made(
        lambda: scored_packages(library, others), (*others, *library.of("scores")), "packages"
    )
    return {**known, **scored}


def _start(site: Site, best: BestScore | None, writer: BestWriter | None) -> tuple[str, str] | None:
    """Where to begin: the text of a link, and its address."""
    library = site.library
    if best is not None:
        if best.stores:
            return f"Compare the stores on {best.line.file.package}", best.stores
        return f"All scores of {best.file.name}", addresses.scores(best.file.slug)
    if writer is not None:
        return f"The ranking of {writer.run.name}", addresses.run(writer.run.slug)
    texts: dict[Kind, str] = {"page": "Read {}", "package": "The best store of {} at every budget"}
    for kind, text in texts.items():
        for entry in library.of(kind):
            return text.format(entry.name), addresses.OF_KIND[kind](entry.slug)
    for entry in library.items:
        return f"Open {entry.name}", addresses.OF_KIND[entry.kind](entry.slug)
    return None


INDEX_PAGE = Page(addresses.INDEX, render_index)


def render_report(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    """A page that lies in the folder, as it is now."""
    entry = site.library.named("page", parts["page"])
    text = read_page(entry.path)
    if one_file_title(text) is None:
        raise NotInLibrary(f"{entry.place} is no longer a page of MemAudit")
    return text


REPORT_PAGE = Page("page/{page}.html", render_report, "page")

"""The site: its templates, what a page is, and a library with what its pages computed."""

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import Environment

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.version import VERSION
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.addresses import anchor
from memaudit.lab.explorer.library.entries import KINDS, Kind, LibraryEntry
from memaudit.lab.explorer.library.library import Library, NotInLibrary
from memaudit.lab.explorer.library.packages import IS_OF_RUN, IndexedPackage
from memaudit.lab.explorer.views.optima import FRONTIER_SHARE, KnownFrontier, PackageOptima
from memaudit.lab.explorer.views.package_stores import (
    RunStore,
    run_stores,
    scored_budgets,
)
from memaudit.lab.serving import POLICY
from memaudit.show import encoding, page_kit
from memaudit.show.encoding import Look, looks

PathParams = Mapping[str, str]
"""The parts of an address, by their names in the pattern."""

QueryParams = Mapping[str, str]
"""What follows the question mark of an address; a bundle has none."""


def single_page(site: "Site", parts: PathParams) -> Iterable[PathParams]:  # noqa: ARG001
    """One page per entry."""
    return [parts]


@dataclass(frozen=True, slots=True)
class Page:
    """A kind of page: one for the whole library, or one per entry of the kind `owner`, whose slug
    is {owner} in the pattern. If an entry has several, `instances` lists them."""

    pattern: str
    render: Callable[["Site", PathParams, QueryParams], str]
    owner: Kind | None = None
    instances: Callable[["Site", PathParams], Iterable[PathParams]] = single_page


@dataclass(frozen=True, slots=True)
class JsonEndpoint:
    """JSON that a served page requests; a bundled page contains it."""

    pattern: str
    answer: Callable[["Site", PathParams, QueryParams], Any]


SERVED = POLICY.replace("form-action 'none'", "form-action 'self'")
"""The search form may be sent to the server. Everything else is as for every local page."""

META = "; ".join(
    part
    for part in POLICY.replace("connect-src 'self'", "connect-src 'none'").split("; ")
    if not part.startswith("frame-ancestors")
)
"""For static pages, which request nothing. `frame-ancestors` is left out, since browsers ignore it
in a `meta` element and log a warning."""

ONE_FILE = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox allow-downloads"
)
"""For reports and boards of the folder, whose style is in the page. Nothing can run."""

TEMPLATES = Path(__file__).parent / "templates"
STATIC = Path(__file__).parent / "static"
TYPES = {".css": "text/css", ".js": "text/javascript"}
MOST_CHARACTERS = 600
"""Characters of a text in lists. The stream shows the complete text."""


@cache
def static_files() -> dict[str, bytes]:
    """The kit's style sheet, the explorer's own files and the signs its scripts use, by name."""
    own = {
        path.name: path.read_bytes() for path in sorted(STATIC.iterdir()) if path.suffix in TYPES
    }
    made = {"house.css": page_kit.style_sheet(), "encoding.js": encoding.script()}
    return {**{name: text.encode() for name, text in made.items()}, **own}


@cache
def environment() -> Environment:
    """The kit's environment with the explorer's templates."""
    jinja = page_kit.environment("memaudit.lab.explorer", "memaudit.linting")
    jinja.globals.update(MOST_CHARACTERS=MOST_CHARACTERS, META_POLICY=META, anchor=anchor)
    return jinja


def read_templates() -> None:
    """Compile every page now, so that the first request does not wait for it."""
    jinja = environment()
    for name in sorted(path.name for path in TEMPLATES.glob("*.html")):
        jinja.get_template(name)


MOST_CACHED = 12
"""Packages whose optima are kept in memory."""

MOST_MADE = 5000
"""Results about some entries, such as their texts for search, kept until one of these changes."""

SERVED_SECONDS = 1.5
"""Seconds that one request works on a frontier. The page asks again until it is complete."""

Made = TypeVar("Made")
Tell = Callable[[str], None]
"""Called with a text when a piece of work begins."""


@dataclass
class Site:
    """Pages of a library. Bundled pages contain all their data, served pages may request more.

    `seconds` is the time for all the computing about one package in a bundle, and for one request
    on a server.
    """

    library: Library
    bundled: bool = False
    seconds: float = SERVED_SECONDS
    tell: Tell = lambda text: None  # noqa: ARG005 - nobody is told
    shown: frozenset[str] | None = None
    """In a bundle, the packages of runs that have pages; a server shows them all."""
    _optima: dict[tuple[Any, ...], PackageOptima] = field(default_factory=dict)
    _made: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def render(self, template: str, address: str, title: str, **context: Any) -> str:
        """A page from its template. Everything is escaped."""
        return (
            environment()
            .get_template(template)
            .render(
                title=title,
                address=address,
                root=addresses.path_to_root(address),
                bundled=self.bundled,
                addresses=addresses,
                version=VERSION,
                store_look=self.store_look,
                **context,
            )
        )

    def crumbs(self, entry: LibraryEntry, inside: bool = False) -> tuple[tuple[str, str], ...]:
        """The way back from a page of an entry; `inside` for the pages below its first one."""
        way: tuple[tuple[str, str], ...] = (addresses.list_link(entry.kind),)
        if run := entry.text(IS_OF_RUN):
            name = self.library.named("run", run).name
            way = (addresses.list_link("run"), (name, addresses.run(run, "packages.html")))
        return (*way, (entry.name, addresses.entry_address(entry))) if inside else way

    def package(self, slug: str) -> IndexedPackage:
        """A package by its name in addresses."""
        return self.library.package(self.library.named("package", slug))

    def rows(self, indexed: IndexedPackage) -> list[RunStore]:
        """The rows of the library's runs about a package."""
        runs = self.library.of("run")
        return self.made(lambda: run_stores(runs, indexed), runs, "rows", indexed.digest)

    def made(self, make: Callable[[], Made], entries: Iterable[LibraryEntry], *key: str) -> Made:
        """A result about some entries, made once and again when one of them changes."""
        full = (*key, *((entry.slug, entry.stamp) for entry in entries))
        with self._lock:
            if full not in self._made:
                self._made[full] = make()
                _drop_oldest(self._made, MOST_MADE)
            result: Made = self._made[full]
            return result

    def optima(self, indexed: IndexedPackage) -> PackageOptima:
        """The optima of exactly this package, at its budgets."""
        # A run or a score file may have brought new budgets: those are solved first.
        budgets = self.budgets(indexed)
        key = (indexed.entry.slug, indexed.digest, budgets)
        with self._lock:
            if key not in self._optima:
                seconds = self.seconds if self.bundled else math.inf
                self._optima[key] = PackageOptima(indexed, budgets, seconds)
                # A bundle writes all pages of a package before the next one.
                _drop_oldest(self._optima, 1 if self.bundled else MOST_CACHED)
            return self._optima[key]

    def budgets(self, indexed: IndexedPackage) -> tuple[Fraction, ...]:
        """The budgets that a package is meant for, those of runs about it, and those at which
        stores were scored."""
        ran = {row.budget for row in self.rows(indexed)}
        files = self.library.of("scores")
        scored = self.made(
            lambda: scored_budgets(self.library, indexed), files, "budgets", indexed.digest
        )
        return tuple(sorted({*indexed.package.budgets, *ran, *scored}))

    def store_look(self, name: str) -> Look:
        """The look of a store by its name."""
        stores = self.library.of("store")
        known = self.made(lambda: looks(entry.name for entry in stores), stores, "looks")
        return known[name] if name in known else looks([name])[name]

    def frontier(self, indexed: IndexedPackage) -> KnownFrontier:
        """The frontier. A server solves a little more at each request, a bundle solves once."""
        optima = self.optima(indexed)
        with optima.allowance.spend(self.seconds, FRONTIER_SHARE) as seconds:
            return optima.search.work(seconds)

    def entries(self, kind: Kind) -> tuple[LibraryEntry, ...]:
        """The entries of a kind that have their own pages."""
        entries = self.library.of(kind)
        if kind == "package" and self.shown is not None:
            entries += tuple(self.library.named(kind, slug) for slug in sorted(self.shown))
        return entries

    def has_page(self, package: LibraryEntry) -> bool:
        """Whether a package can be linked to."""
        return self.shown is None or "run" not in package.facts or package.slug in self.shown


def _drop_oldest(cache: dict[Any, Any], most: int = MOST_CACHED) -> None:
    while len(cache) > most:
        del cache[next(iter(cache))]


def find(pages: tuple[Page, ...], address: str) -> tuple[Page, PathParams]:
    for page in pages:
        if match := addresses.matcher(page.pattern).fullmatch(address):
            return page, match.groupdict()
    raise NotInLibrary("there is no such page")


def all_addresses(site: Site, pages: tuple[Page, ...]) -> Iterator[str]:
    """Every page of the site, entry by entry. Pages over the whole library come last, when it is
    known which entries cannot be opened."""
    for kind in KINDS:
        for entry in site.entries(kind):
            for page in pages:
                if page.owner == kind:
                    yield from _page_addresses(site, page, {kind: entry.slug})
    yield from (addresses.filled(page.pattern, {}) for page in pages if page.owner is None)


def _page_addresses(site: Site, page: Page, parts: PathParams) -> Iterator[str]:
    try:
        yield from [
            addresses.filled(page.pattern, instance) for instance in page.instances(site, parts)
        ]
    except MemAuditError:  # the first page of the entry says what is wrong with it
        return


def show(site: Site, pages: tuple[Page, ...], address: str, params: QueryParams) -> tuple[int, str]:
    """A page and its status. If it cannot be shown, the page says why."""
    try:
        page, parts = find(pages, address)
        return 200, page.render(site, parts, params)
    except NotInLibrary as error:
        return 404, _error_page(site, address, "Not found", str(error))
    except MemAuditError as error:
        return 422, _error_page(site, address, "Cannot be shown", str(error))


def _error_page(site: Site, address: str, title: str, reason: str) -> str:
    return site.render("error.html", address, title, reason=site.library.without_paths(reason))

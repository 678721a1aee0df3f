"""The site: a library, the pages over it, and a cache of what they computed."""

import math
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.version import VERSION
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.entries import KINDS, Kind, LibraryEntry
from memaudit.lab.explorer.library.indexed_package import IndexedPackage
from memaudit.lab.explorer.library.library import Library, NotInLibrary
from memaudit.lab.explorer.page import Page, PathParams, QueryParams
from memaudit.lab.explorer.pages.search import SearchText
from memaudit.lab.explorer.templating import environment
from memaudit.lab.explorer.views.optima import FRONTIER_SHARE, KnownFrontier, PackageOptima
from memaudit.lab.explorer.views.package_stores import (
    RunStore,
    run_stores,
    scored_budgets,
)
from memaudit.lab.explorer.views.run_slices import Slice, slice_of
from memaudit.show.encoding import Look, looks

MOST_CACHED = 12
"""Packages whose optima are kept in memory."""

MOST_MADE = 100
"""Results about some entries that are kept until one of these changes."""

MOST_TEXTS = 5000
"""Entries whose texts are kept for the next search."""

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
    _optima: dict[str, PackageOptima] = field(default_factory=dict)
    _made: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    _slices: dict[tuple[str, tuple[int, ...], str | None, int | None], Slice] = field(
        default_factory=dict
    )
    _texts: dict[tuple[str, tuple[int, ...]], list[SearchText]] = field(default_factory=dict)
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

    def package(self, slug: str) -> IndexedPackage:
        """A package by its name in addresses."""
        return self.library.package(self.library.named("package", slug))

    def rows(self, indexed: IndexedPackage) -> list[RunStore]:
        """The rows of the library's runs about a package."""
        runs = self.library.now("run")
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
        slug, budgets = indexed.entry.slug, self.budgets(indexed)
        with self._lock:
            known = self._optima.get(slug)
            if known is None or not known.fits(indexed, budgets):
                self._optima.pop(slug, None)
                seconds = self.seconds if self.bundled else math.inf
                self._optima[slug] = known = PackageOptima(indexed, budgets, seconds)
                # A bundle writes all pages of a package before the next one.
                _drop_oldest(self._optima, 1 if self.bundled else MOST_CACHED)
            return known

    def budgets(self, indexed: IndexedPackage) -> tuple[Fraction, ...]:
        """The budgets that a package is meant for, those of runs about it, and those at which
        stores were scored."""
        ran = {row.budget for row in self.rows(indexed)}
        files = self.library.now("scores")
        scored = self.made(
            lambda: scored_budgets(self.library, indexed), files, "budgets", indexed.digest
        )
        return tuple(sorted({*indexed.package.budgets, *ran, *scored}))

    def store_look(self, name: str) -> Look:
        """The look of a store by its name."""
        stores = self.library.of("store")
        known = self.made(lambda: looks(entry.name for entry in stores), stores, "looks")
        return known[name] if name in known else looks([name])[name]

    def slice(self, run: LibraryEntry, distribution: str | None, budget: int | None) -> Slice:
        """Part of a run, computed once."""
        key = (run.slug, run.stamp, distribution, budget)
        with self._lock:
            if key not in self._slices:
                self._slices[key] = slice_of(self.library.run(run), distribution, budget)
            return self._slices[key]

    def cached_texts(
        self, entry: LibraryEntry, read: Callable[[LibraryEntry], list[SearchText]]
    ) -> list[SearchText]:
        """The texts of an entry, cached while there is room for them."""
        key = (entry.slug, entry.stamp)
        with self._lock:
            if key in self._texts:
                return self._texts[key]
        made = read(entry)
        with self._lock:
            if len(self._texts) < MOST_TEXTS:
                self._texts[key] = made
        return made

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

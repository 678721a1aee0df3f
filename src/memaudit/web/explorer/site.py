"""The site: a library, the pages over it, and what they worked out so far."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.metadata import version
from typing import Any

from memaudit.core.errors import MemAuditError
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.entries import KINDS, Found, Kind
from memaudit.web.explorer.library.library import Library, NotHere
from memaudit.web.explorer.library.opened_package import Opened
from memaudit.web.explorer.library.raw_texts import Text
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.templating import environment
from memaudit.web.explorer.views.optima import Frontier, Workshop
from memaudit.web.explorer.views.package_stores import RunStore, run_stores
from memaudit.web.explorer.views.run_slices import Slice, slice_of

MOST_KEPT = 12
"""Packages whose optima are kept in memory."""

MOST_TEXTS = 5000
"""Things whose texts are kept for the next search."""

SERVED_SECONDS = 1.5
"""How long one request works on a frontier; the page asks again while it is not whole."""


@dataclass
class Site:
    """Pages of a library. `bundled` ones hold all their data; served ones may ask for more."""

    library: Library
    bundled: bool = False
    seconds: float = SERVED_SECONDS
    shown: frozenset[str] | None = None
    """In a bundle, the packages of runs that have pages; a server shows them all."""
    _workshops: dict[str, Workshop] = field(default_factory=dict)
    _rows: dict[tuple[str, tuple[Any, ...]], list[RunStore]] = field(default_factory=dict)
    _slices: dict[tuple[str, tuple[int, ...], str | None, int | None], Slice] = field(
        default_factory=dict
    )
    _texts: dict[tuple[str, tuple[int, ...]], list[Text]] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def render(self, template: str, address: str, title: str, **context: Any) -> str:
        """A page from its template; everything that is put in is escaped."""
        return environment().get_template(template).render(
            title=title, address=address, root=addresses.back(address), bundled=self.bundled,
            addresses=addresses, version=version("memaudit"), **context,
        )  # fmt: skip

    def package(self, slug: str) -> Opened:
        """A package by its name in addresses."""
        return self.library.package(self.library.named("package", slug))

    def rows(self, opened: Opened) -> list[RunStore]:
        """What runs of the library say about a package."""
        runs = self.library.now("run")
        key = (opened.digest, tuple((run.slug, run.stamp) for run in runs))
        with self._lock:
            if key not in self._rows:
                self._rows[key] = run_stores(runs, opened)
                _forget(self._rows)
            return self._rows[key]

    def workshop(self, opened: Opened) -> Workshop:
        """Where the optima of a package are worked out: of this very package, at its budgets."""
        slug, budgets = opened.found.slug, self.budgets(opened)
        with self._lock:
            known = self._workshops.get(slug)
            if known is None or not known.fits(opened, budgets):
                self._workshops.pop(slug, None)
                self._workshops[slug] = known = Workshop(opened, budgets)
                _forget(self._workshops)
            return known

    def budgets(self, opened: Opened) -> tuple[Fraction, ...]:
        """The budgets that a package is meant for, and those of runs about it."""
        ran = {one.budget for one in self.rows(opened)}
        return tuple(sorted({*opened.package.budgets, *ran}))

    def slice(self, run: Found, distribution: str | None, budget: int | None) -> Slice:
        """Part of a run, worked out once."""
        key = (run.slug, run.stamp, distribution, budget)
        with self._lock:
            if key not in self._slices:
                self._slices[key] = slice_of(self.library.run(run), distribution, budget)
            return self._slices[key]

    def kept_texts(self, found: Found, read: Callable[[Found], list[Text]]) -> list[Text]:
        """The texts of a thing, read once while there is room for them."""
        key = (found.slug, found.stamp)
        with self._lock:
            if key in self._texts:
                return self._texts[key]
        made = read(found)
        with self._lock:
            if len(self._texts) < MOST_TEXTS:
                self._texts[key] = made
        return made

    def frontier(self, opened: Opened) -> Frontier:
        """OPT along the budget: a server works on it a little more each time, a bundle once."""
        search = self.workshop(opened).search
        return search.work(max(0.0, self.seconds - search.spent) if self.bundled else self.seconds)

    def things(self, kind: Kind) -> tuple[Found, ...]:
        """Everything of a kind that has pages of its own."""
        found = self.library.of(kind)
        if kind == "package" and self.shown is not None:
            found += tuple(self.library.named(kind, slug) for slug in sorted(self.shown))
        return found

    def has_page(self, package: Found) -> bool:
        """Whether a package can be linked to."""
        return self.shown is None or "run" not in package.facts or package.slug in self.shown


def _forget(kept: dict[Any, Any]) -> None:
    while len(kept) > MOST_KEPT:
        del kept[next(iter(kept))]


def find(pages: tuple[Page, ...], address: str) -> tuple[Page, Parts]:
    """The page at an address."""
    for page in pages:
        if found := addresses.matcher(page.pattern).fullmatch(address):
            return page, found.groupdict()
    raise NotHere("there is no such page")


def all_addresses(site: Site, pages: tuple[Page, ...]) -> Iterator[str]:
    """Every page of the site, thing by thing; those over the whole library come last, when it is
    known what of it cannot be opened."""
    for kind in KINDS:
        for found in site.things(kind):
            for page in pages:
                if page.owner == kind:
                    yield from _inside(site, page, {kind: found.slug})
    yield from (addresses.filled(page.pattern, {}) for page in pages if page.owner is None)


def _inside(site: Site, page: Page, parts: Parts) -> Iterator[str]:
    try:
        yield from [addresses.filled(page.pattern, one) for one in page.inside(site, parts)]
    except MemAuditError:  # the thing's first page says what is wrong with it
        return


def show(site: Site, pages: tuple[Page, ...], address: str, asked: Asked) -> tuple[int, str]:
    """A page and its status; what cannot be shown is a page that says why."""
    try:
        page, parts = find(pages, address)
        return 200, page.render(site, parts, asked)
    except NotHere as error:
        return 404, _sorry(site, address, "Not here", str(error))
    except MemAuditError as error:
        return 422, _sorry(site, address, "Cannot be shown", str(error))


def _sorry(site: Site, address: str, title: str, reason: str) -> str:
    return site.render("sorry.html", address, title, reason=site.library.without_paths(reason))

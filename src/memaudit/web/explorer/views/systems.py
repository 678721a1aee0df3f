"""Stores of memory systems that were written for a package, as far as files say so."""

from memaudit.adapters.shape import ExportedStore
from memaudit.audits.written import examples_of
from memaudit.core.errors import MemAuditError
from memaudit.web.explorer.library.library import Library
from memaudit.web.explorer.library.opened import Opened
from memaudit.web.explorer.library.records import Found


def systems_of(library: Library, opened: Opened) -> list[tuple[Found, ExportedStore]]:
    """Stores that name the package themselves, or that a score file holds against it."""
    scored = _scored(library, opened.package.name)
    found = []
    for one in library.of("store"):
        try:
            store = library.store(one)
        except MemAuditError:  # listed as unreadable
            continue
        named = examples_of(store)
        if opened.package.name in named or (not named and store.name in scored):
            found.append((one, store))
    return found


def _scored(library: Library, package: str) -> set[str]:
    """The stores that score files hold against a package."""
    names: set[str] = set()
    for one in library.of("scores"):
        try:
            sheets = library.scores(one)
        except MemAuditError:
            continue
        names |= {row.store for sheet in sheets if sheet.package == package for row in sheet.scores}
    return names

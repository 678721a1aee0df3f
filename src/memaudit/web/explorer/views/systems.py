"""Stores of memory systems that were written for a package, as far as files say so."""

from collections.abc import Iterator
from dataclasses import dataclass

from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError
from memaudit.scoring.judged_store import examples_of
from memaudit.web.explorer.library.library import Library
from memaudit.web.explorer.library.opened import Opened
from memaudit.web.explorer.library.records import Found
from memaudit.web.explorer.library.score_sheets import Line, Sheet
from memaudit.web.explorer.views.scored_store import ScoredStore


@dataclass(frozen=True, slots=True)
class System:
    """A store that was written for a package, with its scores there and the files they are in."""

    found: Found
    store: ExportedStore
    scores: tuple[tuple[Found, Line], ...]


def systems_of(library: Library, opened: Opened) -> list[tuple[Found, ExportedStore]]:
    """Stores that name the package themselves, or that a score file holds against it."""
    return [(one.found, one.store) for one in systems(library, opened)]


def systems(library: Library, opened: Opened) -> list[System]:
    """The same with their scores. A score that is of none of the stores with its name may be of an
    earlier state of any of them: then they are all here."""
    lines = list(_lines(library, opened))
    known = [
        System(found, store, tuple(line for line in lines if scored.has(line[1])))
        for found, store in _exported(library)
        for scored in [ScoredStore(store)]
    ]
    settled = {one.store.name for one in known if one.scores}
    unsettled = {line.score.store for _, line in lines} - settled
    return [one for one in known if _belongs(one, opened.package.name, unsettled)]


def _belongs(one: System, package: str, unsettled: set[str]) -> bool:
    named = examples_of(one.store)
    if named:
        return package in named
    return bool(one.scores) or one.store.name in unsettled


def scored_in(library: Library, line: Line) -> Found | None:
    """The store that a score is of, where the library holds it."""
    named = _exported(library, line.score.store)
    return next((found for found, store in named if ScoredStore(store).has(line)), None)


def _exported(library: Library, name: str = "") -> Iterator[tuple[Found, ExportedStore]]:
    """Every store that can be read, or every one of a name."""
    for found in library.now("store"):
        if name in ("", found.name):
            try:
                yield found, library.store(found)
            except MemAuditError:  # listed as unreadable
                continue


def _lines(library: Library, opened: Opened) -> Iterator[tuple[Found, Line]]:
    """The scores about a package."""
    name = opened.package.name
    for found in library.now("scores"):
        if found.count("packages") == 1 and found.text("package") != name:
            continue  # not opened for nothing
        try:
            sheets = library.score_sheets(found)
        except MemAuditError:  # listed as unreadable
            continue
        about = {id(sheet) for sheet in sheets.sheets if _is_about(library, opened, sheet)}
        yield from ((found, line) for line in sheets.lines if id(line.sheet) in about)


def _is_about(library: Library, opened: Opened, sheet: Sheet) -> bool:
    """By digest; by name alone where no other package of the name has the digest, since costs by
    another rule change it."""
    if sheet.digest == opened.digest:
        return True
    others = (one for one in library.of("package") if one.name == sheet.package)
    return sheet.package == opened.package.name and all(
        one.text("digest") != sheet.digest for one in others
    )

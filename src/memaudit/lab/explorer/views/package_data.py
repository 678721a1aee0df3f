"""A package as data for scripts, and links to its pages from records that name it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.package.package import EvidenceUnit
from memaudit.kernel.package.response import Capped, Piecewise, Response
from memaudit.kernel.package.unit_parts import whole_units
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.addresses import anchor, slug
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.library.packages import IndexedPackage
from memaudit.show.encoding import kind_look
from memaudit.show.page_numbers import shortened, visible_text

MOST_CHARACTERS = 280
"""Longer texts are cut. The stream has them in full."""


def shown(text: str | None, most: int = MOST_CHARACTERS) -> str:
    """A text that scripts may show. Invisible characters are written as escapes."""
    cut = shortened(text or "", most)
    return cut if cut.isprintable() else visible_text(cut)


def package_data(indexed: IndexedPackage) -> dict[str, Any]:
    """Candidates, units, queries and coverage."""
    kind_at = {kind: place for place, kind in enumerate(indexed.kinds)}
    sessions = list(dict.fromkeys(item.session or "" for item in indexed.experiences))
    session_at = {session: place for place, session in enumerate(sessions)}
    weights = indexed.package.weights
    wholes = {
        unit.id: place
        for place, whole in enumerate(whole_units(indexed.units))
        for unit in whole.units
    }
    return {
        "kinds": [shown(kind, 40) for kind in indexed.kinds],
        "kind_looks": [[look.tone, shown(look.letters)] for look in map(kind_look, indexed.kinds)],
        "sessions": [shown(session, 40) for session in sessions],
        "experiences": {
            "session": [session_at[item.session or ""] for item in indexed.experiences],
            "time": [shown(item.timestamp, 40) for item in indexed.experiences],
        },
        "candidates": {
            "id": [shown(item.id, 60) for item in indexed.candidates],
            "anchor": [anchor("candidates", item.id) for item in indexed.candidates],
            "experience": [indexed.experience_at[item.experience] for item in indexed.candidates],
            "kind": [kind_at[item.kind] for item in indexed.candidates],
            "cost": [script_number(item.cost) for item in indexed.candidates],
            "text": [shown(item.text) for item in indexed.candidates],
        },
        "units": {
            "id": [shown(item.id, 60) for item in indexed.units],
            "kind": [shown(item.kind, 40) for item in indexed.units],
            "whole": [wholes[item.id] for item in indexed.units],
            "weight": [script_number(weights[item.id]) for item in indexed.units],
            "text": [shown(item.text) for item in indexed.units],
            "h": [_response(item.response) for item in indexed.units],
        },
        "cells": [
            [[unit, script_number(cell.value)] for unit, cell in row] for row in indexed.cells
        ],
        "queries": [
            sorted({indexed.unit_at[unit] for unit in query.required})
            for query in indexed.package.queries
        ],
    }


def script_number(number: Fraction) -> int | float:
    """A number for a script, an integer if possible."""
    return number.numerator if number.denominator == 1 else float(number)


def _response(response: Response) -> Any:
    """h for a script: a cap, the corners of a line, or the name of a curve."""
    if isinstance(response, Capped):
        return float(response.cap)
    if isinstance(response, Piecewise):
        return [[float(x), float(y)] for x, y in response.points]
    return response.shape if response.cap is None else [response.shape, float(response.cap)]


def number_text(number: Any) -> str:
    """An exact number as its files write it."""
    return str(plain(number))


MOST_TRIED = 4
"""Packages of one name that are opened to find the right one."""


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses in a package, None if the library lacks it. `same` if the digest matches."""

    indexed: IndexedPackage | None = None
    same: bool = False

    @property
    def package(self) -> str | None:
        return addresses.package(self.indexed.entry.slug) if self.indexed else None

    def query(self, id: str) -> str | None:
        name = slug(id)
        if self.indexed is None or name not in self.indexed.query_slugs:
            return None
        return addresses.query(self.indexed.entry.slug, name)

    def unit(self, id: str) -> str | None:
        """The row of a unit among those that cover it."""
        if self.indexed is None or id not in self.indexed.unit_at:
            return None
        page = addresses.package(self.indexed.entry.slug, "coverage.html")
        return f"{page}#{anchor('units', id)}"

    def candidate(self, id: str) -> str | None:
        if self.indexed is None or id not in self.indexed.candidate_at:
            return None
        page = addresses.package(self.indexed.entry.slug, "stream.html")
        return f"{page}#{anchor('candidates', id)}"

    def package_unit(self, id: str) -> EvidenceUnit | None:
        """The unit of that id. Another package of this name may use the id for another unit."""
        if self.indexed is None or id not in self.indexed.unit_at:
            return None
        return self.indexed.units[self.indexed.unit_at[id]]


def package_links(library: Library, name: str, digest: str = "") -> Links:
    """The package of that name. If there are several, the one with this digest."""
    named = [entry for entry in library.of("package") if entry.name == name]
    named.sort(key=lambda entry: entry.text("digest") != digest)
    known = Links()
    for entry in named[:MOST_TRIED]:
        try:
            indexed = library.package(entry)
        except MemAuditError:  # listed as unreadable
            continue
        if not digest or indexed.digest == digest:
            return Links(indexed, True)
        if known.indexed is None:
            known = Links(indexed)
    return known

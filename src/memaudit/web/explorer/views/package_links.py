"""From records that name a package to its pages, as far as the library holds it."""

from dataclasses import dataclass

from memaudit.core.errors import MemAuditError
from memaudit.core.package import EvidenceUnit
from memaudit.web.explorer import addresses
from memaudit.web.explorer.addresses import anchor, slug
from memaudit.web.explorer.library.library import Library
from memaudit.web.explorer.library.opened_package import Opened

MOST_TRIED = 4
"""Packages of one name that are opened to find the one that is meant."""


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses in a package; all None where it is not here. `same` if it has the digest named."""

    opened: Opened | None = None
    same: bool = False

    @property
    def package(self) -> str | None:
        """The package itself."""
        return addresses.package(self.opened.found.slug) if self.opened else None

    def query(self, id: str) -> str | None:
        """The page of a query."""
        name = slug(id)
        if self.opened is None or name not in self.opened.query_slugs:
            return None
        return addresses.query(self.opened.found.slug, name)

    def unit(self, id: str) -> str | None:
        """The row of a unit among those that cover it."""
        if self.opened is None or id not in self.opened.unit_at:
            return None
        page = addresses.package(self.opened.found.slug, "coverage.html")
        return f"{page}#{anchor('units', id)}"

    def candidate(self, id: str) -> str | None:
        """A candidate in the stream."""
        if self.opened is None or id not in self.opened.candidate_at:
            return None
        page = addresses.package(self.opened.found.slug, "stream.html")
        return f"{page}#{anchor('candidates', id)}"

    def told(self, id: str) -> EvidenceUnit | None:
        """A unit of that id; another package of the name may mean something else by it."""
        if self.opened is None or id not in self.opened.unit_at:
            return None
        return self.opened.units[self.opened.unit_at[id]]


def package_links(library: Library, name: str, digest: str = "") -> Links:
    """The package of that name, the one with this digest where there are several."""
    named = [one for one in library.of("package") if one.name == name]
    named.sort(key=lambda one: one.text("digest") != digest)
    known = Links()
    for one in named[:MOST_TRIED]:
        try:
            opened = library.package(one)
        except MemAuditError:  # listed as unreadable
            continue
        if not digest or opened.digest == digest:
            return Links(opened, True)
        if known.opened is None:
            known = Links(opened)
    return known

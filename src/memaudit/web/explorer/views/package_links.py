"""Links from records that name a package to its pages, if the library has it."""

from dataclasses import dataclass

from memaudit.core.errors import MemAuditError
from memaudit.core.package import EvidenceUnit
from memaudit.web.explorer import addresses
from memaudit.web.explorer.addresses import anchor, slug
from memaudit.web.explorer.library.indexed_package import IndexedPackage
from memaudit.web.explorer.library.library import Library

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

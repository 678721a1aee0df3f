"""The cheapest store that covers a query, worked out by hand."""

from fractions import Fraction
from pathlib import Path

from memaudit.core.package import Package, Query
from memaudit.web.explorer.library.entries import LibraryEntry
from memaudit.web.explorer.library.indexed_package import IndexedPackage
from memaudit.web.explorer.pages.query import cheapest


def indexed(package: Package) -> IndexedPackage:
    return IndexedPackage(LibraryEntry("package", "p-0", package.name, "p", Path("p")), package)


def test_the_cheapest_cover_of_a_query(tiny: Package) -> None:
    """m3 alone covers u2, for a third."""
    cover = cheapest(indexed(tiny), tiny.queries[0])
    assert cover is not None
    assert (cover.cost, cover.store, cover.is_full) == (Fraction(1, 3), ("m3",), True)


def test_a_query_that_nothing_covers(tiny: Package) -> None:
    bare = tiny.replace(coverage=tuple(cell for cell in tiny.coverage if cell.unit != "u2"))
    assert cheapest(indexed(bare), bare.queries[0]) is None


def test_a_query_that_is_covered_in_part(tiny: Package) -> None:
    """Only half of u1 can be covered once m1 is gone: for 1, by m2."""
    half = tiny.replace(
        candidates=tuple(candidate for candidate in tiny.candidates if candidate.id != "m1"),
        coverage=tuple(cell for cell in tiny.coverage if cell.candidate != "m1"),
        queries=(Query(id="q", required=("u1",)),),
    )
    cover = cheapest(indexed(half), half.queries[0])
    assert cover is not None
    assert (cover.cost, cover.store, cover.is_full) == (1, ("m2",), False)

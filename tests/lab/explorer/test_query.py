"""The cheapest store that covers a query, worked out by hand."""

from fractions import Fraction
from pathlib import Path

from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.package import Package, Query
from memaudit.kernel.package.unit_parts import part_units
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.entries import LibraryEntry
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.library.packages import IndexedPackage
from memaudit.lab.explorer.pages.query import cheapest
from memaudit.lab.explorer.site import Site
from tests.kernel.package.test_unit_parts import MOVED, PARTS, package_of
from tests.lab.explorer.site_pages import entry_named, page, words_of
from tests.show.html_tree import Tree


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


def test_a_statement_is_one_row(tmp_path: Path) -> None:
    """Both candidates have the core, half of the weight, and one of two quarters beside it. A
    question about the date alone needs one part."""
    kept = {"a": ["u7#what", "u7#who"], "b": ["u7#what", "u7#when"]}
    package = package_of(part_units(MOVED, PARTS), kept, ["u7"])
    date = Query(id="date", text="When?", required=("u7#when",))
    write_package(package.replace(queries=(*package.queries, date)), tmp_path / "p.json")
    site = Site(Library([tmp_path]))
    asked = [page(site, address) for address in addresses_of(site)]
    found = []
    for tree in asked:
        assert [element.text for element in tree.named("h2")] == [MOVED.text, "Keys"]
        (body,) = tree.named("tbody")
        found.append([[words_of(cell) for cell in row.children][:5] for row in body.children])
    assert found == [
        [["a", "fact", "1", "0.75", "what, who"], ["b", "fact", "1", "0.75", "what, when"]],
        [["b", "fact", "1", "1", "when"]],
    ]
    assert "Cheapest full cover cost 2" in words(asked[0])
    assert "Cheapest full cover cost 1" in words(asked[1])


def addresses_of(site: Site) -> list[str]:
    entry = entry_named(site, "package", "p")
    return [addresses.query(entry.slug, slug) for slug in site.package(entry.slug).query_slugs]


def words(tree: Tree) -> str:
    return " ".join(tree.text.split())

"""The page of a query."""

from pathlib import Path

from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.package import Query
from memaudit.kernel.package.unit_parts import part_units
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.site import Site
from tests.kernel.package.test_unit_parts import MOVED, PARTS, package_of
from tests.lab.explorer.site_pages import entry_named, page, words_of


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


def addresses_of(site: Site) -> list[str]:
    entry = entry_named(site, "package", "p")
    return [addresses.query(entry.slug, slug) for slug in site.package(entry.slug).query_slugs]

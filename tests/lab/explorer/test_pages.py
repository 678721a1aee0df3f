"""Every page of the site: it can be made, its links lead somewhere, and tables need no script."""

import re
from pathlib import Path
from urllib.parse import unquote, urljoin

import pytest
from hypothesis import HealthCheck, given, settings

from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.package import Package
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.pages import PAGES
from memaudit.lab.explorer.site import Site, all_addresses, show
from tests.lab.explorer.site_pages import page, slug_of, table_rows
from tests.lab.labels.test_unit_parts import PACKAGE as PARTS
from tests.show.html_tree import Tree
from tests.strategies import packages


@pytest.mark.parametrize(
    "bundle_name",
    ["bundle", "records_bundle", pytest.param("hostile_bundle", marks=pytest.mark.slow)],
)
def test_links_lead_to_pages_and_rows(bundle_name: str, request: pytest.FixtureRequest) -> None:
    """Every relative link and every row it names is in the bundle. Ids are unique."""
    folder = request.getfixturevalue(bundle_name)
    trees = {
        str(path.relative_to(folder)): Tree(path.read_text()) for path in folder.rglob("*.html")
    }
    ids = {
        name: [element.attributes["id"] for element in tree.elements if "id" in element.attributes]
        for name, tree in trees.items()
    }
    assert len(trees) > 40
    for name, tree in trees.items():
        assert len(ids[name]) == len(set(ids[name])), name
        for element in tree.elements:
            link = element.attributes.get("href") or element.attributes.get("src")
            if link is None or link == "data:,":
                continue
            target = urljoin(f"http://x/{name}", link).removeprefix("http://x/")
            address, _, row = target.partition("#")
            assert (folder / unquote(address)).is_file(), (name, link)
            assert not row or row in ids[address], (name, link)


def test_served_and_bundled_pages_are_the_same(site: Site, bundle: Path) -> None:
    served = set(all_addresses(site, PAGES))
    there = {
        str(path.relative_to(bundle))
        for path in bundle.rglob("*.*")
        if path.parent.name != "static" and path.name != "site.json"
    }
    assert served <= there
    for address in sorted(served)[::7]:
        if address.endswith(".html") and (bundle / address).is_file():
            status, text = show(site, PAGES, address, {})
            headings = [element.all_text for element in Tree(text).named("h1", "h2")]
            other = [
                element.all_text
                for element in Tree((bundle / address).read_text()).named("h1", "h2")
            ]
            assert headings == other, (address, status)


def test_the_index_lists_everything(site: Site) -> None:
    tree = page(site, "index.html")
    for one in site.library.items:
        assert one.name in tree.text
        assert one.place in tree.text
    assert "nests too deeply" in tree.text


def test_a_run_without_scripts(site: Site) -> None:
    """A part of the run is asked for in the address."""
    address = f"run/{slug_of(site, 'run', 'a-run')}/index.html"
    tree = page(site, address, d="base", b="4")
    assert len(table_rows(tree, "pairs")) == 10
    assert "3 packages count here" in tree.text
    chosen = [
        element.all_text for element in tree.named("option") if "selected" in element.attributes
    ]
    assert chosen == ["base", "4"]
    for wrong in ("99", "-1", "x", "²", "0"):
        page(site, address, d=wrong, b=wrong)


def test_a_query_page_says_who_covers_at_what_cost(site: Site) -> None:
    indexed = site.package(slug_of(site, "package", "hotel-rooms"))
    slug = next(iter(indexed.query_slugs))
    tree = page(site, f"package/{indexed.entry.slug}/query/{slug}.html")
    assert "Where in a hotel should Ingrid's room be?" in tree.text
    (table,) = tree.named("tbody")
    assert len([element for element in table.children if element.name == "tr"]) == len(
        indexed.coverers[indexed.unit_at["u1"]]
    )


def test_stores_without_scripts(site: Site) -> None:
    """OPT at the budget asked for, every deployable writer, and a system's store, estimated."""
    slug = slug_of(site, "package", "hotel-rooms")
    tree = page(site, f"package/{slug}/stores.html", budget="12")
    assert "2 memories of cost 11, worth 3 of 5." in re.sub(r"\s+", " ", tree.text)
    names = [row[0] for row in table_rows(tree, "stores-table")]
    assert "Mem0-style extraction (proxy)" in names
    ((store, score, judge, *_),) = table_rows(tree, "systems-table")
    assert store.startswith("notes")
    assert score == "–"  # noqa: RUF001 - a dash
    assert judge.startswith("nobody at this budget")
    assert judge.endswith("estimated from shared words")


def test_rows_of_a_run_are_stores_of_the_package(site: Site) -> None:
    """The file base-1.json is a package of the run: its page shows what the run's writers kept."""
    slug = slug_of(site, "package", "base-1")
    rows = site.rows(site.package(slug))
    assert {(row.member.name, row.budget) for row in rows} == {
        (name, budget)
        for name in ("opt", "greedy", "mem0_style", "random_feasible", "recency_raw")
        for budget in (2, 4)
    }
    tree = page(site, f"package/{slug}/stores.html", budget="4")
    assert "run a-run" in tree.text


@pytest.mark.parametrize(
    "address",
    [
        "nothing.html",
        "package/nobody-0000000000/index.html",
        "package/../index.html",
        "run/x",
        "package//index.html",
        "index.html/",
        "certificate/x-0000000000.html",
        "%2e%2e/x",
        "\x00",
    ],
)
def test_what_is_not_here(site: Site, address: str) -> None:
    status, text = show(site, PAGES, address, {})
    assert status == 404
    assert Tree(text).named("h1")[0].text == "Not found"


def test_an_unreadable_package_says_why(site: Site) -> None:
    status, text = show(site, PAGES, f"package/{slug_of(site, 'package', 'w')}/stream.html", {})
    assert status == 422
    assert "the table &#39;experiences&#39; is missing" in text


def test_search_finds_texts(site: Site) -> None:
    tree = page(site, "search.html", q="lift ROOM")
    hits = [element for element in tree.named("li") if element.attributes.get("class") == "row"]
    assert hits
    assert all("hotel-rooms" in one.all_text or "notes" in one.all_text for one in hits)
    assert "Nothing contains all of these words" in page(site, "search.html", q="zzzzz").text
    page(site, "search.html", q=" ")


@given(packages())
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.slow
def test_any_package_has_pages(tmp_path_factory: pytest.TempPathFactory, package: Package) -> None:
    """Empty tables, zeros, irrational h: every page can be made, served and bundled."""
    folder = tmp_path_factory.mktemp("any")
    write_package(package, folder / "one.json")
    for bundled in (False, True):
        site = Site(Library([folder]), bundled=bundled, seconds=20.0)
        for address in all_addresses(site, PAGES):
            status, text = show(site, PAGES, address, {})
            assert status == 200, text
            if address.endswith(".html"):
                Tree(text)


def test_parts_are_listed_under_their_statement(tmp_path: Path) -> None:
    """One row per statement, with the share that each candidate keeps: m0 keeps 3/4 of u7."""
    write_package(PARTS, tmp_path / "p.json")
    site = Site(Library([tmp_path]))
    slug = slug_of(site, "package", "p")
    tree = page(site, f"package/{slug}/coverage.html")
    rows = table_rows(tree, "units-table")
    assert len(rows) == 3
    statement = rows[0][0]
    assert statement.startswith("Ana moved to Lisbon in May")
    assert "what (core): to Lisbon 50%, kept by 1" in statement
    assert "when: in May 25%, kept by 0" in statement
    assert rows[0][2:] == ["4", "1", "(1: 0.75) m0"]

"""The page of an exported store."""

from pathlib import Path

from memaudit.kernel.io.store_file import ExportedStore, Memory, Origin, write_store
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.pages.store import MOST_ROWS
from memaudit.lab.explorer.site import Site
from tests.lab.explorer.site_pages import (
    element_with,
    hrefs,
    page,
    refused,
    slug_of,
    table_rows,
    words_of,
)


def large(folder: Path, count: int) -> tuple[Site, str]:
    """A store of so many memories, every tenth of them deleted, and its name in addresses."""
    folder.mkdir()
    memories = tuple(
        Memory(id=f"m{n}", text=f"said number {n}", state="active" if n % 10 else "deleted")
        for n in range(1, count + 1)
    )
    origin = Origin(system="s", format="plain")
    write_store(ExportedStore(name="large", origin=origin, memories=memories), folder / "s.json")
    site = Site(Library([folder]))
    return site, slug_of(site, "store", "large")


def test_counts_warnings_and_memories(records_site: Site) -> None:
    tree = page(
        records_site,
        f"store/{slug_of(records_site, 'store', 'digest', 'stores/')}/index.html",
    )
    facts = {
        element.children[0].all_text: words_of(element.children[1])
        for element in tree.named("div")
        if [child.name for child in element.children] == ["dt", "dd"]
    }
    assert facts["Rows read"] == "5"
    assert facts["Kept"] == "2"
    assert facts["Inactive"] == "0"
    assert facts["Skipped"] == "3 no text 3"
    assert facts["System"] == "own notes"
    assert "truncated: the list may go on" in element_with(tree, "warnings").all_text
    first, second = table_rows(tree, "memories-table")
    assert first[0] == "1"
    assert first[1].startswith("Ingrid's usual hotel requests, whatever the city")
    assert second[1:] == [
        "A man called Anders works at the hotel in Gothenburg. digest-2",
        "active",
        '{"turn": 2}',
    ]


def test_it_leads_to_scores_and_packages(records_site: Site) -> None:
    package = slug_of(records_site, "package", "hotel-rooms")
    for folder, scores in (("stores/", 2 + 2), ("named/", 1)):  # two budgets in two files, and one
        tree = page(
            records_site,
            f"store/{slug_of(records_site, 'store', 'notes', folder)}/index.html",
        )
        links = hrefs(tree)
        assert sum("/at/" in href for href in links) == scores
    assert any(f"package/{package}/stores.html" in href for href in links)


def test_a_long_store_has_pages_and_nothing_is_left_out(tmp_path: Path) -> None:
    site, slug = large(tmp_path / "in", 2 * MOST_ROWS + 1)
    first = page(site, f"store/{slug}/index.html")
    assert f"memories 1 to 1,000 of {2 * MOST_ROWS + 1:,}; page 1 of 3" in first.text
    numbers = [
        row[0]
        for name in ("index", "index-2", "index-3")
        for row in table_rows(page(site, f"store/{slug}/{name}.html"), "memories-table")
    ]
    assert numbers == [f"{n:,}" for n in range(1, 2 * MOST_ROWS + 2)]
    for name in ("index-1", "index-4", "index-0", "index-02", "index-x"):
        assert refused(site, f"store/{slug}/{name}.html")[0] == 404


def test_an_empty_store(tmp_path: Path) -> None:
    site, slug = large(tmp_path / "in", 0)
    assert "The store is empty." in page(site, f"store/{slug}/index.html").text

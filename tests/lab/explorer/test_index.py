"""The first page says what is here, and leads to reports of the folders."""

import json
from pathlib import Path

import pytest

from memaudit.board.board_of_scores import board_of_scores
from memaudit.board.board_page import write_board_page
from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.io.store_file import ExportedStore, Memory, Origin, write_store
from memaudit.kernel.score.score_files import read_scores
from memaudit.lab.explorer.bundle import write_bundle
from memaudit.lab.explorer.library import entries
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.site import Site
from tests.lab.explorer.site_pages import hrefs, page, refused, table_rows
from tests.show.board.scores import row, write
from tests.show.html_tree import Tree


def lede(tree: Tree) -> str:
    (sentence,) = [one for one in tree.named("p") if one.attributes.get("class") == "lede"]
    return sentence.text


def test_what_is_here_in_a_sentence(records_site: Site, tmp_path: Path) -> None:
    assert lede(page(records_site, "index.html")) == (
        "Here are 2 packages, 4 stores of memory systems, 3 score files and 1 diagnosis."
    )
    site = Site(Library([tmp_path]))
    assert "Nothing of MemAudit was found" in page(site, "index.html").text
    write_package(short_set()[0], tmp_path / "one.json")
    site.library.refresh()
    assert lede(page(site, "index.html")) == "Here is 1 package."


def store_of(count: int, *examples: str) -> ExportedStore:
    text = 'a "quoted" word, "example": "no"'
    memories = tuple(
        Memory(id=f"m{n}", text=text, example=examples[n % len(examples)]) for n in range(count)
    )
    return ExportedStore(name="mem0", origin=Origin(system="s", format="plain"), memories=memories)


def test_stores_of_one_name_are_told_apart_by_package(tmp_path: Path) -> None:
    """By what they say themselves."""
    write_store(store_of(2, "ann"), tmp_path / "a.json")
    write_store(store_of(5000, "bo", "cy", "di", "ed", 'f "g"'), tmp_path / "b.json")
    site = Site(Library([tmp_path]))
    listed = table_rows(page(site, "index.html"), "stores-table")
    assert [(one[0], one[1]) for one in listed] == [
        ("mem0 on ann", "2 memories, s"),
        ("mem0 on bo, cy, di and 2 more", "5,000 memories, s"),
    ]


def test_of_a_file_too_long_to_parse_the_beginning_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries, "WHOLE", 1000)
    write_store(store_of(5000, "ann"), tmp_path / "a.json")
    site = Site(Library([tmp_path]))
    assert table_rows(page(site, "index.html"), "stores-table")[0][0] == "mem0"
    assert len(site.library.store(site.library.of("store")[0]).memories) == 5000


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """A board among its scores, and HTML that is not ours."""
    folder = tmp_path / "in"
    folder.mkdir()
    write(folder, "p", row("a", "1/2"))
    write_board_page(board_of_scores(read_scores(folder)), folder / "board <b>.html")
    ours = (folder / "board <b>.html").read_text()
    (folder / "other.html").write_text("<!doctype html><title>x · MemAudit</title>")
    (folder / "script.html").write_text(f"<script>alert(1)</script>{ours}")
    (folder / "policy.html").write_text(ours.replace("default-src 'none'; ", "", 1))
    (folder / "empty.html").write_text("")
    away = '<meta http-equiv="refresh" content="0; url=//evil.example">'
    (folder / "first.html").write_text(ours.replace("<title>", f"{away}<title>", 1))
    return folder


def test_reports_of_the_folder_are_linked(reports: Path, tmp_path: Path) -> None:
    """Only those whose policy comes before anything else; in a bundle, byte for byte."""
    site = Site(Library([reports]))
    (entry,) = site.library.of("page")
    tree = page(site, "index.html")
    assert f"page/{entry.slug}.html" in hrefs(tree)
    assert table_rows(tree, "reports-table")[0][:2] == [
        "board <b>",
        "Stores of memory systems, side by side",
    ]
    assert "1 report" in lede(tree)
    write_bundle(Library([reports]), tmp_path / "site", 20.0)
    copied = tmp_path / "site" / "page" / f"{entry.slug}.html"
    assert copied.read_bytes() == (reports / "board <b>.html").read_bytes()
    assert len(list(copied.parent.iterdir())) == 1


@pytest.mark.parametrize("away", [True, False], ids=["leads away", "script"])
def test_a_report_that_changed_is_not_shown(reports: Path, away: bool) -> None:
    """A page that would leave for another address is not ours, wherever it says so."""
    site = Site(Library([reports]))
    (entry,) = site.library.of("page")
    leaving = entry.path.read_text().replace("</main>", '<META http-equiv="refresh"></main>')
    entry.path.write_text(leaving if away else "<script>alert(1)</script>")
    status, text = refused(site, f"page/{entry.slug}.html")
    assert status == 404
    assert "alert(1)" not in text


def test_the_search_of_a_bundle_knows_reports(reports: Path, tmp_path: Path) -> None:
    write_bundle(Library([reports]), tmp_path / "site", 20.0)
    tree = Tree((tmp_path / "site" / "search.html").read_text())
    (data,) = [one.text for one in tree.named("script") if one.attributes.get("id") == "data"]
    assert [thing[0] for thing in json.loads(data)["things"]] == ["scores", "page"]

"""The first page says what is here, what is best, and where to begin."""

import json
import shutil
from pathlib import Path

import pytest

from memaudit.board.board_of_scores import board_of_scores
from memaudit.board.board_page import write_board_page
from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.io.store_file import ExportedStore, Memory, Origin, write_store
from memaudit.kernel.score.score_files import read_scores
from memaudit.lab.explorer.bundle import write_bundle
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.pages.run import run_part
from memaudit.lab.explorer.site import Site
from tests.lab.explorer.site_pages import hrefs, page, refused, slug_of, table_rows, words_of
from tests.show.board.scores import row, write
from tests.show.html_tree import Tree


def begin(tree: Tree) -> tuple[str, str]:
    """The address of the first link to press, and what stands above it."""
    (panel,) = [
        one for one in tree.named("section") if one.attributes.get("class") == "panel first"
    ]
    (button,) = [one for one in tree.named("a") if one.attributes.get("class") == "button"]
    return button.attributes["href"] or "", words_of(panel)


def lede(tree: Tree) -> str:
    (sentence,) = [one for one in tree.named("p") if one.attributes.get("class") == "lede"]
    return sentence.text


def test_scores_come_before_runs(records_site: Site) -> None:
    """By shared words the notes keep 0.778 at 24. It leads to the stores of their package."""
    tree = page(records_site, "index.html")
    assert lede(tree) == (
        "Here are 2 packages, 4 stores of memory systems, 3 score files, 3 audits of labels and 1 "
        "diagnosis."
    )
    address, said = begin(tree)
    assert address == f"package/{slug_of(records_site, 'package', 'hotel-rooms')}/stores.html"
    for word in ("notes", "0.778", "24", "an estimate"):
        assert word in said


def test_a_labelled_score_is_better_than_a_higher_estimate(tmp_path: Path) -> None:
    guess = {"judge": "lexical", "coverage_is_an_estimate": True}
    write(tmp_path, "guessed", row("a", "1"), row("b", None), **guess)
    write(tmp_path, "labelled", row("a", "1/2"), row("b", "1/4"))
    site = Site(Library([tmp_path]))
    address, said = begin(page(site, "index.html"))
    assert "0.500" in said
    assert "labels people" in said
    assert address == f"scores/{slug_of(site, 'scores', 'labelled')}/index.html"


def test_a_run_has_its_best_writer(site: Site, plain: Path, tmp_path: Path) -> None:
    """References do not count: OPT would always be the best."""
    shutil.copytree(plain / "a-run", tmp_path / "a-run")
    alone = Site(Library([tmp_path]))
    address, said = begin(page(alone, "index.html"))
    assert address == f"run/{slug_of(alone, 'run', 'a-run')}/index.html"
    places = [
        place
        for place in run_part(site, site.library.of("run")[0], None, None).places
        if place.member.group != "reference"
    ]
    assert places[0].member.label in said
    assert f"{places[0].interval.mean:.3f}" in said


def test_packages_alone_and_nothing(tmp_path: Path) -> None:
    site = Site(Library([tmp_path]))
    assert "Nothing of MemAudit was found" in page(site, "index.html").text
    write_package(short_set()[0], tmp_path / "one.json")
    site.library.refresh()
    tree = page(site, "index.html")
    assert lede(tree) == "Here is 1 package."
    address, said = begin(tree)
    assert address == f"package/{site.library.of('package')[0].slug}/index.html"
    assert "Nothing is scored here yet" in said


def store_of(count: int, *examples: str) -> ExportedStore:
    text = 'a "quoted" word, "example": "no"'
    memories = tuple(
        Memory(id=f"m{n}", text=text, example=examples[n % len(examples)]) for n in range(count)
    )
    return ExportedStore(name="mem0", origin=Origin(system="s", format="plain"), memories=memories)


def test_stores_of_one_name_are_told_apart_by_package(tmp_path: Path) -> None:
    """By what they say themselves, in short files and in long ones, or by what was scored."""
    write_store(store_of(2, "ann"), tmp_path / "a.json")
    write_store(store_of(5000, "bo", "cy", "di", "ed", 'f "g"'), tmp_path / "b.json")
    bare = store_of(1, "x").model_copy(
        update={"memories": (Memory(id="m", text="one two three four five"),)}
    )
    write_store(bare, tmp_path / "c.json")
    scored = row("mem0", "1/2")
    scored["written"]["memories"] = 1
    write(tmp_path, "gus", scored)
    site = Site(Library([tmp_path]))
    listed = table_rows(page(site, "index.html"), "stores-table")
    assert [(one[0], one[1]) for one in listed] == [
        ("mem0 on ann", "2 memories, s"),
        ("mem0 on bo, cy, di and 2 more", "5,000 memories, s"),
        ("mem0 on gus", "1 memory, s"),
    ]


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


def test_a_report_that_changed_is_not_shown(reports: Path) -> None:
    site = Site(Library([reports]))
    (entry,) = site.library.of("page")
    (reports / "board <b>.html").write_text("<script>alert(1)</script>")
    status, text = refused(site, f"page/{entry.slug}.html")
    assert status == 404
    assert "alert(1)" not in text


def test_a_report_does_not_lead_away(reports: Path) -> None:
    """A page that would leave for another address is not ours, wherever it says so."""
    site = Site(Library([reports]))
    (entry,) = site.library.of("page")
    text = entry.path.read_text().replace("</main>", '<META http-equiv="refresh"></main>')
    entry.path.write_text(text)
    site.library.refresh()
    status, _ = refused(site, f"page/{site.library.of('page')[0].slug}.html")
    assert status == 404


def test_the_search_of_a_bundle_knows_reports(reports: Path, tmp_path: Path) -> None:
    write_bundle(Library([reports]), tmp_path / "site", 20.0)
    tree = Tree((tmp_path / "site" / "search.html").read_text())
    (data,) = [one.text for one in tree.named("script") if one.attributes.get("id") == "data"]
    assert [thing[0] for thing in json.loads(data)["things"]] == ["scores", "page"]

"""Pages of a diagnosis: outcomes, lists of questions, chains of evidence."""

import re
from pathlib import Path

import pytest

from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.pages.diagnosis import (
    FEWEST_ROWS,
    MOST_CELLS,
    most_rows,
    question_lists,
    questions_in,
)
from memaudit.lab.explorer.site import Site
from memaudit.show.page_numbers import NONE
from memaudit.workspace.journal import to_line
from tests.lab.explorer.libraries import diagnosis_row, write_diagnosis
from tests.lab.explorer.site_pages import (
    entry_named,
    hrefs,
    page,
    refused,
    slug_of,
    table_rows,
    words_of,
)
from tests.show.html_tree import Tree


@pytest.fixture
def made(tmp_path: Path) -> Site:
    """One question lost by writing at both stores, and one that a store answered."""
    rows = [diagnosis_row("p", "q1", store, "x") for store in ("a", "b")]
    rows += [diagnosis_row("p", "q2", store, "x") for store in ("a", "b")]
    rows[2] |= {"outcome": "answered_right", "layer": "answered", "why": []}
    write_diagnosis(tmp_path / "d", rows)
    return Site(Library([tmp_path]))


def at(site: Site, name: str, page: str = "") -> str:
    return f"diagnosis/{slug_of(site, 'diagnosis', name)}/{page}index.html"


def words(tree: Tree) -> str:
    return re.sub(r"\s+", " ", tree.text)


def test_outcomes_of_every_store(made: Site) -> None:
    """Counts lead to their lists; what is not answered right is summed."""
    tree = page(made, at(made, "d"))
    assert "not finished" in tree.text
    (body,) = tree.named("tbody")
    table = {
        name: numbers
        for name, *numbers in ([words_of(cell) for cell in row.children] for row in body.children)
    }
    assert table["answered right"] == ["1", "50.0%", "0", "0.0%"]
    assert table["written but pruned"] == ["1", "50.0%", "2", "100.0%"]
    assert table["not answered right"] == ["1", "50.0%", "2", "100.0%"]


def test_the_lists(made: Site) -> None:
    """All, failures of any store, failures of one, one outcome of one."""
    slug = slug_of(made, "diagnosis", "d")
    diagnosed = made.library.diagnosis(entry_named(made, "diagnosis", "d"))
    known = {chosen.title: chosen for chosen in question_lists(diagnosed).values()}
    expected = {
        "all questions": ["q1", "q2"],
        "not answered right by some store": ["q1", "q2"],
        "not answered right by a": ["q1"],
        "not answered right by b": ["q1", "q2"],
        "answered right at a": ["q2"],
        "written but pruned at a": ["q1"],
        "written but pruned at b": ["q1", "q2"],
    }
    assert {
        title: [question.first.query for question in questions_in(diagnosed, choice)]
        for title, choice in known.items()
    } == expected
    for title, choice in known.items():
        tree = page(made, f"diagnosis/{slug}/{choice.slug}/index.html")
        assert len(table_rows(tree, "questions-table")) == len(expected[title])
        assert title in tree.text
    assert refused(made, f"diagnosis/{slug}/nothing/index.html")[0] == 404


def test_the_chain_of_a_failure(made: Site) -> None:
    """A third was kept, the whole other memory was cut; nothing of it was retrieved."""
    slug = slug_of(made, "diagnosis", "d")
    diagnosed = made.library.diagnosis(entry_named(made, "diagnosis", "d"))
    first, second = diagnosed.questions
    tree = page(made, f"diagnosis/{slug}/question/{first}.html")
    chain = [[words_of(cell) for cell in row.children] for row in tree.named("tr")][:4]
    assert chain == [
        ["Of it was", "needed", "written", "kept", "retrieved"],
        ["in all", "1", "4/3", "1/3", "0"],
        ["memory x m x", "", "1/3", "kept", "not found"],
        ["gone x gone", "", "1", "cut", NONE],
    ]
    assert "some of a required unit was written, not all of it" in tree.text
    assert "lost by write" in tree.text
    assert ["open" in element.attributes for element in tree.named("details")] == [True, True]
    tree = page(made, f"diagnosis/{slug}/question/{second}.html")
    assert ["open" in element.attributes for element in tree.named("details")] == [False, True]
    assert refused(made, f"diagnosis/{slug}/question/nothing.html")[0] == 404


def test_two_graders(tmp_path: Path) -> None:
    """Both verdicts and the reason, as text; rows that no model graded have none."""
    rows = [diagnosis_row("p", "q1", store, "x") for store in ("a", "b")]
    rows[0]["grades"] = {"words": "wrong", "model": "right", "reason": "same <b>name</b>"}
    write_diagnosis(tmp_path / "d", rows)
    site = Site(Library([tmp_path]))
    diagnosed = site.library.diagnosis(entry_named(site, "diagnosis", "d"))
    (first,) = diagnosed.questions
    text = words(page(site, f"diagnosis/{slug_of(site, 'diagnosis', 'd')}/question/{first}.html"))
    assert text.count("Graded:") == 1
    assert "right by the model (same <b>name</b>), wrong by words" in text


def test_a_real_one(records_site: Site) -> None:
    """Four questions at two stores and a writer."""
    tree = page(records_site, at(records_site, "diagnosis"))
    diagnosed = records_site.library.diagnosis(entry_named(records_site, "diagnosis", "diagnosis"))
    assert diagnosed.stores == ("notes", "digest", "gvt")
    assert len(diagnosed.questions) == 4
    assert "not finished" not in tree.text
    links = hrefs(tree)
    assert any("store/notes-" in href for href in links)


def test_chains_lead_to_the_package(records_site: Site) -> None:
    """Units to their rows, what a writer kept to the stream, the question to its page."""
    one = entry_named(records_site, "diagnosis", "diagnosis")
    diagnosed = records_site.library.diagnosis(one)
    slug = next(name for name, q in diagnosed.questions.items() if q.first.query == "q1")
    tree = page(records_site, f"diagnosis/{one.slug}/question/{slug}.html")
    package = slug_of(records_site, "package", "hotel-rooms")
    links = hrefs(tree)
    assert any(f"package/{package}/query/" in href for href in links)
    assert any(f"package/{package}/coverage.html#u-" in href for href in links)
    assert any(f"package/{package}/stream.html#c-" in href for href in links)
    assert "is not the one that was diagnosed" not in tree.text


def test_another_package_of_the_name_is_said_to_be_one(tmp_path: Path, records: Path) -> None:
    write_diagnosis(tmp_path / "d", [diagnosis_row("hotel-rooms", "q1", "a", "x")])
    site = Site(Library([tmp_path, records / "packages"]))
    diagnosed = site.library.diagnosis(entry_named(site, "diagnosis", "d"))
    (slug,) = diagnosed.questions
    address = f"diagnosis/{slug_of(site, 'diagnosis', 'd')}/question/{slug}.html"
    assert "is not the one that was diagnosed" in page(site, address).text


def test_many_questions_have_pages(tmp_path: Path) -> None:
    """With two stores, 1,500 questions are a page."""
    assert (most_rows(2), most_rows(1000)) == (MOST_CELLS // 2, FEWEST_ROWS)
    count = MOST_CELLS // 2 + 1
    write_diagnosis(
        tmp_path / "d",
        [diagnosis_row("p", f"q{n}", store, "x") for n in range(count) for store in "ab"],
    )
    site = Site(Library([tmp_path]))
    seen = [
        len(table_rows(page(site, address), "questions-table"))
        for address in (at(site, "d", "all/"), at(site, "d", "all/").replace("ex.", "ex-2."))
    ]
    assert seen == [count - 1, 1]


def test_one_that_has_just_begun(tmp_path: Path) -> None:
    write_diagnosis(tmp_path / "d", [])
    site = Site(Library([tmp_path]))
    assert "not finished" in page(site, at(site, "d")).text
    assert "There is none." in page(site, at(site, "d", "failures/")).text


def test_rows_before_a_damaged_one_are_shown(tmp_path: Path) -> None:
    """A run that is being written may end in half a line."""
    write_diagnosis(tmp_path / "d", [diagnosis_row("p", f"q{n}", "a", "x") for n in range(3)])
    path = tmp_path / "d" / "rows.jsonl"
    path.write_text(path.read_text()[:-30])
    site = Site(Library([tmp_path]))
    tree = page(site, at(site, "d"))
    assert "Not all rows could be read" in tree.text
    assert "line 3" in tree.text
    assert str(tmp_path) not in tree.text
    assert len(table_rows(page(site, at(site, "d", "all/")), "questions-table")) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"outcome": "magic"}, "line 1: outcome"),
        ({"evidence": [{}]}, "evidence.0.unit"),
        ({"texts": {"m": 3}}, "texts.m"),
    ],
)
def test_a_row_that_is_none(tmp_path: Path, change: dict[str, object], said: str) -> None:
    write_diagnosis(tmp_path / "d", [diagnosis_row("p", "q", "a", "x")])
    row = diagnosis_row("p", "q", "a", "x") | change
    (tmp_path / "d" / "rows.jsonl").write_text(to_line(row))
    site = Site(Library([tmp_path]))
    status, text = refused(site, at(site, "d"))
    assert status == 422
    assert said in text

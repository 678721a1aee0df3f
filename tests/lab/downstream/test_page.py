"""Pages of diagnoses: whole, alone, and deaf to what texts say."""

import json
from pathlib import Path
from typing import Any

import pytest

from memaudit.lab.downstream.downstream_page import build_downstream, open_folder, open_view
from memaudit.lab.sweeps.runs.report.page import build_report
from memaudit.lab.sweeps.runs.spec import RunSpec
from memaudit.lab.sweeps.runs.sweep import run
from memaudit.workspace.engines import Serial
from memaudit.workspace.journal import read_journal, to_line
from tests.lab.downstream.conftest import changed
from tests.lab.sweeps.runs.report.conftest import ATTACK, SHOWN
from tests.show.html_tree import Tree, assert_sound


@pytest.fixture(scope="module")
def pages(diagnosis: Path, hostile: Path) -> dict[str, str]:
    folders = {"diagnosis": diagnosis, "hostile": hostile}
    return {name: build_downstream(open_folder(folder)) for name, folder in folders.items()}


@pytest.mark.parametrize("name", ["diagnosis", "hostile"])
def test_pages_are_sound(pages: dict[str, str], name: str) -> None:
    assert_sound(pages[name])


def test_attacks_are_shown_and_do_nothing(pages: dict[str, str]) -> None:
    """Every untrusted text stands in the page as text, wherever it comes from."""
    tree = Tree(pages["hostile"])
    for place in (
        "package",
        "question0",
        "gold",
        "says",
        "stored",
        "store",
        "kind",
        "left",
        "judge",
    ):
        assert f"{place} {SHOWN}".strip()[:40] in tree.text, place
    assert "49" not in tree.text.split(SHOWN)[0]
    (script,) = tree.named("script")
    assert not set("<>&") & set(script.text)
    assert json.loads(script.text)["spec"]["stores"] == [f"store {ATTACK}"]


def test_the_page_says_it_is_no_ratio(pages: dict[str, str]) -> None:
    text = " ".join(Tree(pages["diagnosis"]).text.split())
    assert "None of these numbers is a ratio to an optimum" in text
    assert "each row adds up" in text


def test_data_for_programs(pages: dict[str, str], diagnosis: Path) -> None:
    (script,) = Tree(pages["diagnosis"]).named("script")
    assert json.loads(script.text) == json.loads((diagnosis / "summary.json").read_text())


def test_the_report_of_a_run(diagnosis: Path, tmp_path: Path) -> None:
    """Diagnoses join it as a section with a link; without any there is none."""
    run(RunSpec(("base",), (0,), ("2",), ("opt", "recency_raw")), tmp_path, Serial())
    tree = Tree(build_report(tmp_path, diagnoses=[open_view(diagnosis), open_view(diagnosis)]))
    assert [e.text for e in tree.named("a") if e.attributes["href"] == "#downstream"] == [
        "Retrieval and reading"
    ]
    ids = [e.attributes["id"] for e in tree.elements if "id" in e.attributes]
    assert len(set(ids)) == len(ids)
    titles = [e.text for e in tree.named("h2")]
    assert titles.count("Diagnosis: one and 2 more") == 2
    assert tree.named("script") == []
    assert "Retrieval and reading" not in build_report(tmp_path)


def test_a_model_that_graded(diagnosis: Path, tmp_path: Path) -> None:
    """In memaudit 0.1: both verdicts of a failure, and the reason as text."""

    def change(summary: dict[str, Any]) -> None:
        summary["spec"]["grader"] = "model:one"
        summary["grading"] = {"answers": 12}

    folder = changed(diagnosis, tmp_path / "d", change)
    rows = list(read_journal(folder / "rows.jsonl"))
    failed = next(row for row in rows if row["outcome"] != "answered_right")
    failed["grades"] = {"words": "right", "model": "wrong", "reason": ATTACK}
    (folder / "rows.jsonl").write_text("".join(map(to_line, rows)))
    page = build_downstream(open_folder(folder))
    assert_sound(page)
    text = " ".join(Tree(page).text.split())
    assert f"wrong by the model ({SHOWN}"[:40] in text
    assert "model:one" in text

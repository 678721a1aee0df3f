"""The page: self-contained, escaped, and saying what the numbers are."""

import json
from pathlib import Path

from memaudit.board.board_of_scores import board_of_scores
from memaudit.board.board_page import build_board_page
from memaudit.kernel.score.score_files import read_scores
from memaudit.show.encoding import loss_look
from tests.lab.sweeps.runs.report.conftest import ATTACK, SHOWN
from tests.show.board.scores import row, write
from tests.show.html_tree import Tree, assert_sound


def page_of(folder: Path) -> str:
    return build_board_page(board_of_scores(read_scores(folder)))


def test_numbers_are_there(tmp_path: Path) -> None:
    """Table, plot and data say the same."""
    for name, a, b in (("p", "1/2", "1/4"), ("q", "3/4", "1/2"), ("r", "1", "3/4")):
        write(tmp_path, name, row("a", a), row("b", b, cost="1/4"))
    tree = Tree(page_of(tmp_path))
    (data,) = tree.named("script")
    found = json.loads(data.text)
    assert found["coverage_is_an_estimate"] is False
    assert [row["score"]["mean"] for row in found["standings"]] == [0.75, 0.5]
    assert found["differences"][0]["difference"]["mean"] == 0.25
    cells = [cell.all_text for cell in tree.named("td")]
    assert "0.7500.500 to 1.000" in cells  # the interval stands below the score
    assert any(cell.startswith("+0.250") for cell in cells)
    (verdict, *_) = [
        p.all_text for p in tree.named("p") if "finding" in (p.attributes.get("class") or "")
    ]
    assert verdict.startswith("a leads at budget 10; the lead is not distinguished")
    (headings, _, ratios) = (
        [th.all_text for th in row.children]
        for row in tree.named("tr")
        if row.children[0].all_text in ("Store", "Budget")
    )
    assert headings[:3] == ["Store", "Score", "Best subset"]
    assert ratios[-3:] == ["Over package", "Over union", "Over common union"]
    labels = [svg.attributes.get("aria-label") or "" for svg in tree.named("svg")]
    assert any("score 0.750, 95% interval 0.500 to 1.000" in label for label in labels)
    ranges = [line for line in tree.named("line") if "range" in (line.attributes["class"] or "")]
    assert (ranges[0].attributes["x1"], ranges[0].attributes["x2"]) == ("50.0%", "100.0%")
    # kept 1/2, extraction 1/4, cost 1/4 of b, stacked.
    bars = [
        (rect.attributes["class"], rect.attributes["x"], rect.attributes["width"])
        for rect in tree.named("rect")
        if "%" in (rect.attributes.get("x") or "") and "class" in rect.attributes
    ]
    looks = [loss_look(name).tone for name in ("kept", "extraction", "cost")]
    assert bars[-3:] == [
        (f"area fill{looks[0]}", "0.0%", "50.0%"),
        (f"area fill{looks[1]}", "50.0%", "25.0%"),
        (f"area fill{looks[2]}", "75.0%", "25.0%"),
    ]


def test_one_package_and_an_estimate(tmp_path: Path) -> None:
    """No bar, no interval, no test; every heading says that coverage is estimated."""
    write(tmp_path, "p", row("a", "1/2"), judge="lexical", coverage_is_an_estimate=True)
    page = page_of(tmp_path)
    tree = Tree(page)
    assert not [element for element in tree.named("line") if element.attributes["class"] != "grid"]
    assert "one package only" in page
    assert "ESTIMATE" in page
    (heading,) = tree.named("h3")
    assert "coverage estimated" in heading.all_text
    (caption, _) = tree.named("caption")
    assert "coverage of memories is an estimate" in caption.all_text


def test_attacks_stay_text(tmp_path: Path) -> None:
    """Names of stores, packages and judges are data."""
    write(tmp_path, "p", row(ATTACK, "1/2"), row("b", None), package=ATTACK, judge=ATTACK)
    (body,) = assert_sound(page_of(tmp_path)).named("body")
    assert SHOWN.strip() in body.all_text


def test_the_page_is_sound(tmp_path: Path) -> None:
    write(tmp_path, "p", row("a", "1/2"))
    assert_sound(page_of(tmp_path))

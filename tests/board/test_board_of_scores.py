"""Means, intervals and gaps by hand."""

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.board.board_of_scores import board_of_scores
from memaudit.board.board_page import board_data
from memaudit.board.board_text import coverage_note, finding, notes
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.score.score_files import read_scores
from tests.show.board.scores import row, write

F = Fraction


def test_means_by_hand(tmp_path: Path) -> None:
    """a keeps 1/2, 3/4 and 1 of three packages: mean 3/4. b is 1/4 below it on each."""
    for package, a, b in (("p", "1/2", "1/4"), ("q", "3/4", "1/2"), ("r", "1", "3/4")):
        write(tmp_path, package, row("a", a), row("b", b, cost="1/4"))
    found = board_of_scores(read_scores(tmp_path))
    ((budget, (first, second)),) = found.budgets
    assert (budget, first.store, second.store) == ("10", "a", "b")
    assert (first.score.n, first.score.mean, second.score.mean) == (3, 0.75, 0.5)
    assert first.score.low == 0.5
    assert first.score.high == 1
    lost = {"generation": 0, "extraction": F(1, 4), "cost": F(1, 4), "selection": 0}
    assert second.shares == {"kept": F(1, 2), **lost}
    (gap,) = found.differences
    assert (gap.first, gap.second, gap.difference.n) == ("a", "b", 3)
    # The difference is the same everywhere, so no resample moves it.
    assert (gap.difference.mean, gap.difference.low, gap.difference.high) == (0.25, 0.25, 0.25)
    # Of 8 sign flips of three equal differences, two are as far from 0.
    assert gap.difference.p == gap.p_holm == 0.25
    assert gap.verdict == "not distinguished"


def verdict(folder: Path, packages: int, *stores: tuple[str, str, int]) -> str:
    """The verdict on stores that keep the same of every package, by name, share and budget."""
    folder.mkdir()
    for number in range(packages):
        write(folder, f"p{number}", *(row(*store) for store in stores))
    return finding(board_of_scores(read_scores(folder)))


def test_who_leads_in_a_sentence(tmp_path: Path) -> None:
    """By budget, with ties, and whether the packages distinguish it. Of 2**8 sign flips, two are
    as far from 0."""
    both = [("a", "1/2", 10), ("b", "1/4", 10), ("a", "1/2", 20), ("b", "3/4", 20)]
    both += [("a", "1", 30), ("b", "3/4", 30)]
    leads = "a leads at budgets 10 and 30, b at budget 20"
    assert verdict(tmp_path / "one", 1, *both) == (
        f"{leads}; one package alone cannot distinguish stores."
    )
    assert verdict(tmp_path / "few", 3, *both) == (
        f"{leads}; nowhere is the lead distinguished from the next store."
    )
    assert verdict(tmp_path / "many", 9, *both) == (
        f"{leads}; the lead is distinguished from the next store each time."
    )
    tied = (*both[:2], ("a", "1/2", 20), ("b", "1/2", 20))
    assert verdict(tmp_path / "tied", 9, *tied) == (
        "a leads at budget 10, a and b at budget 20; the lead is distinguished from the "
        "next store at budget 10 only."
    )
    assert verdict(tmp_path / "alone", 2, both[0]) == (
        "a is the only store: there is nothing to compare it with."
    )
    write(tmp_path / "alone", "p0", row("a", None))
    write(tmp_path / "alone", "p1", row("a", None))
    assert finding(board_of_scores(read_scores(tmp_path / "alone"))) == "No store has a score."
    many = [(f"s{number}", "1/2", 10) for number in range(8)]
    assert verdict(tmp_path / "crowd", 1, *many).startswith(
        "s0, s1, s2, s3, s4 and 3 more lead at budget 10;"
    )


def test_undefined_and_absent_are_counted(tmp_path: Path) -> None:
    """Neither is a 0: the mean of b is over the one package that has a ratio."""
    write(tmp_path, "p", row("a", "1/2"), row("b", "1/4"))
    write(tmp_path, "q", row("a", "1/2"), row("b", None))
    write(tmp_path, "r", row("a", "1/2"))
    ((_, (a, b)),) = board_of_scores(read_scores(tmp_path)).budgets
    assert (a.score.n, a.undefined, a.missing) == (3, {}, 0)
    assert (b.score.n, b.score.mean, b.diagnosed) == (1, 0.25, 1)
    assert b.undefined == {"optimum is 0": 1}
    assert b.missing == 1
    assert math.isnan(b.score.low)


def test_what_a_run_could_not_score_is_said(tmp_path: Path) -> None:
    """A package that no mean holds is named in words and in the data, as its run named it."""
    alone = json.loads(write(tmp_path, "p", row("a", "1/2")).read_text())
    missing = {"package": "q", "store": "a", "reason": "the call failed"}
    run = {"format": "memaudit-scores", "packages": [alone], "not_scored": [missing]}
    (tmp_path / "p.json").write_text(json.dumps(run))
    found = board_of_scores(read_scores(tmp_path))
    assert "not scored, left out of all means: a on q (the call failed)" in notes(found)
    assert board_data(found)["not_scored"] == [missing]
    run["not_scored"] = [{"package": 5}]
    (tmp_path / "p.json").write_text(json.dumps(run))
    with pytest.raises(MemAuditError, match=r"p\.json: not_scored: package: "):
        read_scores(tmp_path)


def test_one_package_has_no_interval(tmp_path: Path) -> None:
    """And an estimate is called one."""
    estimated = {"judge": "lexical", "coverage_is_an_estimate": True}
    write(tmp_path, "p", row("a", "1/2"), row("b", "1/4"), **estimated)
    found = board_of_scores(read_scores(tmp_path))
    assert found.scores is not None
    assert "ESTIMATE" in coverage_note(found.scores)
    ((_, (a, _)),) = found.budgets
    assert a.score.mean == 0.5
    assert math.isnan(a.score.low)
    (gap,) = found.differences
    assert gap.difference.mean == 0.25
    assert math.isnan(gap.difference.p)
    assert gap.verdict == "too few packages"
    assert notes(found)[0].startswith("one package only")


def test_holm_over_all_budgets(tmp_path: Path) -> None:
    """Two budgets, one pair each: the smaller p counts double, and never less."""
    for package in "pqrstuv":
        rows = (row("a", "1/2"), row("b", "1/4"), row("a", "1/2", 20), row("b", "1/2", 20))
        write(tmp_path, package, *rows)
    first, second = board_of_scores(read_scores(tmp_path)).differences
    # 7 equal differences: 2 of 128 flips.
    assert first.difference.p == pytest.approx(1 / 64)
    assert first.p_holm == pytest.approx(2 / 64)
    assert first.verdict == "distinguished"
    assert second.p_holm == 1
    assert second.verdict == "the same on every package"


def test_what_scores_do_not_see(tmp_path: Path) -> None:
    """Rows that were not read, a cut list, cells without an answer: in notes, data, standings."""
    torn = {"name": "a", "unread_rows": 3, "undecided_cells": 1, "left_out": {"labels of x": 2}}
    cut = {"name": "b", "warnings": ["maybe truncated: exactly 20 rows", "order unknown"]}
    write(tmp_path, "p", row("a", "1/2"), row("b", "1/4"), stores=[torn, cut], undecided_cells=1)
    write(tmp_path, "q", row("a", "1/2"), row("b", "1/4"), stores=[torn], undecided_cells=1)
    write(tmp_path, "r", row("a", "1/2"), row("b", "1/4"), stores=[{"name": "a"}])
    found = board_of_scores(read_scores(tmp_path))
    ((_, (a, b)),) = found.budgets
    assert (a.incomplete, a.undecided_cells, b.incomplete, b.undecided_cells) == (2, 2, 1, 0)
    assert notes(found)[:4] == [
        "a: * PARTLY READ: 3 rows of the export are not in the store (p, q)",
        "a: 1 cell got no answer and counts as not covered (p, q)",
        "a: left out, labels of x: 2 (p, q)",
        "b: * INCOMPLETE: maybe truncated: exactly 20 rows (p)",
    ]
    assert notes(found)[4] == "2 cells got no answer and count as not covered"
    data = board_data(found)
    assert data["undecided_cells"] == 2
    assert [(one["package"], one["name"]) for one in data["not_all_seen"]] == [
        ("p", "a"),
        ("p", "b"),
        ("q", "a"),
    ]
    assert data["standings"][0]["incomplete_stores"] == 2


def test_a_diagnosis_that_is_missing(tmp_path: Path) -> None:
    """Told as a text, as earlier versions did, or as a reason: both count as none."""
    told = {"undefined": "optimum not certified", "message": "no diagnosis of 'b'"}
    write(tmp_path, "p", row("a", None), row("b", None) | {"diagnosis": told})
    ((_, rows),) = board_of_scores(read_scores(tmp_path)).budgets
    assert [(row.store, row.diagnosed, row.shares) for row in rows] == [
        ("a", 0, None),
        ("b", 0, None),
    ]

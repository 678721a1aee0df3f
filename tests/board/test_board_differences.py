"""When one system of a board is clearly ahead; ratios over each denominator; excerpts."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memaudit.board.board import BoardDifference
from memaudit.board.board_folder import read_board
from memaudit.board.board_of_systems import board_of_systems
from memaudit.board.denominators import WHOLE, denominator_rows
from memaudit.board.excerpt import excerpt
from memaudit.kernel.score.score_files import read_scores
from memaudit.kernel.stats.paired_tests import Difference
from tests.boards import UNITS, make_board, write_labels
from tests.show.board.scores import row, write


def test_a_clear_difference_needs_the_test_and_the_interval() -> None:
    gap = Difference(9, 0.2, 0.1, 0.3, 0.005)
    clear = BoardDifference("7", "score", "a", "b", gap, 0.01)
    assert clear.clear
    assert clear.ahead == "a"
    assert clear.verdict == "distinguished"
    assert not replace(clear, p_holm=0.05).clear
    assert not replace(clear, difference=replace(gap, low=-0.1)).clear
    behind = replace(clear, difference=replace(gap, mean=-0.2, low=-0.3, high=-0.1))
    assert behind.clear
    assert behind.ahead == "b"


def test_several_pairs_are_corrected(tmp_path: Path) -> None:
    """Of 2^6 flips of six equal differences two are as far from 0: p is 1/32, three times that for
    the best of three pairs, which is not clear. With a third conversation more it is 3/64."""
    systems = {"good": [list(UNITS[2:])], "fair": [[UNITS[2]]], "poor": [["Hello Ann"]]}
    board = board_of_systems(read_board(make_board(tmp_path / "six", systems)))
    assert {one.p_holm for one in board.differences if one.measure == "score"} == {3 / 32}
    assert [one.rank for one in board.budgets[0][1]] == [1, 1, 1]
    board = board_of_systems(read_board(make_board(tmp_path / "seven", systems, conversations=7)))
    assert {one.p_holm for one in board.differences if one.measure == "score"} == {3 / 64}
    assert [one.rank for one in board.budgets[0][1]] == [1, 2, 3]


def test_passes_of_a_system_are_its_own(tmp_path: Path) -> None:
    """An added system whose second reader found nothing scores 0 under that pass only. By the other
    labels it keeps 2 of 3 units that 7 words have room for: no nuts, Graz, and nights."""
    folder = make_board(tmp_path / "board", {"good": [list(UNITS[2:])]})
    new = tmp_path / "new"
    new.mkdir()
    text = "Ann: no nuts, Graz"
    names = [f"talk{number}" for number in range(6)]
    for name in names:
        export = {"results": [{"id": "m1", "memory": text}]}
        (new / f"{name}.json").write_text(json.dumps(export))
    own, none = ({(text, f"u{at}"): level for at in range(2)} for level in (1.0, 0.0))
    write_labels(new, names, {"coverage.jsonl": own, "blind_a.jsonl": own, "blind_b.jsonl": none})
    ((_, standings),) = board_of_systems(read_board(folder, [("new", new)])).budgets
    (standing,) = (one for one in standings if one.store == "new")
    assert standing.by_pass is not None
    assert list(standing.by_pass["score"].values()) == pytest.approx([2 / 3, 2 / 3, 0])
    assert standing.score.low < 2 / 3


def scored(value: float, package: float, union: float) -> dict[str, Any]:
    """A row whose recency cut is worth `value`, over OPT 4 of the common union."""
    one = row("a", "1/2")
    part = {
        **one["kept"],
        "value": value,
        "ratio": value / 4,
        "package_ratio": package,
        "union_ratio": union,
    }
    return {**one, "policies": {"recency": part}, "written": {**one["written"], "value": 6.0}}


def test_means(tmp_path: Path) -> None:
    """Values 1 and 3; over the package 1/2 and 3/2, which may exceed 1; the whole store 6 / 4."""
    write(tmp_path, "p", scored(1.0, 0.5, 0.25))
    write(tmp_path, "q", scored(3.0, 1.5, 0.75))
    found = {one.kept_by: one for one in denominator_rows(read_scores(tmp_path))}
    kept = found["recency"]
    means = [one.mean for one in (kept.value, kept.package_ratio, kept.union_ratio, kept.ratio)]
    assert means == [2.0, 1.0, 0.5, 0.5]
    assert (kept.package_ratio.low, kept.package_ratio.high) == (0.5, 1.5)
    assert (found[WHOLE].value.mean, found[WHOLE].ratio.mean) == (6.0, 1.5)


def test_an_excerpt_is_the_part_that_shares_most_terms() -> None:
    text = "The old code was 2093.\n" + "They talked about bees. " * 9 + "Since August it is 6158."
    assert excerpt(text, "old code", 30) == "The old code was 2093. They..."
    found = excerpt(text, "Since August the code is 6158", 60)
    assert found.startswith("... ")
    assert "August it is 6158." in found
    common = "a code, a gate, " * 3 + "and many bees then. It was 6158 in the end."
    assert "bees then. It was 6158" in excerpt(common, "gate code 6158", 45)
    dated = "On 7 May 2025 they talked about all the bees of the town and about a hedgehog."
    assert "hedgehog" in excerpt(dated, "Ann saw a hedgehog in May 2025", 40)
    assert excerpt("short\ntext", "code", 40) == "short text"
    assert excerpt("x" * 50, "code", 40) == "x" * 40 + "..."
    assert excerpt("", "code", 40) == ""

"""When one system of a board is clearly ahead of another."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from memaudit.board.board import BoardDifference
from memaudit.board.board_folder import read_board
from memaudit.board.board_of_systems import board_of_systems
from memaudit.kernel.stats.paired_tests import Difference
from tests.boards import UNITS, make_board, write_labels


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

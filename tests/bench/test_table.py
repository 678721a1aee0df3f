"""The statistics, worked by hand."""

from typing import Any

import pytest

from bench.launch import Outcome
from bench.model import OVER_LIMIT, TIME_LIMIT, PeerResult
from bench.table import (
    FamilyRun,
    Spread,
    against_best,
    best_ratio,
    failures,
    lines,
    quantile,
    ratio,
    spread,
)


def result(seconds: float, value: int = 7, note: str = "") -> PeerResult:
    """A result that took `seconds`, a quarter of it to build; unproven where there is a note."""
    return PeerResult(value, not note, seconds / 4, seconds * 3 / 4, (), note)


def family_run(**results: list[PeerResult]) -> FamilyRun:
    names = tuple(f"A{index}" for index in range(len(results["memaudit"])))
    return FamilyRun("A", names, {name: Outcome(rows) for name, rows in results.items()})


RUN = family_run(
    memaudit=[result(1.0), result(1.0), result(2.0)],
    highs=[result(8.0), result(4.0), result(60.0, 6, TIME_LIMIT)],
    gurobi=[result(2.0), result(6.0), result(0.0, 0, OVER_LIMIT)],
)


def test_quantile_runs_straight_between_the_numbers() -> None:
    # Sorted 1, 2, 4, 8, 16: place 0.9 * 4 = 3.6, so 8 + 0.6 * (16 - 8) = 12.8.
    assert quantile([16, 1, 8, 2, 4], 0.9) == pytest.approx(12.8)
    # Place 0.1 * 4 = 0.4, so 1 + 0.4 * (2 - 1) = 1.4.
    assert quantile([16, 1, 8, 2, 4], 0.1) == pytest.approx(1.4)
    assert quantile([5], 0.9) == 5


def test_spread_of_nothing_is_nothing() -> None:
    assert spread([]) == Spread(None, None, None)


def test_ratio_counts_building_and_solving() -> None:
    ours = PeerResult(7, True, 0.5, 0.5, ())
    peer = PeerResult(7, True, 1.0, 3.0, ())
    assert ratio(ours, peer) == 4.0


def test_ratio_where_somebody_proves_nothing() -> None:
    assert ratio(result(2.0), result(60.0, note=TIME_LIMIT)) == 30.0
    assert ratio(result(2.0), result(0.0, note=OVER_LIMIT)) is None
    assert ratio(result(2.0), result(0.0, note="crashed")) is None
    assert ratio(result(60.0, note=TIME_LIMIT), result(3.0)) == 0.0
    assert ratio(result(60.0, note=TIME_LIMIT), result(60.0, note=TIME_LIMIT)) is None


def test_best_peer_is_the_fastest_on_each_problem() -> None:
    assert best_ratio(result(2.0), [result(8.0), result(6.0)]) == 3.0
    assert best_ratio(result(2.0), []) is None
    # Per problem the best is gurobi 2, highs 4, and highs at least 60 / 2 = 30.
    # p10: place 0.2, 2 + 0.2 * 2 = 2.4. p90: place 1.8, 4 + 0.8 * 26 = 24.8.
    best = against_best(RUN)
    assert (best.p10, best.median, best.p90) == pytest.approx((2.4, 4.0, 24.8))


def test_lines_count_and_time_every_solver() -> None:
    ours, highs, gurobi = lines(RUN)
    assert (ours.solver, ours.solved, ours.median_ms) == ("memaudit", 3, 1000.0)
    # HiGHS: ratios 8, 4 and 30; times 8, 4 and 60 s.
    assert (highs.solved, highs.median_ms, highs.ratio.median) == (2, 8000.0, 8.0)
    assert highs.note == TIME_LIMIT
    # Gurobi: two problems within its licence, ratios 2 and 6, times 2 and 6 s.
    assert (gurobi.solved, gurobi.over_limit, gurobi.ratio.median) == (2, 1, 4.0)
    assert gurobi.median_ms == 4000.0


@pytest.mark.parametrize(
    ("ours", "highs", "expected"),
    [
        ((9.0, 7, TIME_LIMIT), (1.0, 7), "FAIL A: memaudit proves 0 of 1, highs proves 1"),
        ((1.0, 7), (1.0, 8), "FAIL A0: proven values differ: highs 8, memaudit 7"),
        ((1.0, 7), (9.0, 8, TIME_LIMIT), "FAIL A0: a store beats the proven value: highs 8"),
    ],
)
def test_the_gate(ours: Any, highs: Any, expected: str) -> None:
    assert failures(RUN) == []
    assert failures(family_run(memaudit=[result(*ours)], highs=[result(*highs)])) == [expected]


def test_missing_peer_is_a_note() -> None:
    run = FamilyRun(
        "A", ("A0",), {"memaudit": Outcome([result(1.0)]), "scip": Outcome(missing="not installed")}
    )
    assert lines(run)[1].note == "not installed"
    assert against_best(run).median is None
    assert failures(run) == []

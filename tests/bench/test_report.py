"""The statistics worked by hand; what fails a run, what it prints and what it writes; the scale."""

import io
import json
from fractions import Fraction
from typing import Any

import pytest
import typer
from rich.console import Console

from bench.__main__ import _seeds, bench
from bench.explorer import ExplorerLine
from bench.families import family
from bench.frontiers import FrontierLine, differing
from bench.launch import Outcome
from bench.model import OVER_LIMIT, TIME_LIMIT, PeerResult
from bench.peers import NOT_INSTALLED
from bench.run import Plan, Report
from bench.scale import ScaleLine, exponents, scale_lines, slope
from bench.sections import CertificateLine, MemoryLine, SweepLine
from bench.show import show
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
from memaudit.kernel.errors import MemAuditError


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
    assert spread([]) == Spread(None, None, None)


def test_ratio_counts_building_and_solving() -> None:
    """Building and solving count. Where only we prove, it is at least that much; where we
    do not, there is none."""
    ours = PeerResult(7, True, 0.5, 0.5, ())
    peer = PeerResult(7, True, 1.0, 3.0, ())
    assert ratio(ours, peer) == 4.0
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


def proven(seconds: float, value: int = 7) -> PeerResult:
    return PeerResult(value, True, 0.0, seconds, (0,))


REPORT = Report(
    seconds=60.0,
    threads=2,
    families=[
        FamilyRun(
            "B",
            ("B1",),
            {
                "memaudit": Outcome([proven(0.001)], 1.5, 10),
                "highs": Outcome([proven(0.05)]),
                "scip": Outcome(missing=NOT_INSTALLED),
            },
        )
    ],
    frontier=[FrontierLine("C1", 0.5, "HiGHS", 2000.0, 0.01, 6, ())],
    certificates=[
        CertificateLine("C", "C1", True, 0.2, 0.1, 9000),
        CertificateLine("C", "C2", True, 0.2, 0.3, 11000),
        CertificateLine("R", "R1 B 250", True, 0.2, 0.4, 60_000),
        CertificateLine("R", "R1 B 300", True, 0.2, 1.2, 30_000),
    ],
    scale=[
        ScaleLine(1000, 1500, 500, 0.25, 200_000_000, 210_000_000, 25_000, 0.1, True, 9.0, 9.0),
        ScaleLine(4000, 6000, 2000, 1.0, 200_000_000, 280_000_000, 90_000, 0.5, True, 9.0, 9.0),
        ScaleLine(
            9000,
            9000,
            4500,
            60.0,
            200_000_000,
            900_000_000,
            note="stopped early",
            value=3.0,
            bound=3.5,
        ),
    ],
    memory=MemoryLine(500_000_000, 3, 3),
    sweep=[SweepLine(125, 60_000, 0, 9.0, 1.0, 2), SweepLine(500, 240_000, 0, 38.0, 4.0, 2)],
)


def printed(report: Report) -> str:
    out = io.StringIO()
    show(report, Console(file=out, width=400))
    return out.getvalue()


def test_printed_report_has_counts_ratios_and_targets() -> None:
    """Check over solve is 0.5 and 1.5; their median is 1."""
    text = printed(REPORT)
    for part in (
        "1 of 1",
        "target 40: reached",
        NOT_INSTALLED,
        "compilation and warm-up 1.5 s, not counted",
        "240,000 rows in 42.0 s on 2 processes",
        "4 times the rows took 4.20 times as long (1.05 of linear)",
        "240,000 rows below 60 s: reached",
        "at 6 of 6 budgets",
        "as long as 50 single solves",
        "HiGHS about 2000 s (4000 times as long; extrapolated",
        "check / solve median 1.00, largest 1.50, target 2: reached",
        "certificates on C: 2 of 2",
        "size median 10.0 kB, largest 11.0 kB, target below 1000 kB",
        "certificates on R: 2 of 2",
        "target median below 1 s: reached",
        "size median 45.0 kB, largest 60.0 kB, target median below 50 kB: reached",
        "between 3 and 3.5: stopped early",
        "to the power of 1, memory beyond the solver's own 1.5",
        "threads: 2; scip 1",
        "peak memory on D: 0.50 GB, 3 of 3 solved, target below 2 GB: reached",
    ):
        assert part in text
    assert "FAIL" not in text


def test_report_fails_on_a_wrong_frontier_or_a_missing_certificate() -> None:
    report = Report(
        60.0,
        frontier=[FrontierLine("C1", 0.5, "HiGHS", None, None, 6, (500,))],
        certificates=[CertificateLine("C", "C1 B 100", False, 0.2, 0.0, 0, "stopped early")],
        scale=[ScaleLine(1000, 1500, json_bytes=10, note="a leaf is open")],
    )
    assert report.failures == [
        "FAIL C1: the frontier differs from the optimum at budget 500",
        "FAIL C1 B 100: no valid certificate: stopped early",
        "FAIL scale, 1000 candidates: certificate refused: a leaf is open",
    ]
    assert "FAIL C1" in printed(report)


def test_json_form_can_be_written() -> None:
    data = json.loads(json.dumps(REPORT.to_json()))
    assert data["families"][0]["against_best"]["median"] == pytest.approx(50.0)
    assert data["families"][0]["outcomes"]["highs"]["results"][0]["value"] == 7
    # 4 times the candidates: 4 times as long, and 8 times the memory beyond the base.
    assert data["scale_exponents"] == pytest.approx({"time": 1.0, "memory": 1.5})
    assert (data["threads"], data["scale"][2]["note"]) == (2, "stopped early")


def test_frontier_is_compared_at_the_proven_budgets_only() -> None:
    instances = family("C", [102])[:2]
    results = [proven(1.0, 15), PeerResult(3, False, 0.0, 1.0, ())]
    # Values are counted in tenths: 15 is 3/2.
    values = [Fraction(0)] * 501
    values[100] = Fraction(3, 2)
    assert differing(instances, results, values) == ()
    values[100] = Fraction(2)
    assert differing(instances, results, values) == (100,)


def test_plans() -> None:
    """Unknown names are refused, sections take the families that were asked for, seeds are lists or
    ranges."""
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"peers": ("cplex",)}, "unknown peer 'cplex'"),
        ({"sections": ("speed",)}, "unknown section 'speed'"),
        ({"seconds": 0}, "above 0"),
        ({"threads": 0}, "at least 1"),
    )
    for options, message in wrong:
        with pytest.raises(MemAuditError, match=message):
            Plan(("A",), **options)
    assert Plan(("A", "R")).among(("C", "R")) == ("R",)
    assert Plan(("A",)).among(("C", "R")) == ("C", "R")
    assert _seeds("1,2,5") == (1, 2, 5)
    assert _seeds("1-3,7") == (1, 2, 3, 7)
    for text in ("x", "", "3-1"):
        with pytest.raises(MemAuditError, match="1,2,3 or 1-40"):
            _seeds(text)


def test_command_exits_with_1_when_the_gate_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    failing = Report(60.0, frontier=[FrontierLine("C1", 0.5, "", None, None, 6, (500,))])
    monkeypatch.setattr("bench.__main__.run", lambda _plan, _say: failing)
    with pytest.raises(typer.Exit) as stop:
        bench(family=["A"])
    assert stop.value.exit_code == 1


def test_explorer_lines_say_how_and_whether_in_time() -> None:
    shown = [
        ExplorerLine("1,000 packages", 0.412, 281_900, "Chromium 150", 0.5),
        ExplorerLine("2,565 candidates", 1.2, 560_000, "", 9.0),
    ]
    assert printed(Report(60.0, explorer=shown)).splitlines() == [
        "explorer, 1,000 packages: 282 kB opened in Chromium 150 in 0.41 s at a load of 0.5, "
        "target below 1 s: reached",
        "explorer, 2,565 candidates: 560 kB fetched without a browser in 1.20 s at a load of 9.0, "
        "target below 1 s: not reached",
    ]
    assert Report(60.0, explorer=shown).failures == []


@pytest.mark.slow
def test_tiny_sizes_are_solved_in_processes_of_their_own() -> None:
    lines = scale_lines(30.0, 1, (60, 240))
    assert [line.note for line in lines] == ["", ""]
    assert all(line.certified and line.value == line.bound > 0 for line in lines)
    small, large = lines
    assert 50 <= small.candidates <= 70
    assert 210 <= large.candidates <= 270
    assert 0 < small.cells < large.cells
    assert (small.budget, large.budget) == (30, 120)
    assert 0 < small.json_bytes < large.json_bytes
    assert 0 < small.base_bytes <= small.peak_bytes
    assert small.seconds > 0
    assert small.check_seconds > 0


def test_child_that_dies_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.scale.sys.executable", "false")
    (line,) = scale_lines(1.0, 1, (60,))
    assert (line.certified, line.note) == (False, "crashed (exit code 1)")


def test_slope_of_a_power() -> None:
    """Of a power exactly; exponents count certified sizes only."""
    assert slope([(1, 3), (2, 12), (10, 300)]) == pytest.approx(2.0)
    # Logarithms to base 2: (0, 0), (1, 2), (2, 2). Mean (1, 4/3); slope (4/3 + 2/3) / 2 = 1.
    assert slope([(1, 1), (2, 4), (4, 4)]) == pytest.approx(1.0)
    assert slope([(5, 1)]) is None
    assert slope([(5, 1), (6, 0)]) is None
    lines = [
        ScaleLine(100, seconds=1.0, base_bytes=50, peak_bytes=60, certified=True),
        ScaleLine(200, seconds=2.0, base_bytes=50, peak_bytes=90, certified=True),
        ScaleLine(400, seconds=60.0, base_bytes=50, peak_bytes=900),
    ]
    growth = exponents(lines)
    assert (growth.time, growth.memory) == pytest.approx((1.0, 2.0))
    assert exponents(lines[2:]).time is None

"""The report: what fails a run, what it prints and what it writes."""

import io
import json
from fractions import Fraction

import pytest
import typer
from rich.console import Console

from bench.__main__ import _seeds, bench
from bench.explorer import ExplorerLine
from bench.families import family
from bench.launch import Outcome
from bench.model import PeerResult
from bench.run import Plan, Report
from bench.sections import CertificateLine, FrontierLine, MemoryLine, SweepLine, differing
from bench.show import show
from bench.table import FamilyRun
from memaudit.core.errors import MemAuditError


def solved(seconds: float, value: int = 7) -> PeerResult:
    return PeerResult(value, True, 0.0, seconds, (0,))


REPORT = Report(
    seconds=60.0,
    families=[
        FamilyRun(
            "B",
            ("B1",),
            {
                "memaudit": Outcome([solved(0.001)], 1.5, 10),
                "highs": Outcome([solved(0.03)]),
                "scip": Outcome(missing="not installed: pip install memaudit[bench]"),
            },
        )
    ],
    frontier=[FrontierLine("bench C1", 0.5, 2000.0, 6, ())],
    certificates=[
        CertificateLine("C1", True, 0.2, 0.1, 9000),
        CertificateLine("C2", True, 0.2, 0.3, 11000),
    ],
    memory=MemoryLine(500_000_000, 3, 3),
    sweep=[SweepLine(125, 60_000, 0, 9.0, 1.0, 2), SweepLine(500, 240_000, 0, 38.0, 4.0, 2)],
)


def printed(report: Report) -> str:
    out = io.StringIO()
    show(report, Console(file=out, width=200))
    return out.getvalue()


def test_printed_report_has_counts_ratios_and_targets() -> None:
    text = printed(REPORT)
    assert "1 of 1" in text
    assert "target 20: reached" in text
    assert "not installed: pip install memaudit[bench]" in text
    assert "compilation and warm-up 1.5 s, not counted" in text
    assert "240,000 rows in 42.0 s on 2 processes" in text
    assert "4 times the rows took 4.20 times as long (1.05 of linear)" in text
    assert "240,000 rows below 60 s: reached" in text
    assert "HiGHS about 2000 s (4000 times as long; extrapolated" in text
    assert "at 6 of 6 budgets" in text
    # Check over solve is 0.5 and 1.5; their median is 1.
    assert "check / solve median 1.00, largest 1.50, target 2: reached" in text
    assert "certificate size: median 10.0 kB, largest 11.0 kB" in text
    assert "peak memory on D: 0.50 GB, 3 of 3 solved, target below 2 GB: reached" in text
    assert "FAIL" not in text


def test_report_fails_on_a_wrong_frontier_or_a_missing_certificate() -> None:
    report = Report(
        60.0,
        frontier=[FrontierLine("bench C1", 0.5, None, 6, (500,))],
        certificates=[CertificateLine("C1 B 100", False, 0.2, 0.0, 0, "stopped early")],
    )
    assert report.failures == [
        "FAIL bench C1: the frontier differs from the optimum at budget 500",
        "FAIL C1 B 100: no valid certificate: stopped early",
    ]
    assert "FAIL bench C1" in printed(report)


def test_json_form_can_be_written() -> None:
    data = json.loads(json.dumps(REPORT.to_json()))
    assert data["families"][0]["against_best"]["median"] == pytest.approx(30.0)
    assert data["families"][0]["outcomes"]["highs"]["results"][0]["value"] == 7


def test_frontier_is_compared_at_the_proven_budgets_only() -> None:
    instances = family("C", [102])[:2]
    results = [solved(1.0, 15), PeerResult(3, False, 0.0, 1.0, ())]
    # Values are counted in tenths: 15 is 3/2.
    values = [Fraction(0)] * 501
    values[100] = Fraction(3, 2)
    assert differing(instances, results, values) == ()
    values[100] = Fraction(2)
    assert differing(instances, results, values) == (100,)


def test_plan_refuses_unknown_names() -> None:
    with pytest.raises(MemAuditError, match="unknown peer 'cplex'"):
        Plan(("A",), peers=("cplex",))
    with pytest.raises(MemAuditError, match="unknown section 'speed'"):
        Plan(("A",), sections=("speed",))
    with pytest.raises(MemAuditError, match="above 0"):
        Plan(("A",), seconds=0)


def test_seeds_are_lists_or_ranges() -> None:
    assert _seeds("1,2,5") == (1, 2, 5)
    assert _seeds("1-3,7") == (1, 2, 3, 7)
    for text in ("x", "", "3-1"):
        with pytest.raises(MemAuditError, match="1,2,3 or 1-40"):
            _seeds(text)


def test_command_exits_with_1_when_the_gate_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    failing = Report(60.0, frontier=[FrontierLine("bench C1", 0.5, None, 6, (500,))])
    monkeypatch.setattr("bench.__main__.run", lambda _plan, _say: failing)
    with pytest.raises(typer.Exit) as stop:
        bench(family=["A"])
    assert stop.value.exit_code == 1


def test_lines_say_how_and_whether_in_time() -> None:
    lines = [
        ExplorerLine("1,000 packages", 0.412, 281_900, "Chromium 150", 0.5),
        ExplorerLine("2,565 candidates", 1.2, 560_000, "", 9.0),
    ]
    out = io.StringIO()
    show(Report(60.0, explorer=lines), Console(file=out, width=200))
    assert out.getvalue().splitlines() == [
        "explorer, 1,000 packages: 282 kB opened in Chromium 150 in 0.41 s at a load of 0.5, "
        "target below 1 s: reached",
        "explorer, 2,565 candidates: 560 kB fetched without a browser in 1.20 s at a load of 9.0, "
        "target below 1 s: not reached",
    ]
    assert Report(60.0, explorer=lines).failures == []

"""Points of real packages, in memory and in a folder that goes on where it ended."""

from pathlib import Path
from typing import Any

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.errors import MemAuditError
from memaudit.lab.downstream.answer_readers import READERS
from memaudit.lab.downstream.ask_questions import ReadingSetup
from memaudit.lab.downstream.calibration import CalibrationPlan, calibrate
from memaudit.lab.downstream.retrievers import RETRIEVERS
from memaudit.lab.sweeps.generators.registry import named_distribution
from memaudit.lab.sweeps.writers.registry import named_writer

ORACLE = ReadingSetup(RETRIEVERS["oracle"], 99, READERS["evidence-only"])
BASELINE = ReadingSetup(RETRIEVERS["bm25"], 3, READERS["extractive"])


def plan(
    setup: ReadingSetup = BASELINE, budgets: str = "0.1,40", writers: str = "opt mem0_style"
) -> CalibrationPlan:
    """Two small event graphs and two conversations."""
    graphs = named_distribution("event_graph:experiences=8")
    return CalibrationPlan(
        {"event_graph": [graphs.package(seed) for seed in (1, 2)], "natural": short_set()[:2]},
        budgets,
        [named_writer(name) for name in writers.split()],
        setup,
    )


def test_points() -> None:
    """A point a package, budget and writer; OPT has ratio 1; no step holds more than before."""
    _, rows = calibrate(plan())
    assert len(rows) == 4 * 2 * 2
    assert {row["ratio"] for row in rows if row["writer"] == "opt"} == {1}
    for row in rows:
        assert row["kept_coverage"] >= row["kept_recall"] >= row["evidence_recall"]
        assert row["right"] >= row["answered"]
        assert 0 <= row["ratio"] <= 1


def test_without_mistakes_downstream() -> None:
    """Oracle and evidence-only: what is kept is retrieved."""
    _, rows = calibrate(plan(ORACLE))
    assert all(row["kept_recall"] == row["evidence_recall"] for row in rows)


def test_a_folder_says_the_same(tmp_path: Path) -> None:
    """In memory, in a folder, cut off and gone on with: one summary."""
    summary, rows = calibrate(plan())
    assert calibrate(plan(), tmp_path / "out") == (summary, rows)
    files = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    lines = files["rows.jsonl"].splitlines(keepends=True)
    (tmp_path / "out" / "rows.jsonl").write_bytes(b"".join(lines[:7])[:-3])
    seen: list[int] = []
    assert calibrate(plan(), tmp_path / "out", seen.append)[0] == summary
    assert seen[0] == 7
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == files


def test_folders_of_something_else(tmp_path: Path) -> None:
    """Another spec, another format, rows without a spec."""
    calibrate(plan(budgets="40"), tmp_path / "out")
    with pytest.raises(MemAuditError, match=r"another calibration \(different: budgets\)"):
        calibrate(plan(), tmp_path / "out")
    (tmp_path / "out" / "spec.json").write_text('{"format": "memaudit-diagnosis"}')
    with pytest.raises(MemAuditError, match="is not the spec of a calibration"):
        calibrate(plan(), tmp_path / "out")
    (tmp_path / "out" / "spec.json").unlink()
    with pytest.raises(MemAuditError, match=r"holds rows.jsonl but no spec.json"):
        calibrate(plan(), tmp_path / "out")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"budgets": ""}, "cannot calibrate at budgets"),
        ({"budgets": "5,5"}, "give each once"),
        ({"writers": "opt"}, "two writers or more"),
        ({"writers": "opt opt"}, "each given once"),
    ],
)
def test_what_cannot_be_calibrated(change: dict[str, Any], message: str) -> None:
    """Said before anything is solved."""
    with pytest.raises(MemAuditError, match=message):
        plan(**change)
    mute = [package.replace(queries=()) for package in short_set()[:1]]
    with pytest.raises(MemAuditError, match="no package has a question"):
        CalibrationPlan(
            {"natural": mute}, "5", [named_writer("opt"), named_writer("gvt")], BASELINE
        )

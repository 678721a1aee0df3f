"""Four stores of three records: rows, what is required, and runs that go on."""

import json
from pathlib import Path
from typing import Any

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.downstream.readers.registry import READERS
from memaudit.downstream.retrievers import RETRIEVERS
from memaudit.downstream.run import Run
from memaudit.downstream.spec import Setup
from memaudit.downstream.transfer import Compared, open_records, transfer
from memaudit.io.journal import read_journal
from memaudit.writers.registry import named_writer
from tests.downstream.transfer.haystacks import written

STORES = ["estimated_gvt", "full_raw", "raw_replay", "fifo"]
WRITERS = [named_writer("estimated_gvt")]


def ran(path: Path, folder: Path, budget: str = "0.6", k: int = 2) -> Run:
    """A run over a file."""
    setup = Setup(RETRIEVERS["bm25"], k, READERS["extractive"])
    return transfer(open_records(path), Compared(WRITERS, budget), setup, folder)


def rows(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Rows by record and store."""
    found = list(read_journal(folder / "rows.jsonl"))
    assert [(row["package"], row["store"]) for row in found] == [
        (name, store) for name in ("swim", "cat", "abs_abs") for store in STORES
    ]
    return {(row["package"], row["store"]): row for row in found}


def test_rows(tmp_path: Path) -> None:
    """Every store answers every question under one retriever; losses differ as stores do."""
    summary = ran(written(tmp_path / "f.json"), tmp_path / "out").summary
    found = rows(tmp_path / "out")
    # Both values are there, and the reader takes the one ranked first.
    assert found["swim", "full_raw"]["outcome"] == "stale_answer"
    assert found["swim", "full_raw"]["layer"] == "reader"
    # 22 words in all, 13 may be kept: the last two turns have 8 and 4.
    assert found["swim", "fifo"]["measures"]["words_kept"] == 12
    assert found["swim", "fifo"]["outcome"] == "answered_right"
    assert found["cat", "fifo"]["outcome"] == "written_but_pruned"
    assert summary["spec"]["source"]["format"] == "longmemeval"
    assert summary["spec"]["note"].startswith("a transfer diagnostic, never a ratio")
    assert "ratio" not in json.dumps(summary["summaries"])


def test_only_labelled_turns_are_required(tmp_path: Path) -> None:
    """The old and the new turn of an update, and not that one replaced the other."""
    ran(written(tmp_path / "f.json"), tmp_path / "out")
    found = rows(tmp_path / "out")
    assert [(unit["unit"], unit["supports"]) for unit in found["swim", "fifo"]["evidence"]] == [
        ("s1:1", False), ("s2:1", True),
    ]  # fmt: skip
    assert found["swim", "full_raw"]["measures"]["evidence_recall"] == 1
    assert found["swim", "fifo"]["measures"]["evidence_recall"] == 0.5
    assert found["abs_abs", "fifo"]["stage"] == "nothing_needed"


def test_the_curve_ends_in_the_measures(tmp_path: Path) -> None:
    """At the last depth it says what the table says."""
    for one in ran(written(tmp_path / "f.json"), tmp_path / "out").summary["summaries"]:
        last = one["curve"][-1]
        for name in ("evidence_recall", "evidence_coverage"):
            whole = one["measures"][name]
            assert last[name] == {key: whole[key] for key in last[name]}
        assert last["words"] == pytest.approx(one["measures"]["words_retrieved"]["mean"])


@pytest.mark.parametrize("left", [0, 1, 3, 4, 7, 11])
def test_it_goes_on_where_it_ended(tmp_path: Path, left: int) -> None:
    """After any number of rows: the same bytes, and only what is missing is built."""
    path = written(tmp_path / "f.json")
    ran(path, tmp_path / "out")
    whole = {
        name: (tmp_path / "out" / name).read_bytes() for name in ("rows.jsonl", "summary.json")
    }
    lines = whole["rows.jsonl"].splitlines(keepends=True)
    (tmp_path / "out" / "rows.jsonl").write_bytes(b"".join(lines[:left]) + b'{"half')
    (tmp_path / "out" / "summary.json").unlink()
    assert ran(path, tmp_path / "out").found == left
    assert {name: (tmp_path / "out" / name).read_bytes() for name in whole} == whole


def test_another_file_or_budget_is_refused(tmp_path: Path) -> None:
    """The spec names the file by its content."""
    ran(written(tmp_path / "f.json"), tmp_path / "out")
    with pytest.raises(MemAuditError, match=r"its source differ"):
        ran(written(tmp_path / "g.json", "swim", "cat"), tmp_path / "out")
    with pytest.raises(MemAuditError, match=r"its budget differ"):
        ran(tmp_path / "f.json", tmp_path / "out", budget="0.4")


@pytest.mark.parametrize(
    ("budget", "writers", "message"),
    [
        ("1,2", ["estimated_gvt"], "has one budget"),
        ("x", ["estimated_gvt"], "cannot read the budget"),
        ("9", [], "no package-style store"),
        ("9", ["gvt", "gvt"], "a writer is given twice"),
    ],
)
def test_what_cannot_be_compared(budget: str, writers: list[str], message: str) -> None:
    """Said before anything is read."""
    with pytest.raises(MemAuditError, match=message):
        Compared([named_writer(name) for name in writers], budget)


def test_a_file_that_asks_nothing(tmp_path: Path) -> None:
    """A conversation without a question."""
    rows = [{"conversation": "c"}, {"session": "s"}, {"id": "t", "speaker": "Ann", "text": "Hi."}]
    (tmp_path / "f.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(MemAuditError, match="has no question"):
        open_records(tmp_path / "f.jsonl", "chat")

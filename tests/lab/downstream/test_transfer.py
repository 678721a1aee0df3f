"""Raw stores by hand, and four stores of three records through a run."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.package import Package
from memaudit.lab.downstream.answer_readers import READERS
from memaudit.lab.downstream.ask_questions import ReadingSetup
from memaudit.lab.downstream.retrievers import RETRIEVERS
from memaudit.lab.downstream.run import FinishedDiagnosis
from memaudit.lab.downstream.transfer import (
    RAW_STORES,
    TransferStores,
    open_records,
    raw_store,
    raw_words,
    transfer,
)
from memaudit.lab.sweeps.writers.registry import named_writer
from memaudit.workspace.journal import read_journal
from tests.lab.downstream.haystacks import written

COSTS = (3, 5, 2, 9, 4)


def turns(costs: tuple[int, ...] = COSTS) -> Package:
    """A turn of each cost, with a summary that no raw store keeps."""
    return Package.model_validate(
        {
            "name": "p",
            "experiences": [{"id": f"e{at}", "index": at} for at in range(len(costs))],
            "candidates": [
                {
                    "id": f"e{at}/{kind}",
                    "experience": f"e{at}",
                    "kind": kind,
                    "cost": cost,
                    "text": f"{kind} {at}",
                }
                for at, cost in enumerate(costs)
                for kind in ("raw", "summary")
            ],
            "units": [{"id": "u", "kind": "fact"}],
            "coverage": [
                {"candidate": "e1/raw", "unit": "u", "value": 1},
                {"candidate": "e1/summary", "unit": "u", "value": 1},
            ],
        }
    )


def kept(name: str, budget: int, seed: int = 0, costs: tuple[int, ...] = COSTS) -> list[str]:
    """Numbers of the turns that a store keeps."""
    found = raw_store(name, turns(costs), Fraction(budget), seed)
    assert [memory.id for memory in found.written] == [f"e{at}/raw" for at in range(len(costs))]
    return [memory.id.removeprefix("e").removesuffix("/raw") for memory in found.kept]


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (23, "01234"),
        (15, "234"),  # 3 + 5 + 2 fit; 9 pushes 3 and 5 out to 11; 4 is the last of 15
        (13, "34"),
        (9, "4"),  # 9 pushes all out, 4 pushes 9 out
        (8, "24"),  # 9 is too long to be let in: 3 + 5 -> 5 + 2 -> 2 + 4
        (0, ""),
    ],
)
def test_first_in_first_out(budget: int, expected: str) -> None:
    """A new turn pushes out the oldest."""
    assert "".join(kept("fifo", budget)) == expected


def test_everything() -> None:
    """The full store knows no budget; it costs 23, and holds what its turns cover."""
    assert kept("full_raw", 0) == list("01234")
    assert raw_words(turns()) == 23
    found = raw_store("full_raw", turns(), Fraction(0), 0)
    assert [dict(memory.covers) for memory in found.written] == [{}, {"u": 1}, {}, {}, {}]


@given(st.integers(0, 30), st.integers(0, 5), st.lists(st.integers(1, 9), min_size=2, max_size=9))
def test_budgets_hold_and_are_used(budget: int, seed: int, costs: list[int]) -> None:
    """Whatever is left out of the sample would not fit any more; the queue is the newest turns."""
    many = tuple(costs)
    for name in ("raw_replay", "fifo"):
        inside = [int(at) for at in kept(name, budget, seed, many)]
        spent = sum(many[at] for at in inside)
        assert spent <= budget
        if name == "raw_replay":
            assert all(spent + many[at] > budget for at in set(range(len(many))) - set(inside))
        elif inside:
            short = [at for at, cost in enumerate(many) if cost <= budget]
            assert inside == short[short.index(inside[0]) :]


def test_the_sample_depends_on_the_seed() -> None:
    """Same seed, same sample; other seeds give others."""
    samples = {tuple(kept("raw_replay", 8, seed)) for seed in range(20)}
    assert kept("raw_replay", 8, 3) == kept("raw_replay", 8, 3)
    assert len(samples) > 2
    assert set(RAW_STORES) == {"full_raw", "raw_replay", "fifo"}


STORES = ["estimated_gvt", "full_raw", "raw_replay", "fifo"]
WRITERS = [named_writer("estimated_gvt")]


def ran(path: Path, folder: Path, budget: str = "0.6", k: int = 2) -> FinishedDiagnosis:
    """A run over a file."""
    setup = ReadingSetup(RETRIEVERS["bm25"], k, READERS["extractive"])
    return transfer(open_records(path), TransferStores(WRITERS, budget), setup, folder)


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
    # 22 words and four dates and speakers, 30 in all, 18 may be kept: the last turns take 10 and 6.
    assert found["swim", "fifo"]["measures"]["words_kept"] == 16
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
        ("s1:1", False),
        ("s2:1", True),
    ]
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
    assert ran(path, tmp_path / "out").existing == left
    assert {name: (tmp_path / "out" / name).read_bytes() for name in whole} == whole


def test_another_file_or_budget_is_refused(tmp_path: Path) -> None:
    """The spec names the file by its content."""
    ran(written(tmp_path / "f.json"), tmp_path / "out")
    with pytest.raises(MemAuditError, match=r"different: source"):
        ran(written(tmp_path / "g.json", "swim", "cat"), tmp_path / "out")
    with pytest.raises(MemAuditError, match=r"different: budget"):
        ran(tmp_path / "f.json", tmp_path / "out", budget="0.4")


def test_what_cannot_be_compared() -> None:
    """Said before anything is read."""
    with pytest.raises(MemAuditError, match="no package-style store"):
        TransferStores([], "9")
    with pytest.raises(MemAuditError, match="a writer is given twice"):
        TransferStores(WRITERS * 2, "9")


def test_a_file_that_asks_nothing(tmp_path: Path) -> None:
    """A conversation without a question."""
    rows = [{"conversation": "c"}, {"session": "s"}, {"id": "t", "speaker": "Ann", "text": "Hi."}]
    (tmp_path / "f.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(MemAuditError, match="has no question"):
        open_records(tmp_path / "f.jsonl")

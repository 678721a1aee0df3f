"""Runs that are killed, damaged, repeated, or of another spec."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.downstream.answer_readers import (
    READERS,
    Extractive,
    ReaderReply,
    ReadingTask,
    ReplyState,
)
from memaudit.lab.downstream.ask_questions import ReadingSetup
from memaudit.lab.downstream.run import diagnose
from memaudit.lab.downstream.store_cases import DiagnosisCase
from memaudit.workspace.journal import read_journal, to_line
from tests.lab.downstream.newest import Newest
from tests.lab.downstream.small import PACKAGE, store_of
from tests.lab.downstream.small_runs import CASES, ROWS, files, made, rows

SETUP = ReadingSetup(Newest(), 2, READERS["extractive"])


def test_all_rows_in_order(tmp_path: Path) -> None:
    """Package, store, question; every question of every store has a row."""
    finished = made(tmp_path / "out")
    found = rows(tmp_path / "out")
    assert len(found) == ROWS
    assert [(row["package"], row["store"], row["query"]) for row in found] == [
        (case.package, held.name, question.id)
        for case in CASES
        for held in case.stores
        for question in case.questions
    ]
    assert (finished.existing, finished.cut) == (0, 0)
    assert set(files(tmp_path / "out")) == {
        "spec.json",
        "memories.jsonl",
        "rows.jsonl",
        "summary.json",
    }


@pytest.mark.parametrize("cut", [1, 700, 5000])
def test_rows_cut_off(tmp_path: Path, cut: int) -> None:
    """Half a row, or a row in the middle of a store's questions: what is missing is made again."""
    whole = files(tmp_path / "out") if made(tmp_path / "out") else {}
    path = tmp_path / "out" / "rows.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])
    finished = made(tmp_path / "out")
    assert 0 < finished.existing < ROWS
    assert files(tmp_path / "out") == whole


def test_a_forged_row_is_made_again(tmp_path: Path) -> None:
    """An outcome that does not follow from the row's stage and verdict is not believed."""
    made(tmp_path)
    before = files(tmp_path)
    path = tmp_path / "rows.jsonl"
    rows = list(read_journal(path))
    place = next(at for at, row in enumerate(rows) if row["outcome"] != "answered_right")
    rows[place].update(outcome="answered_right", layer="answered")
    path.write_text("".join(map(to_line, rows)))
    assert made(tmp_path).existing == place
    assert files(tmp_path) == before


def test_a_finished_run_is_left_alone(tmp_path: Path) -> None:
    """All rows are found, and the files stay as they are."""
    made(tmp_path)
    before = files(tmp_path)
    assert made(tmp_path).existing == ROWS
    assert files(tmp_path) == before


def test_another_spec_is_refused(tmp_path: Path) -> None:
    """What differs is named, and nothing is touched."""
    made(tmp_path)
    before = files(tmp_path)
    with pytest.raises(MemAuditError, match=r"another diagnosis \(different: k\)"):
        made(tmp_path, k=3)
    other = [replace(case, stores=case.stores[:1]) for case in CASES]
    with pytest.raises(MemAuditError, match=r"different: stores, memories"):
        diagnose(other, SETUP, tmp_path, {"budget": 9})
    assert files(tmp_path) == before


class Unreliable(Extractive):
    """A reader whose server fails for one package, until it does not."""

    def __init__(self) -> None:
        self.broken = True
        self.asked = 0

    def read(self, asked: Sequence[ReadingTask]) -> list[ReaderReply]:
        self.asked += len(asked)
        found = super().read(asked)
        return [
            ReaderReply(ReplyState.NO_REPLY) if self.broken and one.owner == "two" else reply
            for one, reply in zip(asked, found, strict=True)
        ]


def test_a_server_that_failed_is_asked_again(tmp_path: Path) -> None:
    """Its rows say so, and the next run makes them and what follows again."""
    made(tmp_path / "whole")
    reader = Unreliable()
    made(tmp_path / "out", reader=reader)
    lost = [row for row in rows(tmp_path / "out") if row["reply"] == "no_reply"]
    assert len(lost) == 10
    reader.broken, reader.asked = False, 0
    assert made(tmp_path / "out", reader=reader).cut > 0
    assert reader.asked == 20
    assert files(tmp_path / "out") == files(tmp_path / "whole")


class Hopeless(Extractive):
    """A reader that cannot be asked."""

    def read(self, asked: Sequence[ReadingTask]) -> list[ReaderReply]:  # noqa: ARG002
        raise MemAuditError("no key")


def test_a_run_that_never_began_leaves_nothing(tmp_path: Path) -> None:
    """So that another spec can have the folder."""
    with pytest.raises(MemAuditError, match="no key"):
        made(tmp_path / "new", reader=Hopeless())
    assert not (tmp_path / "new").exists()
    made(tmp_path)
    before = files(tmp_path)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(MemAuditError, match="no key"):
        made(tmp_path, reader=Hopeless())
    assert files(tmp_path).keys() == before.keys()


@pytest.mark.parametrize(
    ("cases", "message"),
    [
        ([CASES[0], CASES[0]], "two packages are called 'one'"),
        ([DiagnosisCase.of(PACKAGE, (store_of(), store_of()))], "two stores have the same name"),
        ([DiagnosisCase.of(PACKAGE, ())], "no store to diagnose"),
        (
            [DiagnosisCase.of(PACKAGE.replace(queries=()), (store_of(),))],
            "no package has a question",
        ),
    ],
)
def test_nothing_to_run(tmp_path: Path, cases: list[DiagnosisCase], message: str) -> None:
    """Said in one line before anything is written."""
    with pytest.raises(MemAuditError, match=message):
        diagnose(cases, SETUP, tmp_path / "out", {})
    assert not (tmp_path / "out").exists()
    with pytest.raises(MemAuditError, match="--k must be at least 1"):
        ReadingSetup(Newest(), 0, READERS["extractive"])

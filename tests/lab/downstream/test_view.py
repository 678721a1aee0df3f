"""What the page says is what the rows say."""

from pathlib import Path

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.downstream.diagnosis_files import LOST_BY
from memaudit.lab.downstream.downstream_page import (
    EACH,
    is_downstream,
    open_folder,
    open_view,
)
from memaudit.lab.downstream.outcomes import LOSSES
from memaudit.workspace.journal import read_journal
from tests.lab.downstream.conftest import changed, say_transfer


def test_counts_add_up(diagnosis: Path) -> None:
    """By outcome and by layer, of every store and kind, to the rows of the journal."""
    view = open_view(diagnosis)
    rows = list(read_journal(diagnosis / "rows.jsonl"))
    assert [member.label for member in view.members.values()] == ["some", "dog"]
    for store in view.summary.summaries:
        own = [row for row in rows if row["store"] == store.store]
        assert sum(store.by_outcome) == sum(store.layers.values()) == store.questions == len(own)
        for name, count in zip(view.outcomes, store.by_outcome, strict=True):
            assert count == sum(row["outcome"].replace("_", " ") == name for row in own)
        for name, count in store.layers.items():
            assert count == sum(row["layer"] == name for row in own)
        for kind in store.kinds.values():
            assert sum(kind.layers.values()) == kind.questions
        assert sum(kind.questions for kind in store.kinds.values()) == 15
    assert set(LOST_BY) == set(LOSSES)


def test_failures_are_some_of_every_sort(diagnosis: Path) -> None:
    """Never one that was answered right; every store and outcome that failed has one."""
    view = open_view(diagnosis)
    failed = [
        row for row in read_journal(diagnosis / "rows.jsonl") if row["outcome"] != "answered_right"
    ]
    assert view.failed == len(failed)
    told = [(member.name, row.outcome) for member, rows in view.failures for row in rows]
    assert set(told) == {(row["store"], row["outcome"]) for row in failed}
    assert max(map(told.count, told)) <= EACH
    assert view.shown == len(told) < len(failed)


def test_words_about_the_run(diagnosis: Path, tmp_path: Path) -> None:
    """A diagnosis names its packages, a transfer its file and that it is no ratio."""
    view = open_view(diagnosis)
    assert view.title == "Diagnosis: one and 2 more"
    assert dict(view.facts)["Packages"] == "3"
    moved = open_view(changed(diagnosis, tmp_path / "t", say_transfer))
    assert moved.title == "Transfer: f.json"
    assert moved.notes == ("never a ratio", "turns")
    about = [member.about for member in moved.members.values()]
    assert about == ["an exported store", "keeps the dog"]


def test_folders(diagnosis: Path, tmp_path: Path) -> None:
    """What is no diagnosis, or not finished, is refused in one line."""
    assert is_downstream(diagnosis)
    assert not is_downstream(tmp_path)
    with pytest.raises(MemAuditError, match="is not a diagnosis"):
        open_folder(tmp_path)
    cut = changed(diagnosis, tmp_path / "cut", lambda _: None)
    rows = (cut / "rows.jsonl").read_text().splitlines(keepends=True)
    (cut / "rows.jsonl").write_text("".join(rows[:-1]))
    with pytest.raises(MemAuditError, match="contains 29 of 30 rows; run the same command again"):
        open_folder(cut)
    (cut / "summary.json").write_text("{")
    with pytest.raises(MemAuditError, match=r"summary.json is not JSON"):
        open_folder(cut)
    (cut / "summary.json").write_text('{"format": "other"}')
    with pytest.raises(MemAuditError, match="is not a summary of a diagnosis"):
        open_folder(cut)
    (cut / "summary.json").unlink()
    with pytest.raises(MemAuditError, match="is not finished"):
        open_folder(cut)

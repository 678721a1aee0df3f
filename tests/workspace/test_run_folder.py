"""Run folders: claimed once, resumed by the same run, refused to any other."""

import json
from pathlib import Path

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.workspace.journal import Journal, rows_in_order, to_line
from memaudit.workspace.run_folder import ROWS, SPEC, claimed_by_spec, locked

FORMAT = "memaudit-test"


def claim(folder: Path, **spec: object) -> None:
    with claimed_by_spec(folder, FORMAT, "test", spec), Journal(folder / ROWS) as journal:
        journal.append([to_line({"row": 1})])


def test_the_same_run_resumes_and_another_is_refused(tmp_path: Path) -> None:
    """The first claim writes the spec; tuples are the lists they become in JSON."""
    folder = tmp_path / "a" / "run"
    claim(folder, seeds=(1, 2), k=3)
    assert json.loads((folder / SPEC).read_text()) == {
        "format": FORMAT,
        "version": 1,
        "spec": {"seeds": [1, 2], "k": 3},
    }
    before = (folder / SPEC).stat()
    claim(folder, seeds=(1, 2), k=3)
    assert (folder / SPEC).stat().st_mtime_ns == before.st_mtime_ns
    with pytest.raises(MemAuditError, match=r"another test \(different: k, seed, seeds\); choose"):
        claim(folder, k=4, seed=1)
    with pytest.raises(MemAuditError, match=r"\(different: judge\)"):
        claim(folder, seeds=(1, 2), k=3, judge=None)  # absent is not null
    with (
        pytest.raises(MemAuditError, match="is not the spec of a calibration; choose"),
        claimed_by_spec(folder, "memaudit-other", "calibration", {}),
    ):
        pass


def test_rows_without_a_spec_are_not_touched(tmp_path: Path) -> None:
    (tmp_path / ROWS).write_text("somebody's")
    with pytest.raises(MemAuditError, match=r"holds rows\.jsonl but no spec\.json; choose"):
        claim(tmp_path)
    assert (tmp_path / ROWS).read_text() == "somebody's"


@pytest.mark.parametrize("existed", [True, False])
def test_a_run_that_fails_before_its_first_row_leaves_nothing(
    tmp_path: Path, existed: bool
) -> None:
    """A folder that existed stays, empty; files named in `also` go with the others."""
    folder = tmp_path / "run"
    if existed:
        folder.mkdir()

    def run() -> None:
        with claimed_by_spec(folder, FORMAT, "test", {}, also=["extra.json"]):
            (folder / "extra.json").write_text("{}")
            (folder / ROWS).touch()
            raise MemAuditError("no writer")

    with pytest.raises(MemAuditError, match="no writer"):
        run()
    assert folder.exists() == existed
    assert not list(tmp_path.rglob("*.*"))


def test_what_cannot_be_removed_does_not_hide_the_failure(tmp_path: Path) -> None:
    """A folder in place of a file stays, and the run's own error is the one that is raised."""
    folder = tmp_path / "run"
    (folder / "extra.json").mkdir(parents=True)
    with (
        pytest.raises(MemAuditError, match="no writer"),
        claimed_by_spec(folder, FORMAT, "test", {}, also=["extra.json"]),
    ):
        raise MemAuditError("no writer")
    assert [path.name for path in folder.iterdir()] == ["extra.json"]


def test_a_run_that_fails_later_keeps_its_rows(tmp_path: Path) -> None:

    def run() -> None:
        with claimed_by_spec(tmp_path, FORMAT, "test", {}):
            (tmp_path / ROWS).write_text(to_line({"row": 1}))
            raise MemAuditError("the disk is full")

    with pytest.raises(MemAuditError, match="the disk is full"):
        run()
    assert (tmp_path / SPEC).exists()
    assert (tmp_path / ROWS).read_text()


def test_one_process_at_a_time(tmp_path: Path) -> None:
    """The second is told to wait, and a folder that cannot be made is one line."""
    with (
        locked(tmp_path),
        pytest.raises(MemAuditError, match="written by another run"),
        locked(tmp_path),
    ):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(MemAuditError, match="cannot make"), locked(tmp_path / "file" / "run"):
        pass


def test_rows_belong_at_their_place() -> None:
    keys = [("a", 1), ("a", 2)]
    fits = rows_in_order(("name", "seed"), len(keys), keys.__getitem__)
    assert fits(0, {"name": "a", "seed": 1, "value": 7})
    assert not fits(1, {"name": "a", "seed": 1})
    assert not fits(0, {"name": "a"})
    assert not fits(2, {"name": "a", "seed": 2})

"""What is done is known from files, and rows go on where they ended."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.reproduce.folder import Ledger, append_rows
from memaudit.workspace.engines import Serial
from memaudit.workspace.journal import Key, read_journal, to_line

IDENTITY: dict[str, JsonValue] = {"settings": {"seeds": 3}, "source": "abc"}


def ledger(folder: Path, date: str = "2020-01-01") -> Ledger:
    """The ledger of a folder."""
    return Ledger(folder, IDENTITY, date)


def test_a_part_is_done_while_its_files_are_what_they_were(tmp_path: Path) -> None:
    """A changed, an added and a removed file make it undone; putting things right makes it done."""
    first = ledger(tmp_path)
    (tmp_path / "part").mkdir()
    file = tmp_path / "part" / "a.txt"
    file.write_text("one")
    assert not first.verified("part")
    assert not first.is_broken("part")  # never done, so nothing to throw away
    first.record("part", 1.26)
    again = ledger(tmp_path, "2021-12-31")
    assert again.verified("part")
    assert again.date == "2020-01-01"
    assert again.seconds == {"part": 1.3}
    file.write_text("two")
    assert again.is_broken("part")
    file.write_text("one")
    (tmp_path / "part" / "b.txt").write_text("")
    assert again.is_broken("part")
    (tmp_path / "part" / "b.txt").unlink()
    (tmp_path / "part" / ".lock").write_text("")  # locks are no results
    assert again.verified("part")
    file.unlink()
    assert again.is_broken("part")
    again.forget("part")
    assert not ledger(tmp_path).is_broken("part")


def test_other_identities_and_other_files_are_refused(tmp_path: Path) -> None:
    """A folder is one reproduction by one program."""
    (tmp_path / "own").mkdir()
    ledger(tmp_path / "own")
    with pytest.raises(MemAuditError, match=r"different: source\); choose another folder"):
        Ledger(tmp_path / "own", {**IDENTITY, "source": "xyz"}, "2020-01-01")
    (tmp_path / "own" / "progress.json").write_text("{}")
    with pytest.raises(MemAuditError, match="is not part of a reproduction"):
        ledger(tmp_path / "own")
    (tmp_path / "own" / "progress.json").write_text('{"format": "memaudit-reproduction"}')
    with pytest.raises(MemAuditError, match="different: settings, source"):
        ledger(tmp_path / "own")


def lines_of(task: int) -> list[str]:
    """Two rows a task."""
    return [to_line({"task": task, "row": row, "text": "x" * task}) for row in (0, 1)]


@pytest.mark.parametrize("cut", [0, 1, 40, 43, 44, 100, 10**6])
def test_rows_go_on_where_they_end(tmp_path: Path, cut: int) -> None:
    """Wherever the file was cut off, the end is the same, and nothing whole is made twice."""
    keys: list[Key] = [(task, row) for task in range(3) for row in (0, 1)]
    path = tmp_path / "rows.jsonl"
    asked: list[int] = []

    def work(task: int) -> list[str]:
        asked.append(task)
        return lines_of(task)

    append_rows(path, range(3), work, ("task", "row"), keys, Serial())
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    done = whole[:cut].count(b"\n") // 2
    asked.clear()
    append_rows(path, range(3), work, ("task", "row"), keys, Serial())
    assert path.read_bytes() == whole
    assert asked == list(range(done, 3))
    assert [row["task"] for row in read_journal(path)] == [0, 0, 1, 1, 2, 2]

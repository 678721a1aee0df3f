"""Rows that survive what a killed process leaves behind."""

import json
from pathlib import Path

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.workspace.journal import Journal, is_intact, read_journal, to_line

ROWS = [{"n": n, "text": 'ä\n\u202e"crc"'} for n in range(5)]


def write(path: Path) -> bytes:
    with Journal(path) as journal:
        journal.append(to_line(row) for row in ROWS)
    return path.read_bytes()


def test_reads_back(tmp_path: Path) -> None:
    text = write(tmp_path / "rows.jsonl")
    assert list(read_journal(tmp_path / "rows.jsonl")) == ROWS
    assert [json.loads(line)["n"] for line in text.splitlines()] == [0, 1, 2, 3, 4]


def test_cut_anywhere_it_goes_on(tmp_path: Path) -> None:
    """Whatever byte a killed process stopped at, whole rows stay and the rest is cut."""
    path = tmp_path / "rows.jsonl"
    whole = write(path)
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for stop in range(len(whole) + 1):
        path.write_bytes(whole[:stop])
        with Journal(path) as journal:
            kept = sum(end <= stop for end in ends)
            assert journal.rows == kept
            assert journal.cut == stop - (ends[kept - 1] if kept else 0)
            journal.append(to_line(row) for row in ROWS[kept:])
        assert path.read_bytes() == whole


def test_any_changed_byte_is_seen() -> None:
    line = to_line(ROWS[0]).encode()
    assert is_intact(line)
    for at in range(len(line)):
        broken = bytearray(line)
        broken[at] ^= 1
        assert not is_intact(bytes(broken)), at


def test_damage_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    lines = write(path).splitlines(keepends=True)
    lines[2] = lines[2].replace(b'"n":2', b'"n":7')
    path.write_bytes(b"".join(lines))
    with pytest.raises(MemAuditError, match="line 3: the row is damaged"):
        list(read_journal(path))
    with Journal(path) as journal:
        assert journal.rows == 2
        assert journal.cut == sum(map(len, lines[2:]))


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with (
        Journal(tmp_path / "rows.jsonl"),
        pytest.raises(MemAuditError, match="written by another run"),
        Journal(tmp_path / "rows.jsonl"),
    ):
        pass


def test_unwritable(tmp_path: Path) -> None:
    with pytest.raises(MemAuditError, match="cannot write"), Journal(tmp_path / "no" / "rows"):
        pass

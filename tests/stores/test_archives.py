"""Zip archives of an export: a few members in memory, and hostile ones refused in one line."""

import json
import struct
import time
import tracemalloc
import zipfile
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.stores import containers
from memaudit.stores.registry import import_store, import_transcript
from tests.stores.exports import CLAUDE_AI, CLAUDE_AI_ACCOUNT, EXPORTS, attempt

MEMORIES = json.dumps(CLAUDE_AI)


def zipped(path: Path, members: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def refused(path: Path) -> str:
    """The one line, which comes quickly and without much memory."""
    tracemalloc.start()
    begun = time.monotonic()
    store, error = attempt([path])
    took, (_, most) = time.monotonic() - begun, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert store is None
    assert "\n" not in error
    assert error.startswith(path.name)
    assert took < 10
    assert most < 100 << 20
    return error


def test_a_bomb(tmp_path: Path) -> None:
    """20 MB of zeros from 20 KB; and a size that is only claimed, 4 GB."""
    path = zipped(tmp_path / "bomb.zip", {"memories.json": b"0" * (20 << 20)})
    assert path.stat().st_size < 100_000
    assert refused(path).endswith("times as large as it is in the archive, which is not opened")
    data = bytearray(zipped(tmp_path / "big.zip", {"memories.json": MEMORIES}).read_bytes())
    at = data.rfind(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, 0xFFFFFFF0)  # the size in the list of members
    (tmp_path / "big.zip").write_bytes(data)
    assert refused(tmp_path / "big.zip").endswith("which is not opened")


def test_many_small_bombs(tmp_path: Path) -> None:
    """Each may be compressed in any way; together they may not become 200 times as large."""
    blank = b" " * (1 << 20)
    path = zipped(tmp_path / "many.zip", {f"memories/{at}.json": blank for at in range(300)})
    most = 200 * path.stat().st_size
    assert refused(path).endswith(
        f"is too large: 1,048,576 bytes; of this archive at most {min(most, 256 << 20):,} are read"
    )


def test_a_size_that_is_too_small(tmp_path: Path) -> None:
    """What is unpacked is never more than the size that was checked."""
    data = bytearray(zipped(tmp_path / "lie.zip", {"memories.json": MEMORIES}).read_bytes())
    struct.pack_into("<I", data, data.rfind(b"PK\x01\x02") + 24, 10)
    (tmp_path / "lie.zip").write_bytes(data)
    assert "damaged or truncated zip archive: Bad CRC-32" in refused(tmp_path / "lie.zip")


def test_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """100,000 are refused by the size of their list, fewer by their number."""
    names = {f"{at:x}": b"" for at in range(100_000)}
    path = zipped(tmp_path / "many.zip", names | {"memories.json": MEMORIES}, zipfile.ZIP_STORED)
    assert refused(path) == (
        "many.zip: holds too many members for an export, at most 10,000 are listed"
    )
    monkeypatch.setattr(containers, "MOST_MEMBERS", 2)
    path = zipped(tmp_path / "three.zip", {"a": "", "b": "", "memories.json": MEMORIES})
    assert "holds too many members" in refused(path)


def test_encrypted(tmp_path: Path) -> None:
    data = bytearray(zipped(tmp_path / "e.zip", {"memories.json": MEMORIES}).read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(mark) + offset] |= 1
    (tmp_path / "e.zip").write_bytes(data)
    assert "memories.json is encrypted" in refused(tmp_path / "e.zip")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_unusual_compression(method: int, tmp_path: Path) -> None:
    path = zipped(tmp_path / "e.zip", {"memories.json": MEMORIES}, method)
    assert "compressed in an unusual way" in refused(path)


def test_cut_or_changed_anywhere(tmp_path: Path) -> None:
    """Every truncation, and every byte exchanged: the store, or one line."""
    whole = EXPORTS["claude.ai zip"].write(tmp_path).read_bytes()
    expected = import_store([tmp_path / "export.zip"]).memories
    path = tmp_path / "cut.zip"
    for at in range(4, len(whole), 7):
        path.write_bytes(whole[:at])
        assert "damaged or truncated zip archive" in refused(path)
    for at in range(4, len(whole), 3):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        store, error = attempt([path])
        assert "\n" not in error
        assert store is None or store.memories == expected  # a byte that says nothing


def test_damaged_at_random(tmp_path: Path) -> None:
    """Bytes exchanged, dropped, repeated and replaced by marks of zip: a seeded sample. One of them
    gives a member a name without a character, on which the zipfile module fails."""
    whole = EXPORTS["claude.ai zip"].write(tmp_path).read_bytes()
    path, random = tmp_path / "odd.zip", Random(3)
    marks = [b"\xff\xff\xff\xff", b"PK\x06\x06", b"PK\x06\x07", b"PK\x05\x06", b"\0\0\0\0"]
    for _ in range(1000):
        data = bytearray(whole)
        for _ in range(random.choice([1, 2, 4, 16])):
            at, length = random.randrange(4, len(data)), random.randrange(1, 40)
            data[at : at + random.choice([0, 4, length])] = random.choice(
                [*marks, b"", random.randbytes(4), data[at : at + length]]
            )
        path.write_bytes(data)
        assert "\n" not in attempt([path])[1]
        with suppress(MemAuditError):
            import_transcript([path], "claude-ai")


def test_archives_inside(tmp_path: Path) -> None:
    """They are not opened; the line says which to give."""
    inner = zipped(tmp_path / "inner.zip", {"memories.json": MEMORIES}).read_bytes()
    path = zipped(tmp_path / "outer.zip", {"memories-000.zip": inner})
    assert refused(path) == (
        "outer.zip: holds other archives, which are not opened "
        "(unpack it and give 'memories-000.zip')"
    )
    store, error = attempt([zipped(tmp_path / "named.zip", {"memories.json": inner})])
    assert (store, error) == (
        None,
        "memories.json: is a zip archive inside another, which is not opened (unpack it first)",
    )


def test_no_memories(tmp_path: Path) -> None:
    for members in ({}, {"notes.txt": "a"}, {"users.json": "[]"}):
        path = zipped(tmp_path / "other.zip", dict(members))
        assert "is a zip archive without memories.json" in refused(path)
    path = zipped(tmp_path / "talk.zip", {"conversations.json": "[]"})
    assert refused(path) == "talk.zip: holds a transcript and no memories; give both"


def test_a_member_twice(tmp_path: Path) -> None:
    path = tmp_path / "twice.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("memories.json", MEMORIES)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("memories.json", "[]")
    assert refused(path) == "twice.zip: memories.json is in the archive 2 times"


def test_nothing_is_written(tmp_path: Path) -> None:
    """A name that leads out of the archive is a name and nothing else."""
    home = tmp_path / "a" / "b"
    home.mkdir(parents=True)
    path = zipped(home / "e.zip", {"../memories.json": MEMORIES, "/etc/x": "", "..\\y": ""})
    assert len(import_store([path]).active) == 3
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "a", home, path]


def test_several_archives_of_one_export(tmp_path: Path) -> None:
    account = json.dumps(CLAUDE_AI_ACCOUNT)
    paths = [
        zipped(tmp_path / "memories-000.zip", {"memories/9d1e.json": account}),
        zipped(tmp_path / "conversations-000.zip", {"conversations.json": "[]"}),
    ]
    store = import_store(paths)
    assert list(store.origin.files) == ["memories-000.zip/memories/9d1e.json"]
    assert len(store.active) == 2

"""A store file that was edited, damaged or is none at all is refused in one line."""

import json
from pathlib import Path
from typing import Any

import pytest

from memaudit.adapters.registry import import_store
from memaudit.adapters.store import read_store, store_digest, write_store
from memaudit.core.errors import MemAuditError
from tests.adapters.exports import EXPORTS


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "store.json"
    write_store(import_store([EXPORTS["mem0"].write(tmp_path)]), path)
    return path


def edited(path: Path, **changes: Any) -> Path:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return path


def test_one_memory_a_line(written: Path) -> None:
    lines = written.read_text().splitlines()
    assert sum(line.startswith('    {"id": "m') for line in lines) == 3


def test_edited_memory(written: Path) -> None:
    written.write_text(written.read_text().replace("tea", "coffee"))
    with pytest.raises(MemAuditError, match="does not match its digest"):
        read_store(written)


def test_digest_is_of_the_memories(tmp_path: Path) -> None:
    path = EXPORTS["mem0"].write(tmp_path)
    store = import_store([path])
    assert store_digest(import_store([path], "mem0")) == store_digest(store)
    assert store_digest(store.model_copy(update={"name": "x"})) == store_digest(store)
    fewer = store.model_copy(update={"memories": store.memories[1:]})
    assert store_digest(fewer) != store_digest(store)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "other"}, "is not a store"),
        ({"version": 2}, "is a store of version 2"),
        ({"memories": [{"id": "a", "text": "x", "state": "asleep"}]}, "memories.0.state: input"),
        ({"memories": [{"id": "a", "text": "x"}] * 2}, "repeats the id 'a'"),
        ({"memories": None}, "memories: input"),
        ({"extra": 1}, "extra: extra inputs are not permitted"),
    ],
)
def test_not_a_store(written: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(MemAuditError) as caught:
        read_store(edited(written, **changes))
    assert str(caught.value).startswith("store.json: ")
    assert said in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_damaged(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "store.json").write_bytes(content)
    with pytest.raises(MemAuditError, match=r"^store\.json:"):
        read_store(tmp_path / "store.json")

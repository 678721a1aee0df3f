"""A wrong type anywhere is reported; tests/hardening damages the bytes of every dataset."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.datasets.irregularities import Irregularity
from memaudit.datasets.registry import LOADERS, read_conversations
from tests.datasets.files import FIXTURES

IGNORED = {"img_url", "query", "mood", "comment", "place", "weather"}
"""Fields the loaders do not read, or unknown ones that the fixtures already have."""

LEFT_OUT: list[tuple[str | int, ...]] = [
    (0, "qa", 6, "evidence", 2),
    (0, "observation", "session_2_observation", "Ada", 1),
    ("simple", "roles", 1, "QA", "target_step_id", 4),
    ("noisy", "events", 1, "question_list", 0),
]
"""What the fixtures hold that is left out as a whole: nothing inside it is looked at."""

Path_ = tuple[str | int, ...]


def paths(value: Any, above: Path_ = ()) -> Iterator[Path_]:
    yield above
    parts: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, list):
        parts = list(enumerate(value))
    for key, part in parts:
        yield from paths(part, (*above, key))


def replaced(value: Any, way: Path_, new: Any) -> Any:
    if not way:
        return new
    copy: Any = value.copy()
    copy[way[0]] = replaced(copy[way[0]], way[1:], new)
    return copy


def documents(format: str) -> Any:
    """A fixture as data: the rows of a JSONL file are a list."""
    text = FIXTURES[format].read_text()
    if format == "chat":
        return [json.loads(line) for line in text.splitlines() if line]
    return json.loads(text)


def write(data: Any, format: str, path: Path) -> Path:
    if format == "chat" and isinstance(data, list):
        path.write_text("".join(f"{json.dumps(row)}\n" for row in data))
    else:
        path.write_text(json.dumps(data))
    return path


def outcome(path: Path, format: str | None) -> tuple[Irregularity, ...] | str:
    try:
        found = read_conversations(path, format)
    except MemAuditError as error:
        message = str(error)
    else:
        return tuple(one for loaded in found for one in loaded.irregularities)
    (line,) = message.splitlines()
    return line


@pytest.mark.parametrize("format", LOADERS)
def test_a_wrong_type_anywhere_is_said(format: str, tmp_path: Path) -> None:
    """An object in place of any part changes what is reported: nothing is dropped in silence."""
    data = documents(format)
    before = outcome(FIXTURES[format], format)
    silent = []
    for way in paths(data):
        if IGNORED & set(way) or any(way[: len(out)] == out != way for out in LEFT_OUT):
            continue
        spoiled = replaced(data, way, {"zz": [1]})
        if outcome(write(spoiled, format, tmp_path / "f"), format) == before:
            silent.append(way)
    assert silent == []

"""The fixtures, and the real files where someone has them."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memaudit.conversations.records import LoadedConversation
from memaudit.conversations.registry import read_conversations

FILES = Path(__file__).parent / "files"
FIXTURES = {path.stem: path for path in sorted(FILES.iterdir())}
"""One file a format, tiny and made up, with everything that can be irregular in that format."""


def load(format: str) -> list[LoadedConversation]:
    return read_conversations(FIXTURES[format])


def kinds(conversations: Iterable[LoadedConversation]) -> Counter[str]:
    return Counter(one.what for loaded in conversations for one in loaded.irregularities)


def real_file(name: str) -> Path:
    """A published dataset file, from MEMAUDIT_DATA or beside the project; skips without it."""
    beside = Path(__file__).parents[3] / "shared" / "data"
    path = Path(os.environ.get("MEMAUDIT_DATA", beside)) / name
    if not path.is_file():
        pytest.skip(f"{name} is not here; MEMAUDIT_DATA can say where")
    return path


Way = tuple[str | int, ...]


def ways(value: Any, above: Way = ()) -> Iterator[Way]:
    """The way to every part of a JSON document, from the root down."""
    yield above
    parts: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, list):
        parts = list(enumerate(value))
    for key, part in parts:
        yield from ways(part, (*above, key))


def changed(value: Any, way: Way, new: Any, drop: bool = False) -> Any:
    """The document with one part exchanged or dropped."""
    if not way:
        return new
    copy: Any = value.copy()
    if len(way) == 1 and drop:
        del copy[way[0]]
    else:
        copy[way[0]] = changed(copy[way[0]], way[1:], new, drop)
    return copy

"""The fixtures, and the real files where someone has them."""

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from memaudit.datasets.irregularities import LoadedConversation
from memaudit.datasets.registry import read_conversations

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

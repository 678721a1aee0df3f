"""Reading a dataset file, whatever its format."""

from collections.abc import Iterator
from pathlib import Path

from memaudit.datasets.irregular import Loaded
from memaudit.datasets.registry import guess_format, named_loader


def iter_conversations(path: Path, format: str | None = None) -> Iterator[Loaded]:
    """The conversations one at a time; the format is guessed from the content if not given."""
    return named_loader(format or guess_format(path)).conversations(path)


def read_conversations(path: Path, format: str | None = None) -> list[Loaded]:
    """All conversations at once."""
    return list(iter_conversations(path, format))

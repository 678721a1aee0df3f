"""Reading a dataset file, whatever its format."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.datasets.irregular import Loaded
from memaudit.datasets.registry import guess_format, named_loader, seen_format


def iter_conversations(path: Path, format: str | None = None) -> Iterator[Loaded]:
    """The conversations one at a time; the format is guessed from the content if not given."""
    if format is None:
        return named_loader(guess_format(path)).conversations(path)
    loader, seen = named_loader(format), None
    with suppress(MemAuditError):  # what is wrong with the file is for the loader to say
        seen = seen_format(path)
    if seen not in (None, format):
        raise MemAuditError(f"{path.name}: is of the format {seen}, not {format}; check --format")
    return loader.conversations(path)


def read_conversations(path: Path, format: str | None = None) -> list[Loaded]:
    """All conversations at once."""
    return list(iter_conversations(path, format))

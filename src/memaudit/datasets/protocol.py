"""What a dataset format is: one small module, registered in datasets/registry.py."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from memaudit.datasets.irregular import Loaded


class Loader(Protocol):
    """Reads one format into the common shape."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str:
        """One line: what the format is."""
        ...

    def recognises(self, keys: frozenset[str]) -> bool:
        """Whether a record with these keys is of this format."""
        ...

    def conversations(self, path: Path) -> Iterator[Loaded]:
        """The file's conversations, one at a time."""
        ...

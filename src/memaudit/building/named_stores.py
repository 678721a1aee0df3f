"""The stores that come with the natural set: what three kinds of memory systems wrote of it.

They were written by hand, in the shapes of Mem0, Letta and A-Mem, and are no measurement of these
systems. Comparisons leave them out on the conversations of the board, which has stores of systems
that were run. Every memory is labelled against every unit of its conversation.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from memaudit.building.named_packages import NATURAL
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.stores.registry import read_imported

STORES = ("mem0-shaped", "letta-shaped", "amem-shaped", "amem-shaped-metadata")
"""A-Mem's notes in two views: what its reader is shown, and the metadata alone."""

STORES_FOLDER = "stores"
LABELS, MEMORIES = "coverage.jsonl", "memories.jsonl"


@dataclass(frozen=True, slots=True)
class StoreFiles:
    """Where the files of the shipped stores are."""

    folder: Path

    @property
    def labels(self) -> Path:
        """What every memory covers, as adjudicated."""
        return self.folder / LABELS

    @property
    def memories(self) -> Path:
        """The texts that the labels are about."""
        return self.folder / MEMORIES

    def store(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def salience(self, name: str) -> Path:
        """Write-time salience, scored by a reader who saw the store and no question."""
        return self.folder / f"salience-{name}.jsonl"


@contextmanager
def store_files() -> Iterator[StoreFiles]:
    """The files, on disk while the context lasts."""
    with as_file(files("memaudit").joinpath("examples", NATURAL, STORES_FOLDER)) as folder:
        yield StoreFiles(folder)


@cache
def natural_stores() -> tuple[ExportedStore, ...]:
    """Every shipped store, with the memories of all conversations."""
    with store_files() as found:
        return tuple(read_imported(found.store(name)) for name in STORES)

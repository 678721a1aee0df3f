"""An import that may fail, and what holds of every store."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from memaudit.adapters.registry import import_store
from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError


def attempt(paths: Sequence[Path], format: str | None = None) -> tuple[ExportedStore | None, str]:
    """The store, or the error of a refused import; anything else that is raised fails the test."""
    try:
        return import_store(paths, format), ""
    except MemAuditError as error:
        return None, str(error)


def balanced(store: ExportedStore) -> bool:
    """Whether every row that was read is accounted for, and every id is unique."""
    count = store.count
    states = Counter(memory.state for memory in store.memories if memory.state != "active")
    return (
        count.read == count.kept + sum(count.skipped.values())
        and count.kept == len(store.memories)
        and count.inactive == states
        and len({memory.id for memory in store.memories}) == count.kept
    )

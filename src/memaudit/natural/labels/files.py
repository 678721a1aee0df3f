"""Label files as they were read, before they meet a conversation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.datasets.source import dataset_hash
from memaudit.natural.labels.rows import LabelRow, label_rows

UNIT_FIELDS = frozenset({
    "conversation", "unit_id", "kind", "text", "quote", "turns", "dia_ids", "session", "questions",
    "note",
})  # fmt: skip
MEMORY_FIELDS = frozenset({
    "conversation", "memory_id", "kind", "text", "turn", "session", "sources", "confidence",
})  # fmt: skip
CELL_FIELDS = frozenset({"conversation", "memory_id", "unit_id", "coverage", "why"})


@dataclass(frozen=True, slots=True)
class LabelFile:
    """One file: its name without the ending names a pass."""

    name: str
    sha256: str
    rows: tuple[LabelRow, ...]

    def of(self, conversation: str) -> Iterator[LabelRow]:
        """The rows of a conversation; rows that name none belong to the only one."""
        for row in self.rows:
            if row.optional("conversation") in (None, conversation):
                yield row


@dataclass(frozen=True, slots=True)
class Labels:
    """What people brought; None where they did not."""

    units: LabelFile | None = None
    memories: LabelFile | None = None
    passes: tuple[LabelFile, ...] = ()

    @property
    def files(self) -> tuple[LabelFile, ...]:
        """All of them."""
        return (*filter(None, (self.units, self.memories)), *self.passes)

    @property
    def homeless(self) -> LabelRow | None:
        """The first row that names no conversation."""
        rows = (row for file in self.files for row in file.rows)
        return next((row for row in rows if row.optional("conversation") is None), None)


NO_LABELS = Labels()


def read_labels(
    units: Path | None = None, memories: Path | None = None, passes: Sequence[Path] = ()
) -> Labels:
    """The labels of these files."""
    names = [path.stem for path in passes]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise MemAuditError(f"two label passes are called {twice!r}; rename one of the files")
    return Labels(
        None if units is None else _file(units, UNIT_FIELDS, {"unit_id", "text"}),
        None if memories is None else _file(memories, MEMORY_FIELDS, {"memory_id", "text"}),
        tuple(_file(path, CELL_FIELDS, {"memory_id", "unit_id", "coverage"}) for path in passes),
    )


def _file(path: Path, known: frozenset[str], required: set[str]) -> LabelFile:
    rows = label_rows(path, known, frozenset(required))
    return LabelFile(path.stem, dataset_hash(path), tuple(rows))

"""Label files: JSONL or CSV rows, read before they meet a conversation."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.datasets.json_records import dataset_hash, json_lines, open_dataset, read_piece
from memaudit.io.lenient_json import encodable
from memaudit.io.strict_json import kind_of

MAX_BYTES = 256 << 20
LONGEST_CELL = 1 << 24
"""Letters; the csv module's own limit is far below what a session's text needs."""


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One row and its place."""

    data: dict[str, object]
    file: str
    line: int

    def wrong(self, message: str) -> MemAuditError:
        """The error for something wrong with this row."""
        return MemAuditError(f"{self.file}:{self.line}: {message}")

    def text(self, field: str) -> str:
        """A field that must be there."""
        found = self.optional(field)
        if found is None:
            raise self.wrong(f"lacks the field {field!r}")
        return found

    def optional(self, field: str) -> str | None:
        """A text or number as text; None where it is missing or empty."""
        value = self.data.get(field)
        if value is None or value == "":
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
            raise self.wrong(f"has {kind_of(value)} in the field {field!r}, text was expected")
        return encodable(str(value))

    def many(self, *fields: str) -> tuple[object, ...]:
        """A list, under the first of these names that is there; in CSV split at semicolons."""
        for field in fields:
            value = self.data.get(field)
            if value is None or value == "":
                continue
            if isinstance(value, list):
                return tuple(encodable(one) if isinstance(one, str) else one for one in value)
            if isinstance(value, str):
                pieces = (piece.strip() for piece in value.split(";"))
                return tuple(piece for piece in pieces if piece)
            if isinstance(value, int) and not isinstance(value, bool):
                return (value,)
            raise self.wrong(f"has {kind_of(value)} in the field {field!r}, a list was expected")
        return ()

    def share(self, field: str) -> Fraction:
        """A number from 0 to 1."""
        text = self.text(field)
        try:
            value = exact(text)
        except ValueError as error:
            raise self.wrong(f"has a bad field {field!r}: {error}") from None
        if not 0 <= value <= 1:
            raise self.wrong(f"has {field} {text}, which is not between 0 and 1")
        return value


def label_rows(path: Path, known: frozenset[str], required: frozenset[str]) -> list[LabelRow]:
    """The rows of a file; a column that is missing or unknown is an error that names it."""
    rows = list(_csv(path) if path.suffix.lower() == ".csv" else _jsonl(path))
    for row in rows:
        if unknown := sorted(row.data.keys() - known):
            fields = ", ".join(sorted(known))
            raise row.wrong(f"has the unknown field {unknown[0]!r} (known fields: {fields})")
        for field in sorted(required):
            row.text(field)
    if not rows:
        raise MemAuditError(f"{path.name}: holds no rows")
    return rows


def _jsonl(path: Path) -> Iterator[LabelRow]:
    for line, data in json_lines(path):
        yield LabelRow(data, path.name, line)


def _csv(path: Path) -> Iterator[LabelRow]:
    with open_dataset(path) as file:
        content = read_piece(file, MAX_BYTES + 1, path.name)
    if len(content) > MAX_BYTES:
        raise MemAuditError(f"{path.name}: is larger than {MAX_BYTES >> 20} MB; split it")
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise MemAuditError(f"{path.name}: is not UTF-8; save it as UTF-8") from None
    # Not by splitlines: it also parts lines at characters that belong to texts.
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        if len(set(header)) < len(header):
            raise MemAuditError(f"{path.name}:1: names a column twice")
        for cells in reader:
            if not cells:
                continue
            row = LabelRow(dict(zip(header, cells, strict=False)), path.name, reader.line_num)
            if len(cells) != len(header):
                raise row.wrong(f"has {len(cells)} cells, the header has {len(header)}")
            yield row
    except csv.Error as error:
        raise MemAuditError(f"{path.name}:{reader.line_num}: is not CSV: {error}") from None


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

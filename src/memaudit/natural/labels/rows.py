"""Rows of a label file: JSONL, or CSV with a header; typed access, one line for what is wrong."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.datasets.irregular import whole
from memaudit.datasets.lenient_json import kind_of
from memaudit.datasets.lines import json_lines
from memaudit.datasets.source import opened, read

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
        return whole(str(value))

    def many(self, *fields: str) -> tuple[object, ...]:
        """A list, under the first of these names that is there; in CSV split at semicolons."""
        for field in fields:
            value = self.data.get(field)
            if value is None or value == "":
                continue
            if isinstance(value, list):
                return tuple(whole(one) if isinstance(one, str) else one for one in value)
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
    with opened(path) as file:
        content = read(file, MAX_BYTES + 1, path.name)
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

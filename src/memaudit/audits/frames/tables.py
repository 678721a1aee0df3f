"""CSV tables of audits: read from any spreadsheet, written so that no spreadsheet runs a text.

A memory that starts with = + - @ is a formula to a spreadsheet. Such a cell is written with one
apostrophe before it, and one is taken off when a cell starts with apostrophes and then such a
letter; what is written is read back letter for letter. `cells.jsonl` holds the texts as they are.
"""

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from memaudit.core.errors import InvalidPackage, MemAuditError
from memaudit.io.files import read_bytes, read_text
from memaudit.io.strict_json import parse_lines
from memaudit.natural.label_files import LabelRow

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_SHIELDED = re.compile(r"'+[=+\-@\t\r]")
LONGEST_CELL = 1 << 24
"""Letters; the csv module's own limit is far below what a session's text needs."""


def shielded(text: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def unshielded(text: str) -> str:
    """The text behind a cell."""
    return text[1:] if _SHIELDED.match(text) else text


def csv_text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows as CSV; everything is quoted, since a bare carriage return would end a row."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([[shielded(cell) for cell in row] for row in rows])
    return out.getvalue()


def writable(text: str) -> str:
    """The text with half surrogate pairs, which no file can hold, replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def table_rows(path: Path) -> list[LabelRow]:
    """The rows of a CSV or JSONL file with their places; it must hold some."""
    kinds = {".csv": _csv, ".tsv": _csv, ".jsonl": _jsonl}
    read = kinds.get(path.suffix.lower())
    if read is None and os.path.lexists(path):  # never raises, unlike Path.exists
        raise MemAuditError(f"{path}: is no .csv or .jsonl file, as its name goes")
    if read is None:
        raise MemAuditError(f"{path}: does not exist (check the path)")
    rows = list(read(path))
    if not rows:
        raise MemAuditError(f"{path.name}: holds no rows")
    return rows


def _jsonl(path: Path) -> Iterator[LabelRow]:
    rows, problems = parse_lines(read_text(path), path.name)
    if problems:
        raise InvalidPackage(problems, path.name)
    for row in rows:
        yield LabelRow(row.data, row.file, row.line)


def _csv(path: Path) -> Iterator[LabelRow]:
    try:
        text = read_bytes(path).decode(
            "utf-8-sig"
        )  # spreadsheets put a byte order mark before UTF-8
    except UnicodeDecodeError:
        raise MemAuditError(f"{path.name}: is not UTF-8; save it as UTF-8") from None
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        if len(set(header)) < len(header):
            raise MemAuditError(f"{path.name}:1: names a column twice")
        for cells in reader:
            if not any(cells):
                continue
            data: dict[str, object] = dict(zip(header, map(unshielded, cells), strict=False))
            row = LabelRow(data, path.name, reader.line_num)
            if len(cells) != len(header):
                raise row.wrong(f"has {len(cells)} cells, the header has {len(header)}")
            yield row
    except csv.Error as error:
        raise MemAuditError(f"{path.name}:{reader.line_num}: is not CSV: {error}") from None


def _delimiter(text: str) -> str:
    """What parts the header's names: spreadsheets of some countries save semicolons or tabs."""
    header = text.partition("\n")[0]
    return next((mark for mark in ",;\t" if mark in header), ",")

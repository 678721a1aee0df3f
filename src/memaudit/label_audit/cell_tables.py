"""Cells, keys and labels as CSV tables: written for any spreadsheet, read from any."""

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from pydantic import JsonValue

from memaudit.core.errors import InvalidPackage, MemAuditError
from memaudit.core.exact import exact, plain
from memaudit.io.files import read_bytes, read_text
from memaudit.io.strict_json import parse_lines
from memaudit.label_audit.cells import VALUES, FrameCell, KeyedCell, label_of
from memaudit.natural.label_files import LabelRow

CELL_ID = ("cell_id",)
CELLS: Mapping[str, tuple[str, ...]] = {
    "id": CELL_ID,
    "package": ("package", "instance_id"),
    "candidate": ("candidate_id", "memory_id"),
    "unit": ("unit_id",),
    "candidate_kind": ("candidate_kind", "representation_type"),
    "unit_kind": ("unit_kind", "evidence_kind"),
    "same_session": ("same_session",),
    "candidate_text": ("candidate_text", "memory_text"),
    "unit_text": ("unit_text", "evidence_text"),
    "quote": ("quote", "source_quote"),
}
"""By the field of a cell."""

IDS, TEXTS = ("id", "package", "candidate", "unit"), ("candidate_text", "unit_text")
"""Fields that a file of cells must have a column for, unless its cells are only told apart; ids
may not be empty, texts may."""

PUBLISHED_VALUES = ("gemini_coverage", "model_coverage", "gemini_label", "model_label")
"""A model's coverage, or only whether it is at least 0.5, inside a file of cells."""

VALUE = ("value", *PUBLISHED_VALUES)
PROVENANCE = ("provenance",)
WEIGHT = ("weight",)
"""The key's columns; a value inside a file of cells is the key where there is no `key.csv`."""

ANNOTATOR = ("annotator_id", "annotator")
LABEL = ("label",)
NOTES = ("notes", "note")


def named(row: LabelRow, names: tuple[str, ...]) -> str | None:
    """The name by which a row has a column; None where it has none of them."""
    return next((name for name in names if name in row.data), None)


def optional(row: LabelRow, names: tuple[str, ...]) -> str | None:
    """A column's text; None where it is empty or missing."""
    name = named(row, names)
    return None if name is None else row.optional(name)


def required(row: LabelRow, names: tuple[str, ...]) -> str:
    """A column's text, which must be there."""
    name = named(row, names)
    if name is None:
        raise row.wrong(f"lacks the column {' or '.join(repr(one) for one in names)}")
    return row.text(name)


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


_SAID = {"true": True, "false": False}
_SPELLED = {True: "true", False: "false", None: ""}
KEY_COLUMNS = ("cell_id", "value", "provenance", "weight")
UNKNOWN_KIND = "unknown"


def cell_data(cell: FrameCell) -> dict[str, JsonValue]:
    """A cell as plain data, by our column names."""
    return {names[0]: getattr(cell, field) for field, names in CELLS.items()}


def cells_csv(cells: Iterable[FrameCell]) -> str:
    """Cells as CSV."""
    rows = []
    for cell in cells:
        data = cell_data(cell) | {"same_session": _SPELLED[cell.same_session]}
        rows.append([str(value) for value in data.values()])
    return csv_text([names[0] for names in CELLS.values()], rows)


def key_csv(cells: Iterable[FrameCell], key: Mapping[str, KeyedCell]) -> str:
    """The key as CSV, in the order of the cells."""
    return csv_text(
        KEY_COLUMNS,
        [
            (cell.id, str(plain(one.value)), one.provenance, str(plain(one.weight)))
            for cell in cells
            if (one := key.get(cell.id)) is not None
        ],
    )


def cells_from(rows: Sequence[LabelRow], ids_only: bool = False) -> tuple[FrameCell, ...]:
    """The cells of a file's rows; ids may not repeat. With `ids_only` nothing else is required."""
    first: dict[str, int] = {}
    found = []
    for row in rows:
        if not ids_only:
            _check_columns(row)
        cell = _cell(row)
        if cell.id in first:
            raise row.wrong(f"repeats the cell {cell.id!r} of line {first[cell.id]}")
        first[cell.id] = row.line
        found.append(cell)
    return tuple(found)


def _check_columns(row: LabelRow) -> None:
    """Refuse a row that does not say where its cell is from, or what to compare."""
    for field in IDS:
        required(row, CELLS[field])
    for field in TEXTS:
        if named(row, CELLS[field]) is None:
            required(row, CELLS[field])


def _cell(row: LabelRow) -> FrameCell:
    given = {field: optional(row, names) or "" for field, names in CELLS.items()
             if field not in ("id", "same_session")}  # fmt: skip
    for kind in ("candidate_kind", "unit_kind"):
        given[kind] = given[kind] or UNKNOWN_KIND
    return FrameCell(id=required(row, CELL_ID), same_session=_session(row), **given)


def _session(row: LabelRow) -> bool | None:
    value = row.data.get("same_session")
    if value is None or isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text and text not in _SAID:
        raise row.wrong(f"has same_session {text[:40]!r} (write true, false or nothing)")
    return _SAID.get(text)


def key_from(rows: Sequence[LabelRow], cells: Iterable[FrameCell]) -> dict[str, KeyedCell]:
    """The key of rows that hold values; empty where they hold none."""
    if named(rows[0], VALUE) is None:
        return {}
    known = {cell.id for cell in cells}
    key: dict[str, KeyedCell] = {}
    for row in rows:
        id = required(row, CELL_ID)
        if id not in known:
            raise row.wrong(f"names the unknown cell {id!r}")
        if id in key:
            raise row.wrong(f"repeats the cell {id!r}")
        column = named(row, VALUE) or ""
        said = optional(row, PROVENANCE)
        said = said or ("" if column == VALUE[0] else column)
        key[id] = KeyedCell(_value(row, column), said, _weight(row))
    return key


def _value(row: LabelRow, column: str) -> Fraction:
    """A number from 0 to 1, or a label's word."""
    try:
        label = label_of(row.data.get(column))
    except ValueError:
        return row.share(column)
    if label is None or label not in VALUES:
        raise row.wrong(f"has no value in the column {column!r}")
    return VALUES[label]


def _weight(row: LabelRow) -> Fraction:
    """How many cells the cell stands for; 1 where the file does not say."""
    text = optional(row, WEIGHT)
    if text is None:
        return Fraction(1)
    try:
        weight = exact(text)
    except ValueError as error:
        raise row.wrong(f"has a bad weight: {error}") from None
    if weight <= 0:
        raise row.wrong(f"has the weight {text}, which is not above 0")
    return weight

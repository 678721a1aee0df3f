"""Cells, keys and labels as CSV tables: written for any spreadsheet, read from any.

Cells that a spreadsheet would evaluate are shielded, see judges/label_files.py. `cells.jsonl`
holds texts as they are.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from pydantic import JsonValue

from memaudit.judges.label_files import LabelRow, csv_text, unshielded
from memaudit.kernel.errors import InvalidPackage, MemAuditError
from memaudit.kernel.exact import exact, plain
from memaudit.kernel.io.files import read_bytes, read_text
from memaudit.kernel.io.strict_json import parse_lines
from memaudit.kernel.package.labels import VALUES, parse_label
from memaudit.kernel.package.unit_parts import is_part_name
from memaudit.lab.labels.frame import FrameCell, KeyedCell
from memaudit.stores.csv_rows import csv_rows

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
"""The names of the column of each field of a cell; ours first."""

IDS, TEXTS = ("id", "package", "candidate", "unit"), ("candidate_text", "unit_text")
"""Fields that a file of cells must have a column for, unless only the cell ids matter. Ids may not
be empty, texts may."""

PUBLISHED_VALUES = ("gemini_coverage", "model_coverage", "gemini_label", "model_label")
"""A model's coverage, or only whether it is at least 0.5, in a published file of cells."""

VALUE = ("value", *PUBLISHED_VALUES)
PROVENANCE = ("provenance",)
WEIGHT = ("weight",)
"""The key's columns; a value in a file of cells is the key if there is no `key.csv`."""

ANNOTATOR = ("annotator_id", "annotator")
LABEL = ("label",)
PARTS = "parts"
NOTES = ("notes", "note")

KEY_COLUMNS = ("cell_id", "value", "provenance", "weight")
UNKNOWN_KIND = "unknown"


def column_name(row: LabelRow, names: tuple[str, ...]) -> str | None:
    """The first of these names that is a column of the row."""
    return next((name for name in names if name in row.data), None)


def optional(row: LabelRow, names: tuple[str, ...]) -> str | None:
    """A column's text; None if it is empty or missing."""
    name = column_name(row, names)
    return None if name is None else row.optional(name)


def required(row: LabelRow, names: tuple[str, ...]) -> str:
    """A column's text, which must not be empty."""
    name = column_name(row, names)
    if name is None:
        raise row.wrong(f"lacks the column {' or '.join(repr(name) for name in names)}")
    return row.text(name)


def writable(text: str) -> str:
    """The text with lone surrogates, which no file can hold, replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def table_rows(path: Path) -> list[LabelRow]:
    """The rows of a CSV or JSONL file with their line numbers; an error if there are none."""
    readers = {".csv": _csv, ".tsv": _csv, ".jsonl": _jsonl}
    read = readers.get(path.suffix.lower())
    # A file without a known ending is a mistake, a file that is not there another one.
    if read is None and os.path.lexists(path):  # never raises, unlike Path.exists
        raise MemAuditError(f"{path}: is not a .csv or .jsonl file")
    if read is None:
        raise MemAuditError(f"{path}: does not exist (check the path)")
    rows = list(read(path))
    if not rows:
        raise MemAuditError(f"{path.name}: has no rows")
    return rows


def _jsonl(path: Path) -> Iterator[LabelRow]:
    rows, problems = parse_lines(read_text(path), path.name)
    if problems:
        raise InvalidPackage(problems, path.name)
    for row in rows:
        yield LabelRow(row.data, row.file, row.line)


def _csv(path: Path) -> Iterator[LabelRow]:
    try:  # spreadsheets put a byte order mark before UTF-8
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise MemAuditError(f"{path.name}: is not UTF-8; save it as UTF-8") from None
    for line, header, cells in csv_rows(text, path.name):
        data: dict[str, object] = dict(zip(header, map(unshielded, cells), strict=False))
        row = LabelRow(data, path.name, line)
        # A comma in a text that is not quoted moves all columns after it.
        if len(cells) != len(header):
            raise row.wrong(f"has {len(cells)} cells, the header has {len(header)}")
        yield row


_BOOLEANS = {"true": True, "false": False}
_SPELLED = {True: "true", False: "false", None: ""}


def cell_data(cell: FrameCell) -> dict[str, JsonValue]:
    """A cell as plain data, by our column names."""
    data: dict[str, JsonValue] = {names[0]: getattr(cell, field) for field, names in CELLS.items()}
    return {**data, PARTS: dict(cell.parts)} if cell.parts else data


def cells_csv(cells: Sequence[FrameCell]) -> str:
    """Cells as CSV. Where some have parts, there is a column with one line for each."""
    columns = [names[0] for names in CELLS.values()] + _parts_column(cells)
    rows = []
    for cell in cells:
        data = cell_data(cell) | {
            "same_session": _SPELLED[cell.same_session],
            PARTS: "\n".join(f"{name}: {words}" for name, words in cell.parts),
        }
        rows.append([str(data[column]) for column in columns])
    return csv_text(columns, rows)


def _parts_column(cells: Iterable[FrameCell]) -> list[str]:
    return [PARTS] if any(cell.parts for cell in cells) else []


def key_csv(cells: Sequence[FrameCell], key: Mapping[str, KeyedCell]) -> str:
    """The key as CSV, in the order of the cells."""
    more = _parts_column(cells)
    return csv_text(
        (*KEY_COLUMNS, *more),
        [
            (
                cell.id,
                str(plain(keyed.value)),
                keyed.provenance,
                str(plain(keyed.weight)),
                *(kept_text(cell, keyed.kept) for _ in more),
            )
            for cell in cells
            if (keyed := key.get(cell.id)) is not None
        ],
    )


def kept_text(cell: FrameCell, kept: Collection[str]) -> str:
    """The names of kept parts in a cell of a table, in the order of the parts."""
    return ";".join(name for name in cell.part_names if name in kept)


def cells_from(rows: Sequence[LabelRow], ids_only: bool = False) -> tuple[FrameCell, ...]:
    """The cells of a file's rows; ids may not repeat. With `ids_only` nothing else is required."""
    lines: dict[str, int] = {}
    cells = []
    for row in rows:
        if not ids_only:
            _check_columns(row)
        cell = _cell(row)
        if cell.id in lines:
            raise row.wrong(f"repeats the cell {cell.id!r} of line {lines[cell.id]}")
        lines[cell.id] = row.line
        cells.append(cell)
    return tuple(cells)


def _check_columns(row: LabelRow) -> None:
    """Reject a row that does not identify its cell, or lacks a text to compare."""
    for field in IDS:
        required(row, CELLS[field])
    for field in TEXTS:
        if column_name(row, CELLS[field]) is None:
            required(row, CELLS[field])


def _cell(row: LabelRow) -> FrameCell:
    given = {
        field: optional(row, names) or ""
        for field, names in CELLS.items()
        if field not in ("id", "same_session")
    }
    for kind in ("candidate_kind", "unit_kind"):
        given[kind] = given[kind] or UNKNOWN_KIND
    return FrameCell(
        id=required(row, CELL_ID), same_session=_same_session(row), parts=_parts(row), **given
    )


def _parts(row: LabelRow) -> tuple[tuple[str, str], ...]:
    """The parts of a cell: an object of words by name, or one line for each."""
    given = row.data.get(PARTS)
    if given in (None, ""):
        return ()
    if isinstance(given, str):
        lines = (line.partition(":") for line in given.splitlines() if line.strip())
        given = {name.strip(): words.strip() for name, _, words in lines}
    if not isinstance(given, dict) or not all(
        is_part_name(name) and isinstance(words, str) and words for name, words in given.items()
    ):
        raise row.wrong(f"has something else than names and words in the column {PARTS!r}")
    return tuple((name, words) for name, words in given.items())


def kept_parts(row: LabelRow) -> frozenset[str] | None:
    """The parts that a label names; None if there is nothing in its column of parts."""
    return frozenset(map(str, row.many(PARTS))) if row.has(PARTS) else None


def _same_session(row: LabelRow) -> bool | None:
    value = row.data.get("same_session")
    if value is None or isinstance(value, bool):
        return value
    # Spreadsheets write TRUE, ours true; JSON has real booleans.
    text = str(value).strip().lower()
    if text and text not in _BOOLEANS:
        raise row.wrong(f"has same_session {text[:40]!r} (write true, false or nothing)")
    return _BOOLEANS.get(text)


def key_from(rows: Sequence[LabelRow], cells: Iterable[FrameCell]) -> dict[str, KeyedCell]:
    """The key of rows that hold values; empty if they hold none."""
    if column_name(rows[0], VALUE) is None:
        return {}
    ids = {cell.id for cell in cells}
    key: dict[str, KeyedCell] = {}
    for row in rows:
        id = required(row, CELL_ID)
        if id not in ids:
            raise row.wrong(f"names the unknown cell {id!r}")
        if id in key:
            raise row.wrong(f"repeats the cell {id!r}")
        column = column_name(row, VALUE) or ""
        provenance = optional(row, PROVENANCE) or ("" if column == VALUE[0] else column)
        kept = kept_parts(row) or frozenset()
        key[id] = KeyedCell(_value(row, column), provenance, _weight(row), kept)
    return key


def _value(row: LabelRow, column: str) -> Fraction:
    """A number from 0 to 1, or a label's word."""
    try:
        # Words of labels and numbers: published tables have both.
        label = parse_label(row.data.get(column))
    except ValueError:
        return row.share(column)
    if label is None or label not in VALUES:
        raise row.wrong(f"has no value in the column {column!r}")
    return VALUES[label]


def _weight(row: LabelRow) -> Fraction:
    """How many cells the cell stands for; 1 if the file does not say."""
    text = optional(row, WEIGHT)
    if text is None:
        return Fraction(1)
    try:
        weight = exact(text)
    except ValueError as error:
        raise row.wrong(f"has a bad weight: {error}") from None
    if weight <= 0:
        raise row.wrong(f"has the weight {text}; weights must be above 0")
    return weight

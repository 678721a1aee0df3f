"""Cells and their key as tables: rows out, and rows in under any of the known column names."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from pydantic import JsonValue

from memaudit.audits.frames.cell import VALUES, FrameCell, KeyedCell
from memaudit.audits.frames.columns import (
    CELL_ID,
    CELLS,
    IDS,
    PROVENANCE,
    TEXTS,
    VALUE,
    WEIGHT,
    named,
    optional,
    required,
)
from memaudit.audits.frames.label_words import label_of
from memaudit.audits.frames.tables import csv_text
from memaudit.core.exact import exact, plain
from memaudit.natural.label_files import LabelRow

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

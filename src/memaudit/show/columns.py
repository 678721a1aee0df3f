"""A column of a table, defined once: terminal, page, JSON, CSV and data frame follow from it."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

from memaudit.kernel.number_text import MISSING, rounded

Row = TypeVar("Row")
FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""How a text starts that a spreadsheet would take for a formula."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Generic[Row]):
    """What a column shows of a row, and how. Without a `header` it is not on the page, without a
    `short` one not in the terminal."""

    key: str
    """Its name in JSON and CSV."""
    value: Callable[[Row], Any]
    """None where there is none; a column without any value is not shown."""
    header: str = ""
    short: str = ""
    show: Callable[[Any], str] = str
    """A value as text."""
    under: Callable[[Row], str] | None = None
    """What stands below the value on the page."""
    beside: str = ""
    """The header under which the terminal shows that in a column of its own."""
    in_terminal: Callable[[Row], str] | None = None
    """What the terminal shows instead."""
    tag: Callable[[Row], str] | None = None
    """A word after the value on the page, and a star in the terminal."""
    identifies: bool = False
    """Whether it says what a row is about: it is repeated where a table is split."""
    is_store: bool = False
    """Whether its values are names of stores, which have a sign on the page."""
    words: bool = False
    """Whether it is aligned to the left, as words are."""
    second: bool = False
    """Whether it goes into a second table where the terminal is too narrow for all."""
    in_data: bool = True
    """Whether it is in JSON."""
    about: str = ""
    """What it means, in a sentence."""

    def text(self, row: Row) -> str:
        value = self.value(row)
        return MISSING if value is None else self.show(value)


def column(
    header: str,
    value: Callable[[Row], Any],
    *,
    short: str = "",
    show: Callable[[Any], str] = str,
    words: bool = False,
) -> Column[Row]:
    """A column that the terminal and the page show alike."""
    key = header.replace(" ", "_")
    return Column(
        key=key, value=value, header=header, short=short or header, show=show, words=words
    )


def filled(columns: Sequence[Column[Row]], rows: Sequence[Row]) -> list[Column[Row]]:
    """The columns that have a value in some row."""
    return [column for column in columns if any(column.value(row) is not None for row in rows)]


def records(columns: Sequence[Column[Row]], rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as JSON, undefined numbers as null."""
    return [
        {column.key: plain_data(column.value(row)) for column in columns if column.in_data}
        for row in rows
    ]


def plain_data(value: Any) -> Any:
    """A value as JSON: floats rounded, fractions as exact text, records by their fields."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, Fraction):
        return str(value)
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: plain_data(part) for name, part in value.items()}
    if is_dataclass(value):
        return {field.name: plain_data(getattr(value, field.name)) for field in fields(value)}
    return [plain_data(part) for part in value]


def flat_table(
    columns: Sequence[Column[Row]], rows: Sequence[Row]
) -> tuple[list[str], list[list[Any]]]:
    """Names and rows with a single number or text in each cell, of the columns that are shown."""
    shown = filled([column for column in columns if column.header or column.short], rows)
    flat = [
        dict(
            pair
            for column in shown
            for pair in _flat(column.key, plain_data(_number(column.value(row))))
        )
        for row in rows
    ]
    names = list(dict.fromkeys(name for record in flat for name in record))
    return names, [[record.get(name) for name in names] for record in flat]


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, Fraction) else value


def _flat(key: str, data: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(data, dict):
        for name, part in data.items():
            yield from _flat(f"{key}_{name}".replace(" ", "_"), part)
    else:
        yield key, ", ".join(map(str, data)) if isinstance(data, list) else data


def csv_text(columns: Sequence[Column[Row]], rows: Sequence[Row]) -> str:
    """The table as CSV. A text that a spreadsheet would compute has an apostrophe before it."""
    names, table = flat_table(columns, rows)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for row in table:
        writer.writerow(
            f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell for cell in row
        )
    return out.getvalue()

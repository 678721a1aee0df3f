"""A package in one JSON file, read with the line of every row and written with one row per line."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memaudit.core.digest import digest
from memaudit.core.errors import InvalidPackage, Problem
from memaudit.core.package import TABLES, Package
from memaudit.io.atomic import write_file
from memaudit.io.files import read_text
from memaudit.io.package_draft import PackageDraft, header_data, open_header, table_data
from memaudit.io.strict_json import JsonRow, json_text, kind_of, parse_json

_LENIENT = json.JSONDecoder(parse_int=str, parse_float=str)
_SPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Span:
    """One row of a table, or one other top-level value (row -1), in the text."""

    key: str
    row: int
    text: str
    line: int


def read_package_file(path: Path) -> PackageDraft:
    """The draft of a one-file package."""
    text, file = read_text(path), path.name
    document = _parse(text, file)
    if not isinstance(document, dict):
        problem = Problem(f"is not a package: it holds {kind_of(document)}", file=file)
        raise InvalidPackage([problem], file)
    draft, is_package = open_header(document, file, set(TABLES))
    if not is_package:
        raise InvalidPackage(draft.problems, file)
    places = {(span.key, span.row): span.line for span in spans(text)}
    for table in TABLES:
        _read_table(draft, table, document.get(table), places)
    return draft


def _read_table(
    draft: PackageDraft, table: str, rows: Any, places: dict[tuple[str, int], int]
) -> None:
    """Put a table's rows into the draft."""
    file = draft.header.file
    if rows is None and table in ("queries", "coverage"):
        return
    if not isinstance(rows, list):
        state = "is missing" if rows is None else f"is {kind_of(rows)}"
        draft.problems.append(
            Problem(f"the table {table!r} {state}", "a list was expected", file=file)
        )
        draft.partial.add(table)
        return
    for number, data in enumerate(rows):
        place = places.get((table, number), 0)
        if isinstance(data, dict):
            draft.tables[table].append(JsonRow(data, file, place))
        else:
            message = f"{table}[{number}] is {kind_of(data)}"
            draft.problems.append(Problem(message, "an object was expected", file=file, line=place))
            draft.partial.add(table)


def _parse(text: str, file: str) -> Any:
    """The document; a row that is JSON but not allowed in a package is reported at its own line."""
    try:
        return parse_json(text, file)
    except InvalidPackage as error:
        refusals = [problem for span in _parts(text) for problem in _refusals(span, file)]
        raise InvalidPackage(refusals or error.problems, file) from None


def _parts(text: str) -> list[Span]:
    """The parts of a document that is JSON, else none."""
    try:
        json.loads(text, parse_int=str)
        return list(spans(text)) if text.lstrip().startswith("{") else []
    except (ValueError, RecursionError):
        return []


def _refusals(span: Span, file: str) -> tuple[Problem, ...]:
    try:
        parse_json(span.text, file, span.line)
    except InvalidPackage as error:
        return error.problems
    return ()


def spans(text: str) -> Iterator[Span]:
    """The parts of a JSON object in file order, each with its line."""
    line, before = 1, 0
    for key, row, start, end in _values(text):
        line += text.count("\n", before, start)
        before = start
        yield Span(key, row, text[start:end], line)


def _values(text: str) -> Iterator[tuple[str, int, int, int]]:
    """Key, row, start and end of every row; `text` is a valid JSON object."""
    at = _skip(text, _skip(text, 0) + 1)
    while text[at] != "}":
        key, at = _LENIENT.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if text[at] == "[":
            at, row = _skip(text, at + 1), 0
            while text[at] != "]":
                _, end = _LENIENT.raw_decode(text, at)
                yield key, row, at, end
                at, row = _skip(text, end), row + 1
                if text[at] == ",":
                    at = _skip(text, at + 1)
            at += 1
        else:
            _, end = _LENIENT.raw_decode(text, at)
            yield key, -1, at, end
            at = end
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def write_package_file(package: Package, path: Path) -> None:
    """One JSON file with one row per line."""
    parts = {name: json_text(value) for name, value in header_data(package).items()}
    parts["digest"] = json_text(digest(package))
    for table, rows in table_data(package).items():
        body = ",\n    ".join(json_text(row) for row in rows)
        parts[table] = f"[\n    {body}\n  ]" if rows else "[]"
    body = ",\n".join(f"  {json_text(name)}: {text}" for name, text in parts.items())
    write_file(path, f"{{\n{body}\n}}\n")

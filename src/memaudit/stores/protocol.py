"""What an importer is: its options, its protocol, and the rows of an export field by field."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from http import HTTPStatus
from typing import Protocol

from pydantic import JsonValue

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.foreign_json import ForeignRow, encodable
from memaudit.kernel.io.store_file import (
    ExportedStore,
    HarmlessSkip,
    ReaderTime,
    Times,
    is_vector,
    plain_json,
)
from memaudit.kernel.io.strict_json import kind_of
from memaudit.kernel.io.timestamps import export_time
from memaudit.kernel.words.text import one_line, shortened
from memaudit.stores.source import ExportFile, ExportSource
from memaudit.stores.sqlite_files import rows as table_rows


@dataclass(frozen=True, slots=True)
class MappedFields:
    """Which fields of any file are a memory's text, time, id and namespace, as dotted paths."""

    text: str
    time: str | None = None
    id: str | None = None
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class ImportOptions:
    name: str | None = None
    view: str | None = None
    """Which text of a record is read; the adapter's first view by default."""
    namespace: str | None = None
    """Only memories of this user, block or folder."""
    conversation: str | None = None
    """Only memories of this conversation, in a file of several."""
    as_of: str | None = None
    """The ISO time that expiry dates are compared with; by default the latest in the export."""
    times: Times = "shown"
    fields: MappedFields | None = None
    """Given, they are read whatever the format."""
    guessed: bool = False


class Adapter(Protocol):
    """Reads the exports of one memory system into an ExportedStore."""

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str:
        """The system, and what is read of it, in a few words."""
        ...

    @property
    def views(self) -> tuple[str, ...]:
        """The texts of a record to choose from; the first is the default."""
        ...

    @property
    def reader_time(self) -> ReaderTime | None:
        """The time of a memory that the system's documented reader is shown, if any."""
        ...

    def recognises(self, source: ExportSource) -> int:
        """How certain it is that the source is its own: 0 not at all, 3 by marks that no other has.

        4 is for a format whose marks a similar format has as well.
        """
        ...

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        """The store, with what was left out and why."""
        ...


@dataclass(frozen=True, slots=True)
class ExportRow:
    """One row of an export: its value, or why it could not be read."""

    place: str
    value: object = None
    problem: str = ""


def rows_of(part: ExportFile, keys: Sequence[str] = (), own: Sequence[str] = ()) -> list[ExportRow]:
    """The rows of a file: its lines, its list, or the list under one of `keys` ("data.profiles").

    An object with one of the keys `own` is a row itself, as a JSONL file of one line is.
    """
    if part.kind == "lines":
        return [
            ExportRow(f"{part.name}:{line.number}", line.value, line.problem)
            for line in part.parsed.lines
        ]
    if part.kind != "json":
        raise MemAuditError(f"{part.name}: is not JSON (this format is read from JSON)")
    document = part.parsed.document
    if isinstance(document, list):
        return [ExportRow(f"{part.name}: [{at}]", row) for at, row in enumerate(document)]
    for key in keys:
        present, value = value_at(document, key)
        if not present:
            continue
        if not isinstance(value, list):
            raise MemAuditError(f"{part.name}: {key} is {kind_of(value)}, a list was expected")
        # Some services answer with an error beside an empty list.
        if not value and (problem := api_error(document)):
            raise MemAuditError(_failed(part.name, problem))
        return [ExportRow(f"{part.name}: {key}[{at}]", row) for at, row in enumerate(value)]
    if isinstance(document, dict) and any(key in document for key in own):
        return [ExportRow(f"{part.name}:1", document)]
    raise MemAuditError(no_list(part, keys))


def has_table(part: ExportFile, table: str, columns: Sequence[str]) -> bool:
    return set(columns) <= set(part.tables.get(table, ()))


def rows_of_table(
    part: ExportFile,
    table: str,
    required: Sequence[str],
    optional: Sequence[str] = (),
    order: str = "rowid",
) -> Iterator[ExportRow]:
    """The rows of a table of a SQLite file, in their order, with their texts decoded."""
    if not has_table(part, table, required):
        names = ", ".join(repr(name[:40]) for name in sorted(part.tables)[:5]) or "no table"
        raise MemAuditError(
            f"{part.name}: has no table {table}({', '.join(required)}); found {names}"
        )
    columns = (*required, *(name for name in optional if name in part.tables[table]))
    for at, row in enumerate(table_rows(part.path, part.name, table, columns, order), start=1):
        place = f"{part.name}: {table} row {at}"
        try:
            yield ExportRow(
                place,
                {
                    name: value.decode("utf-8") if isinstance(value, bytes) else value
                    for name, value in row.items()
                },
            )
        except UnicodeDecodeError as error:
            yield ExportRow(place, problem=f"not UTF-8: at byte {error.start} of a column")


def value_at(document: object, key: str) -> tuple[bool, object]:
    """Whether there is a value under a dotted key, and the value."""
    for step in key.split("."):
        if not isinstance(document, dict) or step not in document:
            return False, None
        document = document[step]
    return True, document


def no_list(part: ExportFile, keys: Sequence[str]) -> str:
    """The error for a document that is not an export of this format."""
    document = part.parsed.document
    if problem := api_error(document):
        return _failed(part.name, problem)
    expected = (
        f"a list, or one under {' or '.join(repr(key) for key in keys)}" if keys else "a list"
    )
    if isinstance(document, dict):
        keys_held = ", ".join(repr(key[:40]) for key in list(document)[:5]) or "nothing"
        return f"{part.name}: holds an object with {keys_held}; expected {expected}"
    return f"{part.name}: holds {kind_of(document)}; expected {expected}"


def _failed(name: str, problem: str) -> str:
    return f"{name}: is the error of an API, not a store: {problem} (export it again)"


LONGEST_FAULT = 120

_STATUS = ("code", "status", "statusCode", "status_code")


def api_error(document: object) -> str | None:
    """The message of an API error; None if the document is not one."""
    if not isinstance(document, dict):
        return None
    for key in ("error", "errors", "detail"):
        if error := document.get(key):
            return _fault(error)
    if document.get("errno") or document.get("success") is False:
        return _fault(document.get("errmsg") or document.get("message") or "no message")
    failed = any(_is_failure(document.get(key)) for key in _STATUS)
    if failed and isinstance(document.get("message"), str):
        return _fault(document["message"])
    return None


def _is_failure(status: object) -> bool:
    if isinstance(status, int) and not isinstance(status, bool):
        return status >= 400
    return isinstance(status, str) and status.lower() in ("error", "failed", "failure")


def _fault(value: object) -> str:
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        value = next((value[key] for key in ("message", "msg", "detail") if key in value), value)
    return shortened(one_line(encodable(str(value))), LONGEST_FAULT)


_REASONS = "|".join(re.escape(status.phrase) for status in HTTPStatus if status >= 400)
_FAILURES = (
    r"(?:there are |found )?(?:no|zero|0)(?: stored)? (?:memor(?:y|ies)|results?|records?|facts?)"
    r"(?: (?:were|are|found|available|stored|returned|yet))*(?: (?:for|in) \S+)?",
    r"(?:the )?(?:memory|store) is empty|null|none|undefined|n/a|empty|nothing found",
    rf"(?:http\S* )?(?:[45]\d\d|(?:[45]\d\d )?(?:{_REASONS}))",
    r"(?:access|permission) denied|rate limit exceeded|(?:request )?timed out|connection refused",
    r"(?:invalid|missing) api key|authentication (?:failed|required)",
    r"(?:[a-z_.]*(?:error|exception)|fatal|failed|curl): .*",
    r"(?:failed|unable|could not) (?:to )?(?:connect|fetch|load|read|retrieve|export)\b.*",
)
_FAILURE = re.compile("|".join(_FAILURES), re.IGNORECASE)
LONGEST_FAILURE = 300


def is_failure(text: str) -> bool:
    """Whether all of a text is a phrase with which tools report an error or an empty result.

    As the only memory of a store it would score 0, which nobody measured.
    """
    phrase = text.strip().strip("\"'`.!")
    return len(phrase) <= LONGEST_FAILURE and _FAILURE.fullmatch(phrase) is not None


def samples(source: ExportSource, keys: Sequence[str] = ()) -> Iterator[dict[str, object]]:
    """A few rows of every JSON file, for recognising a format."""
    for part in source.parts:
        if part.kind == "lines":
            values: Sequence[object] = [line.value for line in part.parsed.lines[:20]]
        else:
            document = part.parsed.document
            lists = [document, *(value_at(document, key)[1] for key in keys)]
            values = next((value for value in lists if isinstance(value, list)), [document])[:20]
        yield from (value for value in values if isinstance(value, dict))


def mostly_have(source: ExportSource, keys: Sequence[str], *marks: Sequence[str]) -> bool:
    """Whether most sampled rows have at least one mark of every group."""
    marked = [
        all(any(mark in row for mark in group) for group in marks) for row in samples(source, keys)
    ]
    return sum(marked) * 2 > len(marked)


MAX_TEXT = 1_000_000
"""Characters of one memory."""


class SkipRow(Exception):
    """The row cannot be a memory; the text says why."""


class ExportFields(ForeignRow):
    """The fields of one row, and the view that is read; warnings name the row by its `place`."""

    def __init__(
        self, data: dict[str, object], place: str, note: Callable[[str, str], None], view: str = ""
    ) -> None:
        super().__init__(data)
        self.place, self.view, self._note = place, view, note

    def note(self, what: str, name: str = "") -> None:
        self._note(what, f"{self.place}.{name}" if name else self.place)

    def mistyped(self, name: str, what: str) -> None:
        self.note(f"{name} is {what}, left empty")

    def text(self, name: str) -> str:
        """The text of a memory; a row with a missing or blank text is skipped."""
        return self.checked(self.data.get(name), name)

    def checked(self, value: object, name: str) -> str:
        if value is None:
            raise SkipRow(f"no {name}")
        if not isinstance(value, str):
            raise SkipRow(f"{name} is {kind_of(value)}, not text")
        if not value.strip():
            raise SkipRow(HarmlessSkip.EMPTY_TEXT)
        if len(value) > MAX_TEXT:
            raise SkipRow(f"text of more than {MAX_TEXT} characters")
        text = encodable(value)
        if text != value:
            self.note("broken character, replaced by U+FFFD", name)
        return text

    def label(self, name: str) -> str | None:
        """A name or id, which may be a whole number; anything else is noted and left out."""
        value = self.data.get(name)
        if isinstance(value, str):
            return encodable(value).strip() or None
        number = self.whole_number(name)
        if number is None and value is not None:
            self.mistyped(name, kind_of(value))
        return number

    def time(self, *names: str) -> str | None:
        """The time under the first of these names that there is, as ISO text; None and noted if it
        cannot be read."""
        name = next((name for name in names if self.data.get(name) is not None), names[0])
        value = self.data.get(name)
        if value is None or value == "" or value == b"":
            return None
        time = export_time(value)
        if time is None:
            self.note(f"{name} is not a time, left empty")
        return time

    def flag(self, name: str) -> bool:
        """A switch that decides the row's state; the row is skipped if it cannot be read."""
        value = self.data.get(name)
        if value is None or isinstance(value, bool):
            return value is True
        if value in (0, 1):  # as SQL writes them
            return value == 1
        # Not guessed: it decides whether a memory is deleted.
        raise SkipRow(f"{name} is {kind_of(value)}, not true or false")

    def names(self, name: str) -> tuple[str, ...]:
        """A list of names or ids; other items are noted and left out."""
        value = self.rows(name)
        # Ids are numbers in some systems; true and false are none.
        names = [
            encodable(str(item))
            for item in value
            if isinstance(item, str | int) and not isinstance(item, bool)
        ]
        if len(names) < len(value):
            self.note(f"part of {name} is not text, left out")
        return tuple(names)

    def inner(self, name: str) -> "ExportFields":
        return ExportFields(self.object(name), f"{self.place}.{name}", self._note, self.view)

    def number(self, name: str) -> float | None:
        """A finite number, or None; any other value is noted."""
        value = self.data.get(name)
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            plain = plain_json(value)
            if isinstance(plain, int | float):
                return float(plain)
        if value is not None:
            self.note(f"{name} is not a number, left out")
        return None

    def others(self, *read: str) -> dict[str, JsonValue]:
        """Every other field, as plain data without embeddings."""
        return {
            encodable(name): plain_json(value)
            for name, value in self.data.items()
            if name not in read and value is not None and not is_vector(value)
        }

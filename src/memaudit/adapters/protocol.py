"""What an importer is: its options, its protocol, and the rows of an export."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from memaudit.adapters.failed_exports import api_error
from memaudit.adapters.source import ExportFile, ExportSource
from memaudit.adapters.sqlite_tables import rows as table_rows
from memaudit.adapters.store import ExportedStore, ReaderTime, Times
from memaudit.core.errors import MemAuditError
from memaudit.io.strict_json import kind_of


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
    """Only memories of this user, agent, block or folder."""
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

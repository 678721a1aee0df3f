"""A format that is a map of fields: how it is recognised, where its rows are, what is read of them.

A field is a name, a path of names with dots between them, or a function where a value takes more
than a look. `field_maps.py` is the table of these formats.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore, ExportWarning, ReaderTime, State
from memaudit.stores.ledger import ImportLedger, MemoryDraft
from memaudit.stores.protocol import (
    ExportFields,
    ExportRow,
    ImportOptions,
    has_table,
    mostly_have,
    rows_of,
    rows_of_table,
    value_at,
)
from memaudit.stores.source import ExportFile, ExportSource

CODE, DOCUMENTATION = "the system's own source code", "public documentation"
"""What most maps were checked against."""

Labelled = str | tuple[str, ...] | Callable[[ExportFields], str | None]
"""A path, several of which the first with a value counts, or a function of a row."""

Pages = list[list[ExportRow]]
"""The rows of each file."""


@dataclass(frozen=True, slots=True)
class Table:
    """The table of a SQLite file that holds the rows; without a name, each that has the columns."""

    name: str
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    order: str = ""
    unpack: Callable[[ExportRow], ExportRow] = lambda row: row
    """Opens columns that hold JSON."""

    def named(self, part: ExportFile) -> list[str]:
        names = [self.name] if self.name else part.tables
        return [name for name in names if has_table(part, name, self.required)]

    def rows(self, part: ExportFile) -> Iterator[ExportRow]:
        names = self.named(part)
        if not names and not self.name:
            held = ", ".join(sorted(part.tables)[:5]) or "no table"
            columns = ", ".join(self.required)
            raise MemAuditError(f"{part.name}: has no table with {columns}; found {held}")
        for name in names or [self.name]:  # the reader says what is there instead
            for raw in rows_of_table(part, name, self.required, self.optional, self.order):
                yield raw if raw.problem else self.unpack(raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldMap:
    """An adapter by its fields. Every row is a memory; what is not read becomes metadata."""

    name: str
    system: str
    label: str
    checked: str
    """What the map was checked against; docs/stores.md says more."""
    views: tuple[str, ...] = ("text",)
    reader_time: ReaderTime | None = None

    marks: tuple[tuple[str, ...], ...] = ()
    """Most rows have a name of every group."""
    certainty: int = 3
    recognised: Callable[[ExportSource], int] | None = None
    """In place of marks, where they are not enough."""
    table: Table | None = None
    lists: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    """An object with one of these names is a row itself, not a page of rows; by default the text's
    name, where it is one."""
    expand: Callable[[list[ExportRow]], list[ExportRow]] | None = None
    """Further rows that the rows of a page hold."""
    unpack: Callable[[object], object] | None = None
    """Opens every value of a row."""

    text: str | Callable[[ExportFields], str]
    id: Labelled
    state: Callable[[ExportFields], State] = lambda _: "active"
    namespace: Labelled = ()
    created: Labelled = ()
    updated: Labelled = ()
    valid_from: Labelled = ()
    valid_to: Labelled = ()
    expires: Labelled = ()
    sources: str = ""
    omitted: tuple[str, ...] = ()
    """Beside text, id, sources and the times of writing and of validity, where they are a field."""
    metadata: Callable[[ExportFields], dict[str, JsonValue]] | None = None

    by_update: bool = False
    """An update replaces the text: a memory was written when it was last updated."""
    in_order: bool = False
    """The file lists memories in the order of writing."""
    check: Callable[[ImportLedger, Pages], None] | None = None
    """Warns of what the pages say about memories that they do not hold."""

    def recognises(self, source: ExportSource) -> int:
        if self.table and source.parts and all(map(self.table.named, source.parts)):
            return 3
        if self.recognised is not None:
            return self.recognised(source)
        return self.certainty if mostly_have(source, self.lists, *self.marks) else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        ledger = ImportLedger(source, options)
        ledger.view = options.view or self.views[0]
        pages = [self._rows(part) for part in source.parts]
        for rows in pages:
            ledger.take(rows, self._draft)
            if self.expand is not None:
                ledger.take(self.expand(rows), self._draft)
        if self.check is not None:
            self.check(ledger, pages)
        in_order = self.in_order
        # One memory without a time could stand anywhere, so then the order is not known.
        if self.by_update and all(made.updated_at for _, made in ledger.drafts):
            ledger.drafts.sort(key=lambda placed: placed[1].updated_at or "")
            in_order = True
        return ledger.store(self.system, self.name, ledger.view, in_order)

    def _rows(self, part: ExportFile) -> list[ExportRow]:
        if self.table is not None and part.kind == "sqlite":
            return list(self.table.rows(part))
        own = self.own or ((self.text,) if isinstance(self.text, str) else ())
        return rows_of(part, self.lists, own)

    @property
    def _read(self) -> set[str]:
        """Names of fields that a memory holds elsewhere than in its metadata."""
        fields = (self.text, self.id, self.created, self.updated, self.valid_from, self.sources)
        return {field.partition(".")[0] for field in fields if isinstance(field, str)}

    def _draft(self, row: ExportFields) -> MemoryDraft:
        if self.unpack is not None:
            row.data = {name: self.unpack(value) for name, value in row.data.items()}
        label, time = ExportFields.label, ExportFields.time
        metadata = self.metadata or (lambda row: row.others(*self._read, *self.omitted))
        return MemoryDraft(
            text=_text(row, self.text) if isinstance(self.text, str) else self.text(row),
            id=_first(row, self.id, label),
            state=self.state(row),
            namespace=_first(row, self.namespace, label),
            created_at=_first(row, self.created, time),
            updated_at=_first(row, self.updated, time),
            valid_from=_first(row, self.valid_from, time),
            valid_to=_first(row, self.valid_to, time),
            expires=_first(row, self.expires, time),
            sources=row.names(self.sources) if self.sources else (),
            metadata=metadata(row),
        )


def _placed(row: ExportFields, path: str) -> tuple[ExportFields, str]:
    """The object that a path leads to, and the last name of the path."""
    *steps, name = path.split(".")
    for step in steps:
        row = row.inner(step)
    return row, name


def _text(row: ExportFields, path: str) -> str:
    inner, name = _placed(row, path)
    return inner.text(name)


def _first(
    row: ExportFields, fields: Labelled, read: Callable[[ExportFields, str], str | None]
) -> str | None:
    """The first value that there is, of a label or of a time as `read` says."""
    if callable(fields):
        return fields(row)
    for path in (fields,) if isinstance(fields, str) else fields:
        inner, name = _placed(row, path)
        if (value := read(inner, name)) is not None:
            return value
    return None


Limits = Mapping[int, str]
"""Known default limits of list calls, and the call."""


def each_page(limits: Limits) -> Callable[[ImportLedger, Pages], None]:
    """Each file is a list of its own, which may end at a limit; a database holds all rows."""

    def check(ledger: ImportLedger, pages: Pages) -> None:
        for part, rows in zip(ledger.source.parts, pages, strict=True):
            if part.kind != "sqlite":
                ledger.check_limit(len(rows), limits)

    return check


def counted_pages(total: str, limits: Limits) -> Callable[[ImportLedger, Pages], None]:
    """The last page says how many rows there are, or may end at a limit."""

    def check(ledger: ImportLedger, pages: Pages) -> None:
        value = value_at(ledger.source.parts[-1].parsed.document, total)[1]
        if not ledger.check_total(value, sum(map(len, pages))):
            ledger.check_limit(len(pages[-1]), limits)

    return check


def chained_pages(tokens: Iterable[str], limits: Limits) -> Callable[[ImportLedger, Pages], None]:
    """A page that names the next one is not the end; bare rows do not say whether they end."""

    def check(ledger: ImportLedger, pages: Pages) -> None:
        last = ledger.source.parts[-1].parsed.document
        if any(value_at(last, token)[1] for token in tokens):
            ledger.warn("the export names a next page; export every page", ExportWarning.TRUNCATED)
        # Whoever saved a whole page also saved its token, and there was none.
        elif not isinstance(last, dict):
            ledger.check_limit(len(pages[-1]), limits)

    return check

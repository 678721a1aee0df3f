"""Any JSON, JSONL, CSV or SQLite file: the user says which of its fields are read.

A field is a path of names with dots between them, from the top of the file; in SQLite from the name
of a table. It goes through lists, whose elements are the rows, and `*` stands for every name of an
object. A text that holds JSON is opened where the path goes on.
"""

from collections.abc import Iterator
from dataclasses import asdict

from memaudit.kernel.errors import MemAuditError, ParameterError
from memaudit.kernel.io.foreign_json import loads
from memaudit.kernel.io.store_file import MAX_DEPTH, is_vector, too_deep
from memaudit.stores.ledger import ImportLedger, MemoryDraft, StoreFormat
from memaudit.stores.protocol import ExportFields, ExportRow, MappedFields, rows_of, rows_of_table
from memaudit.stores.source import ExportFile, ExportSource

HOW = "{fields} text=FIELD[,time=FIELD,id=FIELD,namespace=FIELD]"
"""Completed by a ParameterError."""

SAMPLED = 20
"""Elements of a list that are looked at for its fields."""

LISTED, LONGEST = 8, 40
"""Names that a message lists, and the characters of each."""

FieldPath = tuple[str, ...]


class Mapped(StoreFormat):
    """Rows of any shape; `MappedFields` says where text, time, id and namespace are."""

    name = "mapped"
    label = "any JSON, JSONL, CSV or SQLite, by the names of its fields"
    system = "mapped"

    def recognises(self, source: ExportSource) -> int:  # noqa: ARG002, it reads what it is told
        return 0

    def take(self, ledger: ImportLedger) -> None:
        fields = ledger.options.fields
        if fields is None:
            raise ParameterError(f"the format {self.name} needs the names of fields: {HOW}")
        for part in ledger.source.parts:
            ledger.take(
                _rows(part, fields), lambda row: _draft(row, fields, f"row-{ledger.read + 1}")
            )
        named = {name: field for name, field in asdict(fields).items() if field is not None}
        ledger.configuration["fields"] = named


def _draft(row: ExportFields, fields: MappedFields, place: str) -> MemoryDraft:
    text = row.text(fields.text)
    for field in (fields.time, fields.namespace):
        if field and row.data.get(field) is None:
            row.note(f"no {field}")
    return MemoryDraft(
        text=text,
        id=row.label(fields.id) if fields.id else place,
        created_at=row.time(fields.time) if fields.time else None,
        namespace=row.label(fields.namespace) if fields.namespace else None,
    )


def _rows(part: ExportFile, fields: MappedFields) -> list[ExportRow]:
    """A row for each value of the text, with the values of the other fields."""
    if part.kind == "text":
        raise MemAuditError(
            f"{part.name}: is text without fields (they are read from JSON, JSONL, CSV and SQLite)"
        )
    if too_deep(part.parsed.document):
        raise MemAuditError(f"{part.name}: nests deeper than {MAX_DEPTH} levels")
    wanted = [field for field in asdict(fields).values() if field is not None]
    paths = {field: tuple(field.split(".")) for field in wanted}
    rows: list[ExportRow] = []
    for top in _tops(part, list(paths.values())):
        if top.problem or (part.kind == "lines" and too_deep(top.value)):
            rows.append(top)
        else:
            rows += _spread(top.value, top.place, fields.text, paths, {})
    objects = [row.value for row in rows if isinstance(row.value, dict)]
    held = {name for row in objects for name, value in row.items() if value is not None}
    if rows and (missing := [field for field in wanted if field not in held]):
        raise MemAuditError(
            f"{part.name}: no row has the field {missing[0]!r}; fields found: "
            f"{fields_found(part) or 'none'}"
        )
    return rows


def fields_found(part: ExportFile) -> str:
    """The fields of a file as a message lists them; empty where it has none."""
    top = [line.value for line in part.parsed.lines] or part.parsed.document
    tables: dict[str, object] = {table: dict.fromkeys(part.tables[table]) for table in part.tables}
    names: dict[str, None] = {}
    for path in _paths(tables or top):
        names[".".join(path)[:LONGEST]] = None
        if len(names) > LISTED:
            return ", ".join([*list(names)[:LISTED], "..."])
    return ", ".join(names)


def _paths(value: object, path: FieldPath = (), depth: int = 0) -> Iterator[FieldPath]:
    """The paths to all values that are neither objects nor lists of them."""
    if depth > MAX_DEPTH or is_vector(value):
        return
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _paths(item, (*path, name), depth + 1)
    elif isinstance(value, list):
        for item in value[:SAMPLED]:
            yield from _paths(item, path, depth + 1)
    elif path:
        yield path


def _tops(part: ExportFile, paths: list[FieldPath]) -> Iterator[ExportRow]:
    """The values that paths start in: the document, each line, or each row under its table."""
    if part.kind == "lines":
        yield from rows_of(part)
    elif part.kind == "json":
        yield ExportRow(f"{part.name}: ", part.parsed.document)
    else:
        yield from _table_rows(part, paths[0][0], paths)


def _table_rows(part: ExportFile, table: str, paths: list[FieldPath]) -> Iterator[ExportRow]:
    known = part.tables.get(table, ())
    inside = [path[1:] for path in paths if path[0] == table]
    columns = [
        next((name for name in (".".join(path), *path[:1]) if name in known), "") for path in inside
    ]
    if not columns or not columns[0]:
        yield ExportRow(f"{part.name}: ", {})  # without the text
        return
    wanted = tuple(dict.fromkeys(filter(None, columns)))
    # Without an order: a table may have no rowid.
    for at, row in enumerate(rows_of_table(part, table, wanted, order=""), start=1):
        place = f"{part.name}: row {at} of "
        if row.problem:
            yield ExportRow(place + table, problem=row.problem)
        else:
            yield ExportRow(place, {table: row.value})


def _spread(
    value: object, place: str, text: str, paths: dict[str, FieldPath], found: dict[str, object]
) -> Iterator[ExportRow]:
    """A row for every value at the path of the text. The other fields are `found` where their paths
    leave the path of the text."""
    path = paths[text]
    value = _opened(value) if path else value
    if isinstance(value, list):
        for at, item in enumerate(value):
            yield from _spread(item, f"{place}[{at}]", text, paths, found)
        return
    if not path:
        yield ExportRow(place.strip(), {**found, text: value})
        return
    step, steps = _step(value, path)
    # Fields that share the way of the text go on with it: they stand in the same row. Others are
    # read once, here, and belong to all rows below.
    ahead = {
        field: own[steps:]
        for field, own in paths.items()
        if field == text or (own[:steps] == path[:steps] and len(own) > steps)
    }
    here = {field: _value(value, own) for field, own in paths.items() if field not in ahead}
    names = list(value) if step == "*" and isinstance(value, dict) else [step]
    if not isinstance(value, dict) or not all(name in value for name in names):
        yield ExportRow(place.strip(), {**found, **here, text: None})
        return
    for name in names:
        below = f"{place}{name}" if place.endswith(" ") else f"{place}.{name}"
        inner = below if len(path) > steps else place
        yield from _spread(value[name], inner, text, ahead, found | here)


def _step(value: object, path: FieldPath) -> tuple[str, int]:
    """The next name on a path and its number of steps: a name may hold dots itself."""
    # Columns of a spreadsheet and keys of flat exports are called `user.name`.
    whole = ".".join(path)
    if isinstance(value, dict) and whole in value:
        return whole, len(path)
    return path[0], 1


def _value(value: object, path: FieldPath) -> object:
    while path:
        value = _opened(value)
        step, steps = _step(value, path)
        value = value.get(step) if isinstance(value, dict) else None
        path = path[steps:]
    return value


def _opened(value: object) -> object:
    """The object or list in a text that holds JSON."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        inner = loads(value)
    except ValueError:
        return value
    return value if too_deep(inner) else inner

"""The records of a JSON file, one at a time."""

from collections.abc import Iterator
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.datasets.cursor import Cursor
from memaudit.datasets.fields import Fields
from memaudit.datasets.irregular import Notes
from memaudit.datasets.lenient_json import kind_of
from memaudit.datasets.names import Names
from memaudit.datasets.source import opened


def records(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    """Each object of the top-level list with its place; a file that is one object is one record."""
    with opened(path) as file:
        cursor = Cursor(file, path.name)
        if cursor.peek() == "{":
            yield 0, record(cursor, path.name, 0)
        else:
            for place in cursor.elements():
                yield place, record(cursor, path.name, place)
        cursor.done()


def record(cursor: Cursor, name: str, place: int) -> dict[str, object]:
    """The next value, which must be an object."""
    cursor.peek()
    byte = cursor.offset
    value = cursor.value()
    if not isinstance(value, dict):
        raise MemAuditError(
            f"{name}: record {place + 1} is {kind_of(value)}, an object was expected (byte {byte})"
        )
    return value


def opened_record(data: dict[str, object], id_field: str, place: int, names: Names) -> Fields:
    """A record's fields under its id, which no other conversation of the file has."""
    record = Fields(data, "", "", Notes())
    given = record.label(id_field)
    record.id = names.take_noted(given, f"record-{place + 1}", record.notes, id_field)
    return record

"""Times as memory systems write them, to ISO 8601 text that sorts as time does."""

from decimal import Decimal
from typing import TYPE_CHECKING

from pydantic import JsonValue

from memaudit.formats.store_warnings import HarmlessSkip
from memaudit.io.lenient_json import encodable
from memaudit.io.strict_json import kind_of
from memaudit.io.timestamps import export_time

if TYPE_CHECKING:
    from memaudit.adapters.ledger import ImportLedger


MAX_TEXT = 1_000_000
"""Characters of one memory."""

MAX_DEPTH = 64
LONGEST_VECTOR = 50
"""Longer lists of numbers are embeddings, which are left out."""


class SkipRow(Exception):
    """A row that cannot be a memory; the text says why."""


class ExportFields:
    """The fields of one row; `place` is what warnings call it."""

    def __init__(self, data: dict[str, object], place: str, ledger: "ImportLedger") -> None:
        self.data, self.place, self.ledger = data, place, ledger

    def text(self, name: str) -> str:
        """The text of a memory: there and not blank, or the row is skipped."""
        return self.checked(self.data.get(name), name)

    def checked(self, value: object, name: str) -> str:
        """A value as the text of a memory."""
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
            self.ledger.note("broken character, replaced by U+FFFD", f"{self.place}.{name}")
        return text

    def label(self, name: str) -> str | None:
        """A name or id; a whole number will do. Anything else is noted and left out."""
        value = self.data.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str):
            return encodable(value).strip() or None
        if value is not None:
            self.ledger.note(f"{name} is {kind_of(value)}, left empty", self.place)
        return None

    def time(self, name: str) -> str | None:
        """A time as ISO text; None and noted where it cannot be read."""
        value = self.data.get(name)
        if value is None or value == "" or value == b"":
            return None
        found = export_time(value)
        if found is None:
            self.ledger.note(f"{name} is no time, left empty", self.place)
        return found

    def flag(self, name: str) -> bool:
        """A switch that decides about the row's state: not readable, no row."""
        value = self.data.get(name)
        if value is None or isinstance(value, bool):
            return value is True
        if value in (0, 1):  # as SQL writes them
            return value == 1
        raise SkipRow(f"{name} is {kind_of(value)}, not true or false")

    def names(self, name: str) -> tuple[str, ...]:
        """A list of names or ids; what is not one is noted and left out."""
        value = self.data.get(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.ledger.note(f"{name} is {kind_of(value)}, not a list, left empty", self.place)
            return ()
        found = [
            encodable(str(one))
            for one in value
            if isinstance(one, str | int) and not isinstance(one, bool)
        ]
        if len(found) < len(value):
            self.ledger.note(f"part of {name} is not text, left out", self.place)
        return tuple(found)

    def object(self, name: str) -> dict[str, object]:
        """An object, or an empty one."""
        value = self.data.get(name)
        if isinstance(value, dict):
            return value
        if value is not None:
            self.ledger.note(f"{name} is {kind_of(value)}, not an object, left empty", self.place)
        return {}

    def inner(self, name: str) -> "ExportFields":
        """The fields of an object inside the row."""
        return ExportFields(self.object(name), f"{self.place}.{name}", self.ledger)

    def number(self, name: str) -> float | None:
        """A finite number, or None; what is there and is none is noted."""
        value = self.data.get(name)
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            plain = plain_json(value)
            if isinstance(plain, int | float):
                return float(plain)
        if value is not None:
            self.ledger.note(f"{name} is no number, left out", self.place)
        return None

    def others(self, *read: str) -> dict[str, JsonValue]:
        """Every field that was not read, as plain data without embeddings."""
        return {
            encodable(name): plain_json(value)
            for name, value in self.data.items()
            if name not in read and value is not None and not is_vector(value)
        }


def is_vector(value: object) -> bool:
    """Whether a value is an embedding."""
    return (
        isinstance(value, list)
        and len(value) > LONGEST_VECTOR
        and all(isinstance(number, int | Decimal | float) for number in value)
    )


def plain_json(value: object) -> JsonValue:
    """A parsed value as data a store can hold: floats, whole characters, no embeddings."""
    if isinstance(value, Decimal):
        number = float(value)
        return number if abs(number) != float("inf") else str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {
            encodable(str(key)): plain_json(one) for key, one in value.items() if not is_vector(one)
        }
    if isinstance(value, list):
        return [plain_json(one) for one in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)


def too_deep(value: object, limit: int = MAX_DEPTH) -> bool:
    """Whether a value nests deeper than the limit; without recursion, so at any depth."""
    level: list[object] = [value]
    for _ in range(limit + 1):
        below: list[object] = []
        for one in level:
            if isinstance(one, dict):
                below += one.values()
            elif isinstance(one, list):
                below += one
        if not below:
            return False
        level = [one for one in below if isinstance(one, dict | list)]
        if not level:
            return False
    return True

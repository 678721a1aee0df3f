"""A row of an export field by field: what breaks the format's promise is noted, or skips the row.

Datasets have a reader of their own: a memory without text is skipped, a turn without text is kept.
"""

from collections.abc import Callable
from decimal import Decimal

from pydantic import JsonValue

from memaudit.adapters.store import HarmlessSkip, is_vector, plain_json
from memaudit.io.lenient_json import encodable
from memaudit.io.strict_json import kind_of
from memaudit.io.timestamps import export_time

MAX_TEXT = 1_000_000
"""Characters of one memory."""


class SkipRow(Exception):
    """The row cannot be a memory; the text says why."""


class ExportFields:
    """The fields of one row; warnings name it by its `place`."""

    def __init__(
        self, data: dict[str, object], place: str, note: Callable[[str, str], None]
    ) -> None:
        self.data, self.place, self._note = data, place, note

    def note(self, what: str, name: str = "") -> None:
        self._note(what, f"{self.place}.{name}" if name else self.place)

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
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str):
            return encodable(value).strip() or None
        if value is not None:
            self.note(f"{name} is {kind_of(value)}, left empty")
        return None

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
        raise SkipRow(f"{name} is {kind_of(value)}, not true or false")

    def names(self, name: str) -> tuple[str, ...]:
        """A list of names or ids; other items are noted and left out."""
        value = self.data.get(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.note(f"{name} is {kind_of(value)}, not a list, left empty")
            return ()
        names = [
            encodable(str(item))
            for item in value
            if isinstance(item, str | int) and not isinstance(item, bool)
        ]
        if len(names) < len(value):
            self.note(f"part of {name} is not text, left out")
        return tuple(names)

    def object(self, name: str) -> dict[str, object]:
        value = self.data.get(name)
        if isinstance(value, dict):
            return value
        if value is not None:
            self.note(f"{name} is {kind_of(value)}, not an object, left empty")
        return {}

    def inner(self, name: str) -> "ExportFields":
        return ExportFields(self.object(name), f"{self.place}.{name}", self._note)

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

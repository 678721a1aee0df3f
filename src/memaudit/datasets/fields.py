"""One JSON object read field by field: what is not as promised becomes an irregularity."""

from collections.abc import Collection, Iterator
from decimal import Decimal

from memaudit.datasets.irregular import Notes, whole
from memaudit.datasets.lenient_json import kind_of
from memaudit.datasets.when import iso


def as_text(value: object, notes: Notes, where: str, id: str) -> str | None:
    """A value as text: numbers are written out; lists and objects are left out."""
    if isinstance(value, bool | int | Decimal):
        notes.add("number for text", where, id, value)
        return str(value).lower() if isinstance(value, bool) else str(value)
    if not isinstance(value, str):
        notes.add("wrong type", where, id, f"{kind_of(value)}, not text")
        return None
    text = whole(value)
    if text != value:
        notes.add("broken character", where, id, value)
    return text


class Fields:
    """The fields of one object; `where` is its place in the format, `id` the row it belongs to."""

    def __init__(self, data: dict[str, object], where: str, id: str, notes: Notes) -> None:
        self.data, self.where, self.id, self.notes = data, where, id, notes

    def place(self, name: str) -> str:
        """How irregularities name a field."""
        return f"{self.where}.{name}" if self.where else name

    def note(self, what: str, name: str, found: object = "") -> None:
        """An irregularity of one field."""
        self.notes.add(what, self.place(name), self.id, found)

    def text(self, name: str, required: bool = True) -> str | None:
        """Text, or None."""
        if self.data.get(name) is None:
            if required:
                self.note("missing field", name)
            return None
        return as_text(self.data[name], self.notes, self.place(name), self.id)

    def spoken(self, name: str) -> str:
        """Text that a turn or question cannot do without; noted where it is empty."""
        text = self.text(name)
        if text is not None and not text.strip():
            self.note("empty text", name)
        return text or ""

    def label(self, name: str) -> str | None:
        """An id or name; a whole number will do. None where there is none or it is empty."""
        value = self.data.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text(name, required=False) or None

    def time(self, name: str, required: bool = True) -> str | None:
        """A time as ISO 8601, or None."""
        text = self.text(name, required)
        if text is None:
            return None
        moment = iso(text)
        if moment is None:
            self.note("time not understood", name, text)
        return moment

    def flag(self, name: str) -> bool:
        """True only where the file says true."""
        value = self.data.get(name)
        if value is not None and not isinstance(value, bool):
            self.note("wrong type", name, f"{kind_of(value)}, not true or false")
        return value is True

    def rows(self, name: str, required: bool = True) -> list[object]:
        """A list, or an empty one."""
        value = self.data.get(name)
        if isinstance(value, list):
            return value
        if value is not None:
            self.note("wrong type", name, f"{kind_of(value)}, not a list")
        elif required:
            self.note("missing field", name)
        return []

    def object(self, name: str) -> dict[str, object]:
        """An object, or an empty one."""
        value = self.data.get(name)
        if isinstance(value, dict):
            return value
        if value is None:
            self.note("missing field", name)
        else:
            self.note("wrong type", name, f"{kind_of(value)}, not an object")
        return {}

    def objects(self, name: str) -> Iterator[tuple[int, "Fields"]]:
        """The objects of a list with their places; anything else in it is left out."""
        for place, row in enumerate(self.rows(name)):
            if isinstance(row, dict):
                yield place, Fields(row, self.place(name), self.id, self.notes)
            else:
                self.note("wrong type", f"{name}[{place}]", f"{kind_of(row)}, not an object")

    def only(self, known: Collection[str]) -> None:
        """Note the fields that the format does not know."""
        for name in self.data:
            if name not in known:
                self.notes.unknown_field(self.where, self.id, name)

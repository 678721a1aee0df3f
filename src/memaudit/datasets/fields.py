"""Records of a dataset field by field, their unique ids, and what a reference to an id means.

A field that breaks its format's promise becomes an irregularity; reading goes on without it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from decimal import Decimal

from memaudit.datasets.irregularities import Notes
from memaudit.io.lenient_json import encodable
from memaudit.io.strict_json import kind_of
from memaudit.io.timestamps import export_time, iso_time


class RecordFields:
    """The fields of one object; `where` is its place in the format, `id` the row it belongs to."""

    def __init__(self, data: dict[str, object], where: str, id: str, notes: Notes) -> None:
        self.data, self.where, self.id, self.notes = data, where, id, notes

    def place(self, name: str) -> str:
        """How irregularities name a field."""
        return f"{self.where}.{name}" if self.where else name

    def note(self, what: str, name: str, found: object = "") -> None:
        self.notes.add(what, self.place(name), self.id, found)

    def text(self, name: str, required: bool = True) -> str | None:
        if self.data.get(name) is None:
            if required:
                self.note("missing field", name)
            return None
        return as_text(self.data[name], self.notes, self.place(name), self.id)

    def required_text(self, name: str) -> str:
        """Text that a turn or question cannot do without; noted where it is empty."""
        text = self.text(name)
        if text is not None and not text.strip():
            self.note("empty text", name)
        return text or ""

    def label(self, name: str) -> str | None:
        """An id or name, which may be a whole number; None if missing or empty."""
        value = self.data.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text(name, required=False) or None

    def time(self, name: str, required: bool = True) -> str | None:
        text = self.text(name, required)
        if text is None:
            return None
        moment = iso_time(text)
        if moment is None:
            self.note("time not understood", name, text)
        return moment

    def instant(self, name: str, required: bool = True) -> str | None:
        """A time given as text or as seconds since 1970."""
        value = self.data.get(name)
        if value is None:
            if required:
                self.note("missing field", name)
            return None
        moment = export_time(value)
        if moment is None:
            shown = value if isinstance(value, str | int | Decimal) else kind_of(value)
            self.note("time not understood", name, shown)
        return moment

    def flag(self, name: str) -> bool:
        """True only where the file says true."""
        value = self.data.get(name)
        if value is not None and not isinstance(value, bool):
            self.note("wrong type", name, f"{kind_of(value)}, not true or false")
        return value is True

    def rows(self, name: str, required: bool = True) -> list[object]:
        value = self.data.get(name)
        if isinstance(value, list):
            return value
        if value is not None:
            self.note("wrong type", name, f"{kind_of(value)}, not a list")
        elif required:
            self.note("missing field", name)
        return []

    def object(self, name: str) -> dict[str, object]:
        value = self.data.get(name)
        if isinstance(value, dict):
            return value
        if value is None:
            self.note("missing field", name)
        else:
            self.note("wrong type", name, f"{kind_of(value)}, not an object")
        return {}

    def objects(self, name: str) -> Iterator[tuple[int, "RecordFields"]]:
        """The objects of a list with their places; anything else in it is left out."""
        for place, row in enumerate(self.rows(name)):
            if isinstance(row, dict):
                yield place, RecordFields(row, self.place(name), self.id, self.notes)
            else:
                self.note("wrong type", f"{name}[{place}]", f"{kind_of(row)}, not an object")

    def note_unknown(self, known: Collection[str]) -> None:
        """Note the fields that the format does not know."""
        for name in self.data:
            if name not in known:
                self.notes.unknown_field(self.where, self.id, name)


def record_fields(
    data: dict[str, object], id_field: str, place: int, ids: "IdRegistry"
) -> RecordFields:
    """A record's fields under its id, which no other conversation of the file has."""
    record = RecordFields(data, "", "", Notes())
    given = record.label(id_field)
    record.id = ids.assign_noted(given, f"record-{place + 1}", record.notes, id_field)
    return record


def as_text(value: object, notes: Notes, where: str, id: str) -> str | None:
    """A value as text: numbers are written out; lists and objects are left out."""
    if isinstance(value, bool | int | Decimal):
        notes.add("number for text", where, id, value)
        return str(value).lower() if isinstance(value, bool) else str(value)
    if not isinstance(value, str):
        notes.add("wrong type", where, id, f"{kind_of(value)}, not text")
        return None
    text = encodable(value)
    if text != value:
        notes.add("broken character", where, id, value)
    return text


class IdRegistry:
    """Gives every row a unique id, and remembers which ids the file uses twice."""

    def __init__(self) -> None:
        self._assigned: set[str] = set()
        self._last: dict[str, int] = {}
        self._known: dict[str, str] = {}
        self._repeated: set[str] = set()

    def assign(self, id: str, citable: bool = True) -> str:
        """This id, or a new one derived from it: `id#2`. Only a citable id can be referred to."""
        name = id
        while name in self._assigned:
            self._last[id] = self._last.get(id, 1) + 1
            name = f"{id}#{self._last[id]}"
        self._assigned.add(name)
        if citable and id in self._known:
            self._repeated.add(id)
        elif citable:
            self._known[id] = name
        return name

    def assign_noted(self, id: str | None, default: str, notes: Notes, where: str) -> str:
        """The same, with a note where the id is missing or was used before."""
        if id is None:
            name = self.assign(default, citable=False)
            notes.add("missing id", where, name)
            return name
        name = self.assign(id)
        if name != id:
            notes.add("repeated id", where, name, id)
        return name

    def __contains__(self, id: str) -> bool:
        return id in self._known

    def problem(self, reference: str) -> str:
        """Why a reference names no single row, or an empty text."""
        if reference in self._repeated:
            return "ambiguous reference"
        return "" if reference in self._known else "reference to nothing"

    def resolve(self, reference: str) -> str:
        return self._known[reference]


Repair = Callable[[str, IdRegistry], list[tuple[str, str]]]
"""Splits or corrects a reference: pieces, each with its irregularity or an empty text."""


def resolve_references(
    references: Iterable[object],
    ids: IdRegistry,
    notes: Notes,
    where: str,
    id: str,
    repair: Repair = lambda reference, _ids: [(reference, "")],
) -> tuple[str, ...]:
    """The ids that references name, each once; the rest is noted and dropped, never guessed."""
    resolved: dict[str, None] = {}
    for reference in references:
        if isinstance(reference, bool) or not isinstance(reference, str | int):
            notes.add("malformed reference", where, id, kind_of(reference))
            continue
        pieces = repair(str(reference), ids)
        if len(pieces) > 1:
            notes.add("several references in one", where, id, reference)
        for piece, wrong in pieces:
            if wrong:
                notes.add(wrong, where, id, reference)
            if wrong == "malformed reference":
                continue
            if problem := ids.problem(piece):
                notes.add(problem, where, id, piece)
            elif ids.resolve(piece) in resolved:
                notes.add("repeated reference", where, id, piece)
            else:
                resolved[ids.resolve(piece)] = None
    return tuple(resolved)

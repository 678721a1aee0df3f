"""Ids that are unique, and what a reference to one means."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal

from memaudit.datasets.irregularities import Notes, whole
from memaudit.datasets.json_source import kind_of

Repair = Callable[[str, "Names"], list[tuple[str, str]]]
"""Splits or corrects a reference: pieces, each with the irregularity it was or an empty text."""


class Names:
    """Hands out unique ids, and remembers which the file uses twice."""

    def __init__(self) -> None:
        self._given: set[str] = set()
        self._last: dict[str, int] = {}
        self._known: dict[str, str] = {}
        self._repeated: set[str] = set()

    def take(self, id: str, citable: bool = True) -> str:
        """This id, or a fresh one derived from it; a citable id can be referred to."""
        name = id
        while name in self._given:
            self._last[id] = self._last.get(id, 1) + 1
            name = f"{id}#{self._last[id]}"
        self._given.add(name)
        if citable and id in self._known:
            self._repeated.add(id)
        elif citable:
            self._known[id] = name
        return name

    def take_noted(self, id: str | None, otherwise: str, notes: Notes, where: str) -> str:
        """The same, with a note where the id is missing or was seen before."""
        if id is None:
            name = self.take(otherwise, citable=False)
            notes.add("missing id", where, name)
            return name
        name = self.take(id)
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
        """The id a good reference names."""
        return self._known[reference]


def resolve(
    references: Iterable[object], names: Names, notes: Notes, where: str, id: str,
    repair: Repair = lambda reference, _names: [(reference, "")],
) -> tuple[str, ...]:  # fmt: skip
    """The ids that references name, each once; the rest is noted and dropped, never guessed."""
    found: dict[str, None] = {}
    for reference in references:
        if isinstance(reference, bool) or not isinstance(reference, str | int):
            notes.add("malformed reference", where, id, kind_of(reference))
            continue
        pieces = repair(str(reference), names)
        if len(pieces) > 1:
            notes.add("several references in one", where, id, reference)
        for piece, wrong in pieces:
            if wrong:
                notes.add(wrong, where, id, reference)
            if wrong == "malformed reference":
                continue
            if problem := names.problem(piece):
                notes.add(problem, where, id, piece)
            elif names.resolve(piece) in found:
                notes.add("repeated reference", where, id, piece)
            else:
                found[names.resolve(piece)] = None
    return tuple(found)


_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NUMERIC = re.compile(
    r"(?P<year>[0-9]{4})(?:/|年)(?P<month>[0-9]{1,2})(?:/|月)(?P<day>[0-9]{1,2})日?"
    r"(?: (?:\([A-Za-z]+\)|周.|星期.))?(?: (?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2}))?"
)
_SPOKEN = re.compile(
    r"(?:(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2}) (?P<half>[ap]m) on )?"
    r"(?P<day>[0-9]{1,2}) (?P<month>[a-z]+),? (?P<year>[0-9]{4})",
    re.IGNORECASE,
)


def iso(text: str) -> str | None:
    """The time as `2023-05-08` or `2023-05-08T13:56`; None where the text is none we know.

    Times with an offset become UTC, so that texts sort as time does.
    """
    text = " ".join(text.split())
    try:
        if _DATE.fullmatch(text):
            return date.fromisoformat(text).isoformat()
        if match := _NUMERIC.fullmatch(text) or _SPOKEN.fullmatch(text):
            return _parts(match.groupdict())
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):  # not a time, or a 31st of June
        return None
    return _short(moment)


def _parts(parts: dict[str, str | None]) -> str:
    month = (parts["month"] or "").lower()
    number = int(month) if month.isdigit() else _MONTHS.index(month) + 1
    day = date(int(parts["year"] or 0), number, int(parts["day"] or 0))
    if parts["hour"] is None:
        return day.isoformat()
    hour = int(parts["hour"])
    if half := parts.get("half"):
        if not 1 <= hour <= 12:
            raise ValueError("no such hour")
        hour = hour % 12 + 12 * (half.lower() == "pm")
    return _short(datetime(day.year, day.month, day.day, hour, int(parts["minute"] or 0)))


def _short(moment: datetime) -> str:
    """Without seconds where there are none."""
    exact = moment.second or moment.microsecond
    return moment.isoformat() if exact else moment.isoformat(timespec="minutes")


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

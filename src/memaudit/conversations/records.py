"""Records of a dataset field by field, their ids, and how much the file holds.

A field that breaks its format's promise becomes an irregularity, which is counted, not hidden;
reading goes on without it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from memaudit.conversations.conversation import Conversation
from memaudit.kernel.io.foreign_json import ForeignRow, encodable
from memaudit.kernel.io.strict_json import kind_of
from memaudit.kernel.io.timestamps import export_time, iso_time
from memaudit.kernel.package.cost import cost_rule, default_rule
from memaudit.kernel.words.text import shortened

REMEDIES = {
    "missing field": "left empty",
    "wrong type": "left out",
    "number for text": "written as text",
    "broken character": "replaced by U+FFFD",
    "unknown field": "ignored",
    "time not understood": "left empty",
    "missing id": "numbered by its place",
    "repeated id": "renamed with #2, #3, ...",
    "empty text": "kept",
    "empty session": "kept",
    "unknown speaker": "kept",
    "unknown category": "kind is 'unknown'",
    "no evidence": "kept",
    "several references in one": "split",
    "zero-padded reference": "zeros removed",
    "malformed reference": "dropped",
    "reference to nothing": "dropped",
    "ambiguous reference": "dropped",
    "repeated reference": "kept once",
    "lists of different lengths": "sessions without an entry have none, spare entries are ignored",
    "date without a session": "ignored",
    "sessions out of order": "kept in the file's order",
    "session after the question": "kept",
    "evidence outside the cited sessions": "kept",
    "number differs from place": "place used",
    "answer differs from the right choice": "answer kept",
    "failed generation": "question left out",
    "system or tool message": "left out",
    "message without text": "left out",
    "message on another branch": "left out",
    "part without text": "left out",
    "attachment": "left out",
    "text before the first turn": "left out",
    "not a transcript": "left out",
    "speaker named once": "kept",
}
"""What is done about each kind of irregularity; docs/datasets.md explains them."""


def field_names(text: str) -> frozenset[str]:
    """The fields that a format knows, written as one text."""
    return frozenset(text.split())


LONGEST = 80
"""Characters of a value that an irregularity quotes."""


@dataclass(frozen=True, slots=True)
class Irregularity:
    """One irregularity: in which conversation and field, at which id, and what was done."""

    conversation: str
    where: str
    id: str
    what: str
    found: str
    done: str


@dataclass(slots=True)
class Notes:
    """Collects what is irregular while one conversation is read."""

    entries: list[tuple[str, str, str, str]] = field(default_factory=list)
    unknown: set[tuple[str, str]] = field(default_factory=set)

    def add(self, what: str, where: str, id: str = "", found: object = "") -> None:
        """Note an irregularity; `what` is a key of REMEDIES."""
        text = encodable(shortened(str(found), LONGEST))
        self.entries.append((where, id, what, text))

    def of(self, conversation: str) -> "tuple[Irregularity, ...]":
        """All irregularities, once the conversation has its id."""
        return tuple(
            Irregularity(conversation, where, id, what, found, REMEDIES[what])
            for where, id, what, found in self.entries
        )


@dataclass(frozen=True, slots=True)
class LoadedConversation:
    """A conversation and what was irregular about it."""

    conversation: Conversation
    irregularities: tuple[Irregularity, ...] = ()


@dataclass(slots=True)
class DatasetCounts:
    """How much a dataset holds.

    `references` are evidence pointers as listed, `evidence` those that name a turn.
    """

    conversations: int = 0
    sessions: int = 0
    turns: int = 0
    words: int = 0
    """By the cost rule that counts the words of each conversation."""
    cost_rules: Counter[str] = field(default_factory=Counter)
    """Conversations by that rule."""
    questions: Counter[str] = field(default_factory=Counter)
    abstentions: int = 0
    references: int = 0
    evidence: int = 0
    evidence_sessions: int = 0
    representations: Counter[str] = field(default_factory=Counter)
    irregularities: list[Irregularity] = field(default_factory=list)

    def add(self, loaded: LoadedConversation) -> None:
        conversation = loaded.conversation
        self.conversations += 1
        self.sessions += len(conversation.sessions)
        texts = [turn.text for turn in conversation.turns]
        rule = default_rule(texts)
        self.turns += len(texts)
        self.words += sum(map(cost_rule(rule), texts))
        self.cost_rules[rule] += 1
        for question in conversation.questions:
            self.questions[question.kind] += 1
            self.abstentions += question.abstention
            self.references += question.references
            self.evidence += len(question.evidence)
            self.evidence_sessions += len(question.evidence_sessions)
        self.representations.update(shipped.kind for shipped in conversation.representations)
        self.irregularities += loaded.irregularities

    def groups(self) -> list[tuple[str, int, Irregularity]]:
        """Irregularities by kind, the most frequent first: how many, and the first of them."""
        first: dict[str, Irregularity] = {}
        for irregularity in self.irregularities:
            first.setdefault(irregularity.what, irregularity)
        # The first of a kind stands for all: where one thing is wrong, it is mostly wrong
        # everywhere.
        total = Counter(irregularity.what for irregularity in self.irregularities)
        order = sorted(total, key=lambda what: (-total[what], what))
        return [(what, total[what], first[what]) for what in order]


def count_dataset(conversations: Iterable[LoadedConversation]) -> DatasetCounts:
    total = DatasetCounts()
    for loaded in conversations:
        total.add(loaded)
    return total


class RecordFields(ForeignRow):
    """The fields of one object; `where` is its place in the format, `id` the row it belongs to."""

    def __init__(self, data: dict[str, object], where: str, id: str, notes: Notes) -> None:
        super().__init__(data)
        self.where, self.id, self.notes = where, id, notes

    def place(self, name: str) -> str:
        """How irregularities name a field."""
        return f"{self.where}.{name}" if self.where else name

    def note(self, what: str, name: str, found: object = "") -> None:
        self.notes.add(what, self.place(name), self.id, found)

    def missing(self, name: str) -> None:
        self.note("missing field", name)

    def mistyped(self, name: str, what: str) -> None:
        self.note("wrong type", name, what)

    def text(self, name: str, required: bool = True) -> str | None:
        if self.data.get(name) is None:
            if required:
                self.missing(name)
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
        return self.whole_number(name) or self.text(name, required=False) or None

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
                self.missing(name)
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
            self.mistyped(name, f"{kind_of(value)}, not true or false")
        return value is True

    def objects(self, name: str) -> Iterator[tuple[int, "RecordFields"]]:
        """The objects of a list with their places; anything else in it is left out."""
        for place, row in enumerate(self.rows(name)):
            if isinstance(row, dict):
                yield place, RecordFields(row, self.place(name), self.id, self.notes)
            else:
                self.mistyped(f"{name}[{place}]", f"{kind_of(row)}, not an object")

    def note_unknown(self, known: Collection[str]) -> None:
        """Note a field that a format written by hand does not know, once per conversation."""
        for name in self.data:
            if name not in known and (self.where, name) not in self.notes.unknown:
                self.notes.unknown.add((self.where, name))
                self.notes.add("unknown field", self.where, self.id, name)


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
        # `id#2` may itself be an id of the file. Beginning at the last number that was given keeps
        # a file of many equal ids from taking quadratic time.
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

    def assign_or(self, id: str | None, default: str, notes: Notes, where: str) -> str:
        """The same where most rows have no id, so that a missing one is not worth a note."""
        return self.assign(default) if id is None else self.assign_noted(id, default, notes, where)

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

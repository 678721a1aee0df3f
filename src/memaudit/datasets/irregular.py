"""What a file holds that its format does not promise, counted instead of hidden."""

from dataclasses import dataclass, field

from memaudit.datasets.shape import Conversation

DONE = {
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
}
"""Every kind of irregularity, and what is done about it; docs/datasets.md explains each."""

LONGEST = 80
"""Characters of a value that an irregularity quotes."""


@dataclass(frozen=True, slots=True)
class Irregularity:
    """One thing found: in which conversation and field, at which id, and what was done."""

    conversation: str
    where: str
    id: str
    what: str
    found: str
    done: str


@dataclass(slots=True)
class Notes:
    """Collects what is irregular while one conversation is read."""

    found: list[tuple[str, str, str, str]] = field(default_factory=list)
    unknown: set[tuple[str, str]] = field(default_factory=set)

    def add(self, what: str, where: str, id: str = "", found: object = "") -> None:
        """Note one; `what` is a key of DONE."""
        text = str(found)
        text = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
        self.found.append((where, id, what, whole(text)))

    def of(self, conversation: str) -> "tuple[Irregularity, ...]":
        """All of them, once the conversation has its id."""
        return tuple(
            Irregularity(conversation, where, id, what, found, DONE[what])
            for where, id, what, found in self.found
        )

    def unknown_field(self, where: str, id: str, name: str) -> None:
        """Note a field the format does not know, once a conversation: it may be in every turn."""
        if (where, name) not in self.unknown:
            self.unknown.add((where, name))
            self.add("unknown field", where, id, name)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A conversation and what was irregular about it."""

    conversation: Conversation
    irregularities: tuple[Irregularity, ...] = ()


def whole(text: str) -> str:
    """The text with half surrogate pairs, which no file can hold, replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

"""What a dataset file holds in numbers, and where it breaks its format's promises, counted."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from memaudit.core.cost import words
from memaudit.datasets.conversation import Conversation

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


@dataclass(slots=True)
class Counts:
    """How much of everything there is.

    `references` are evidence pointers as listed, `evidence` those that name a turn.
    """

    conversations: int = 0
    sessions: int = 0
    turns: int = 0
    words: int = 0
    questions: Counter[str] = field(default_factory=Counter)
    abstentions: int = 0
    references: int = 0
    evidence: int = 0
    evidence_sessions: int = 0
    representations: Counter[str] = field(default_factory=Counter)
    irregularities: list[Irregularity] = field(default_factory=list)

    def add(self, loaded: Loaded) -> None:
        """Count one conversation."""
        conversation = loaded.conversation
        self.conversations += 1
        self.sessions += len(conversation.sessions)
        for turn in conversation.turns:
            self.turns += 1
            self.words += words(turn.text)
        for question in conversation.questions:
            self.questions[question.kind] += 1
            self.abstentions += question.abstention
            self.references += question.references
            self.evidence += len(question.evidence)
            self.evidence_sessions += len(question.evidence_sessions)
        self.representations.update(one.kind for one in conversation.representations)
        self.irregularities += loaded.irregularities

    def groups(self) -> list[tuple[str, int, Irregularity]]:
        """Irregularities by what they are: how many, and the first; the most frequent first."""
        first: dict[str, Irregularity] = {}
        for one in self.irregularities:
            first.setdefault(one.what, one)
        total = Counter(one.what for one in self.irregularities)
        order = sorted(total, key=lambda what: (-total[what], what))
        return [(what, total[what], first[what]) for what in order]


def count(conversations: Iterable[Loaded]) -> Counts:
    """The counts of a whole dataset."""
    total = Counts()
    for loaded in conversations:
        total.add(loaded)
    return total

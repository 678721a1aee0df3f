"""Where a dataset file breaks its format's promises, and how much it holds: counted, not hidden."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from memaudit.core.cost import cost_rule, default_rule
from memaudit.core.text import shortened
from memaudit.datasets.conversation import Conversation
from memaudit.io.lenient_json import encodable

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

    def unknown_field(self, where: str, id: str, name: str) -> None:
        """Note an unknown field once per conversation: it may be in every turn."""
        if (where, name) not in self.unknown:
            self.unknown.add((where, name))
            self.add("unknown field", where, id, name)


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
        total = Counter(irregularity.what for irregularity in self.irregularities)
        order = sorted(total, key=lambda what: (-total[what], what))
        return [(what, total[what], first[what]) for what in order]


def count_dataset(conversations: Iterable[LoadedConversation]) -> DatasetCounts:
    total = DatasetCounts()
    for loaded in conversations:
        total.add(loaded)
    return total

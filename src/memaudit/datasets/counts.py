"""A dataset in numbers, gathered in one pass."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from memaudit.core.cost import words
from memaudit.datasets.irregular import Irregularity, Loaded


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

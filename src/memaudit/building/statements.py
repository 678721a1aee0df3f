"""Units of one's own chats, without labels and without a model: sentences that state something.

A sentence of a person (never of the assistant) becomes a unit if it looks like something a memory
should keep: it says who, when or how much, what somebody likes or wants, or that something
changed. Nobody asked for these units, so a score over them is a first estimate.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from memaudit.building.coverage_rules import says_change
from memaudit.kernel.package.labels import FULL, coverage_row
from memaudit.kernel.package.package import (
    CURRENT,
    TEMPORAL,
    Coverage,
    EvidenceUnit,
    Experience,
    Package,
    Source,
)
from memaudit.kernel.package.provenance import STATEMENT
from memaudit.kernel.words.text import QUESTION_MARKS, numbers, sentences, terms, times

ASSISTANTS = frozenset({"assistant", "ai", "bot", "gpt", "chatgpt", "claude", "system", "model"})
# One sign alone is too little: "I am here" is about oneself, "See you at 5" has a number.
LEAST_SCORE = 2
FEWEST_TERMS, MOST_WORDS = 2, 60

_OF_SELF = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|we|we're|we've|our|me|us)\b", re.IGNORECASE)
_STATES = re.compile(
    r"\b(?:am|is|are|was|were|have|has|had|got|get|live|lives|moved|work|works|started|starts|bought|"
    r"booked|paid|costs?|cancell?ed|changed|decided|use|uses|need|needs|keep|takes?|takes place|"
    r"called|named|born|married|allergic|prefer|prefers|like|likes|love|hate|want|wants|plan|"
    r"plans|will|can't|cannot|must|should|never|always)\b",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(
    r"\b(?:prefer|prefers|like|likes|love|loves|hate|hates|favou?rite|rather|allergic|vegetarian|"
    r"vegan|don't (?:like|want|eat|use)|never|always|please)\b",
    re.IGNORECASE,
)
# Not at the start of a sentence, where every word has a capital.
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][a-z]+\b")
_SMALL_TALK = re.compile(
    r"^(?:hi|hello|hey|thanks|thank you|ok|okay|sure|great|cool|bye|good (?:morning|night|evening)|"
    r"haha|lol|wow|yes|no|sorry|congratulations|that's|sounds)\b[^.]{0,40}$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FoundStatement:
    """A sentence that states something, and the turn it stands in."""

    turn: str
    text: str
    kind: str
    score: int


def statement_score(sentence: str) -> int:
    """How much speaks for keeping a sentence; 0 for questions and small talk."""
    content = terms(sentence)
    words = len(sentence.split())
    if (
        sentence.rstrip().endswith(QUESTION_MARKS)
        or len(content) < FEWEST_TERMS
        or words > MOST_WORDS
        or _SMALL_TALK.match(sentence)
    ):
        return 0
    return sum(
        map(
            bool,
            (
                numbers(content),
                times(content),
                _NAME.search(sentence),
                _OF_SELF.search(sentence) and _STATES.search(sentence),
                _PREFERENCE.search(sentence),
                says_change(sentence),
            ),
        )
    )


def statements(turns: tuple[Experience, ...]) -> Iterator[FoundStatement]:
    """The statements of all people in a conversation, in order."""
    for turn in turns:
        if (turn.speaker or "").casefold() in ASSISTANTS:
            continue
        for sentence in sentences(turn.text):
            score = statement_score(sentence)
            if score >= LEAST_SCORE:
                yield FoundStatement(turn.id, sentence, _kind(sentence), score)


def _kind(sentence: str) -> str:
    if says_change(sentence):
        return CURRENT
    if _PREFERENCE.search(sentence):
        return "preference"
    return TEMPORAL if times(terms(sentence)) else "fact"


def with_statements(package: Package) -> Package:
    """A package of turns with the statements in them as units, each of weight 1.

    What a turn covers follows from its text. The candidates that a build cuts out of turns are
    judged like memories.
    """
    turn = {row.id: row for row in package.experiences}
    raw = {row.experience: row for row in package.candidates if row.kind == "raw"}
    units: list[EvidenceUnit] = []
    cells: list[Coverage] = []
    for number, statement in enumerate(statements(package.experiences), start=1):
        said = turn[statement.turn]
        unit = EvidenceUnit(
            id=f"u{number}",
            kind=statement.kind,
            text=f"{said.speaker}: {statement.text}" if said.speaker else statement.text,
            timestamp=said.timestamp,
            sources=(Source(id=said.id, session=said.session, text=statement.text),),
            weight=Fraction(1),
        )
        units.append(unit)
        if said.id in raw:
            cells.append(coverage_row(raw[said.id].id, unit.id, FULL, STATEMENT, "the same turn"))
    return package.replace(units=tuple(units), queries=(), coverage=tuple(cells))

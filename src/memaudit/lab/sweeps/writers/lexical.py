"""Values from words: their overlap, lexical novelty, and cues that something is worth keeping."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memaudit.kernel.package.cost import text_words
from memaudit.kernel.package.package import INVALIDATING_KINDS
from memaudit.kernel.words.script_terms import has_script_terms
from memaudit.kernel.words.text import terms
from memaudit.lab.sweeps.writers.protocol import View, VisibleCandidate

_WORD = re.compile(r"[^\W_]+")
_GRAMMAR = (
    "a about after again all also am an and any are as at be been before being but by can could d "
    "did do does doing don for from had has have he her hers him his how i if in into is it its "
    "just ll m me might mine must my myself of off on once only or our ours out over own please re "
    "s shall she should so some such t than that the their them then there these they this those "
    "through to too under until up user us ve very was we were what when where which while who "
    "whom why will with would you your yours"
)
_STATUS = "anymore cancelled deleted ended forget instead longer more no not now stopped valid"
"""Words that say whether something holds, not what. A correction does not share these."""

STOP_WORDS = frozenset(f"{_GRAMMAR} {_STATUS}".split())

Words = frozenset[str]


@lru_cache(maxsize=1 << 14)
def content_words(text: str) -> Words:
    """The distinct words of a text in lower case, without stop words; terms in other scripts."""
    if has_script_terms(text):
        return terms(text)
    return frozenset(_WORD.findall(text.casefold())) - STOP_WORDS


def jaccard(first: Words, second: Words) -> float:
    """Shared words as a share of all words of both; 0 if both are empty."""
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared) if shared else 0.0


def contained_share(part: Words, whole: Words) -> float:
    """The share of `part` that is in `whole`; 0 if `part` is empty."""
    return len(part & whole) / len(part) if part else 0.0


class LexicalNovelty:
    """Remembers every kept word. A text without content words is always new."""

    def __init__(self, words: Sequence[Words]) -> None:
        self._words, self._known = words, set[str]()

    def share(self, place: int) -> float:
        words = self._words[place]
        return len(words - self._known) / len(words) if words else 1.0

    def keep(self, place: int) -> None:
        self._known |= self._words[place]


def status_words(candidate: VisibleCandidate) -> Words:
    """The content words of a candidate, marked if it ends what they say.

    That a statement no longer holds is new even if the statement itself is kept. A compound update
    says both: what ended and what holds.
    """
    words = content_words(candidate.text)
    if candidate.kind not in INVALIDATING_KINDS:
        return words
    ended = frozenset(f"ended {word}" for word in words)
    return ended if candidate.kind == "tombstone" else words | ended


def lexical_novelty(view: View) -> Callable[[], LexicalNovelty]:
    words = tuple(status_words(candidate) for candidate in view.candidates)
    return lambda: LexicalNovelty(words)


_NUMBER = re.compile(r"\d")
_DATE = re.compile(
    r"\b\d{4}-\d{2}(?:-\d{2})?\b|\b\d{1,2}[:/]\d{2}\b"
    r"|\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|june?|july?|aug(?:ust)?"
    r"|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|yesterday|tonight)\b"
    r"|\bmay \d|\d may\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[^\W\d_] )[^\W\d_a-z][^\W\d_]+|(?<=[,;:] )[^\W\d_a-z][^\W\d_]+")
_UPDATE = re.compile(
    r"\b(?:now|no longer|instead|any ?more|changed|moved|switched|updated?|replaced?|stopped"
    r"|started|used to|from now on|new|cancell?ed|not valid|deleted?|forget|correction|actually)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = frozenset({"i", "me", "my", "mine", "myself", "we", "us", "our", "ours"})


@dataclass(frozen=True, slots=True)
class TextCues:
    words: int
    number: bool
    date: bool
    names: int
    first_person: bool
    update: bool


@lru_cache(maxsize=1 << 14)
def text_cues(text: str) -> TextCues:
    """The cues of a text. A name is a capitalised word inside a sentence."""
    words = _WORD.findall(text.casefold())
    return TextCues(
        words=text_words(text) if has_script_terms(text) else len(words),
        number=_NUMBER.search(text) is not None,
        date=_DATE.search(text) is not None,
        names=sum(1 for name in _NAME.findall(text) if name[0].isupper()),
        first_person=not _FIRST_PERSON.isdisjoint(words),
        update=_UPDATE.search(text) is not None,
    )


KIND_PRIOR = {
    "compound_update": 1.0,
    "tombstone": 0.8,
    "preference": 0.7,
    "rule": 0.7,
    "fact": 0.6,
    "event": 0.6,
    "temporal_event": 0.6,
    "interval_fact": 0.6,
    "abstention": 0.6,
    "summary": 0.6,
    "skill": 0.6,
    "raw": 0.6,
    "uncertainty": 0.5,
    "edge": 0.4,
}
"""What changes the answer to a later question counts most. An edge says little by itself."""

OTHER_KIND = 0.5

NUMBER, DATE, NAME, FIRST_PERSON, UPDATE, LENGTH = 0.2, 0.2, 0.1, 0.1, 0.2, 0.1
"""Questions ask for specifics and for what changed. Two names count; all weights add up to 1."""

MAX_NAMES = 2
HALF_LENGTH = 10
"""A text of this many words gets half of the weight of length."""


def cue_worth(text: str) -> float:
    """The weighted sum of a text's cues, in [0, 1]."""
    cues = text_cues(text)
    return (
        NUMBER * cues.number
        + DATE * cues.date
        + NAME * min(cues.names, MAX_NAMES)
        + FIRST_PERSON * cues.first_person
        + UPDATE * cues.update
        + LENGTH * cues.words / (cues.words + HALF_LENGTH)
    )


CUES = "kind, cues in the text and confidence, weights set by hand"


def cue_values(view: View) -> tuple[float, ...]:
    """Confidence times the sum of the kind's prior and the text's cues."""
    return tuple(_value(candidate) for candidate in view.candidates)


def _value(candidate: VisibleCandidate) -> float:
    confidence = 1.0 if candidate.confidence is None else float(candidate.confidence)
    prior = KIND_PRIOR.get(candidate.kind, OTHER_KIND)
    return round(confidence * (prior + cue_worth(candidate.text)), 9)

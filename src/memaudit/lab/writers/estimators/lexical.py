"""Content words, their overlap, and lexical novelty: the share of words that nothing kept has."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from memaudit.kernel.package.package import INVALIDATING_KINDS
from memaudit.kernel.words.script_terms import has_script_terms
from memaudit.kernel.words.text import terms
from memaudit.lab.writers.protocol import View, VisibleCandidate

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

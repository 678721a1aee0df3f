"""Lexical novelty: the share of a candidate's content words that nothing kept has said."""

from collections.abc import Callable, Sequence

from memaudit.core.package import INVALIDATING_KINDS
from memaudit.writers.protocol import View, VisibleCandidate
from memaudit.writers.shelf import Words, content_words


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
    """The content words of a candidate, apart from the same words where it ends what they say.

    That a statement no longer holds is new even where the statement itself is kept. A compound
    update says both: what ended and what holds.
    """
    words = content_words(candidate.text)
    if candidate.kind not in INVALIDATING_KINDS:
        return words
    ended = frozenset(f"ended {word}" for word in words)
    return ended if candidate.kind == "tombstone" else words | ended


def lexical_novelty(view: View) -> Callable[[], LexicalNovelty]:
    """Makes empty novelties for a view."""
    words = tuple(status_words(candidate) for candidate in view.candidates)
    return lambda: LexicalNovelty(words)

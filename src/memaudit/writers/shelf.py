"""A store in the making as a deployable writer sees it: costs and group caps only."""

import re
from fractions import Fraction
from functools import lru_cache

from memaudit.writers.protocol import View, VisibleCandidate


class Shelf:
    """Keeps what fits, tells what is left."""

    def __init__(self, view: View, budget: Fraction) -> None:
        self.view, self.left = view, budget
        self._chosen: set[str] = set()
        self._kept: dict[str, int] = {}

    def fits(self, candidate: VisibleCandidate) -> bool:
        """Whether the budget and the group cap allow this candidate."""
        return (
            candidate.cost <= self.left
            and self._kept.get(candidate.experience, 0) < self.view.group_cap
            and candidate.id not in self._chosen
        )

    def keep(self, candidate: VisibleCandidate) -> None:
        """Add a candidate that fits."""
        self.left -= candidate.cost
        self._kept[candidate.experience] = self._kept.get(candidate.experience, 0) + 1
        self._chosen.add(candidate.id)

    def drop(self, candidate: VisibleCandidate) -> None:
        """Take a kept candidate off again."""
        self.left += candidate.cost
        self._kept[candidate.experience] -= 1
        self._chosen.remove(candidate.id)

    def __contains__(self, candidate: VisibleCandidate) -> bool:
        return candidate.id in self._chosen

    @property
    def store(self) -> tuple[str, ...]:
        """The ids of what is kept, in order of arrival."""
        return tuple(c.id for c in self.view.candidates if c.id in self._chosen)


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
"""Words that say whether something holds, not what: a correction shares its topic, not these."""

STOP_WORDS = frozenset(f"{_GRAMMAR} {_STATUS}".split())

Words = frozenset[str]


@lru_cache(maxsize=1 << 14)
def content_words(text: str) -> Words:
    """The distinct words of a text in lower case, without the words that any text has."""
    return frozenset(_WORD.findall(text.casefold())) - STOP_WORDS


def likeness(one: Words, other: Words) -> float:
    """The shared words as a share of all words of both (Jaccard); 0 where there are none."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def held(part: Words, whole: Words) -> float:
    """The share of the first words that the second hold; 0 where there are none."""
    return len(part & whole) / len(part) if part else 0.0

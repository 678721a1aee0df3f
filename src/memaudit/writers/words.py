"""The words of a text that carry content, and how alike two texts are by them."""

import re
from functools import lru_cache

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

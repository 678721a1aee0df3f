"""The terms of a text: its content words, names, numbers and dates, in a form that compares."""

import re
from functools import lru_cache

Terms = frozenset[str]

_TOKEN = re.compile(r"[^\W_]+(?:[.,:'][^\W_]+)*")
_NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBERS = {word: str(number) for number, word in enumerate(_NUMBER_WORDS.split())}
_GRAMMAR_WORDS = (
    "a about after again ain all also am an and any anything are aren as at be because been "
    "before being both but by can can't cannot could d did didn't do does doesn't doing don "
    "don't during each else ever every few for from further get gets getting go going gonna got "
    "had has have having he he's her here here's hers herself hey hi him himself his how how's "
    "i i'd i'll i'm i've if in into is isn't it it'd it'll it's its itself just let let's like "
    "lot ll m make makes many may me might mine more most much must my myself no nor not of off "
    "oh ok okay on only or other our ours out over own please re really s same shall she she's "
    "should so some something such t than thank thanks that that's the their theirs them "
    "themselves then there there's these they they're they've thing things this those through "
    "to too totally under until up us ve very was wasn't way we we'd we'll we're we've well "
    "were what what's when where which while who whom why will with won't would wow yeah yes "
    "yet you you'd you'll you're you've your yours yourself"
)
_GRAMMAR = frozenset(_GRAMMAR_WORDS.split())


@lru_cache(maxsize=1 << 15)
def terms(text: str) -> Terms:
    """The distinct terms of a text; words of grammar and of greeting are none."""
    found = set()
    for token in _TOKEN.findall(text.replace("\u2019", "'").casefold()):
        if token in _GRAMMAR:
            continue
        word = token.removesuffix("'s")
        found.add(_NUMBERS.get(word) or (word if _has_digit(word) else stem(word)))
    return frozenset(found)


def numbers(found: Terms) -> Terms:
    """The terms that are numbers, or hold one: 9, 7:30, 5k."""
    return frozenset(term for term in found if _has_digit(term))


def times(found: Terms) -> Terms:
    """The terms that say when: yesterday, last, Saturday, May."""
    return found & _TIMES


def stem(word: str) -> str:
    """The word without its commonest endings; painted, painting and paints are one."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed", "es", "ly", "s"):
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]  # planning, plan
    return word.removesuffix("e") if len(word) > 3 else word


def _has_digit(word: str) -> bool:
    return any(letter.isdigit() for letter in word)


_WHEN = (
    "yesterday today tonight tomorrow last next ago recently soon week weekend month year morning "
    "afternoon evening monday tuesday wednesday thursday friday saturday sunday january february "
    "march april may june july august september october november december"
)
_TIMES = frozenset(map(stem, _WHEN.split()))

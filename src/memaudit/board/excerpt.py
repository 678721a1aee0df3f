"""The part of a long text that is about something."""

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from memaudit.kernel.words.text import terms, times

CONTEXT = 4
"""Words before the first term that an excerpt is about."""

_YEAR = re.compile("(?:19|20)[0-9]{2}")


def excerpt(text: str, about: str, limit: int) -> str:
    """At most `limit` characters of a text, on one line: its beginning, unless another part shares
    more terms with `about`. Dots stand where it is cut.

    A term counts for less the more often the text has it, a time for a quarter. None counts among
    the first words of a part, where it has no context.
    """
    if not (words := text.split()):
        return ""
    wanted = terms(about)
    hits = [terms(word) & wanted for word in words]
    when = times(wanted)
    number = Counter(term for hit in hits for term in hit)
    weight = {
        term: Fraction(1, number[term] * (4 if term in when or _YEAR.fullmatch(term) else 1))
        for term in number
    }
    ends = [_words_within(words, start, limit) for start in range(len(words))]
    shared = []
    for start, end in enumerate(ends):
        inside = frozenset().union(*hits[start and start + CONTEXT : end])
        shared.append(sum((weight[term] for term in inside), Fraction(0)))
    best = [start for start, share in enumerate(shared) if share == max(shared)]
    start = 0 if 0 in best else best[len(best) // 2]  # the middle one has context
    rest = " ".join(words[start:])
    part = " ".join(words[start : ends[start]])[:limit]
    return ("... " if start else "") + part + ("..." if len(part) < len(rest) else "")


def _words_within(words: Sequence[str], start: int, limit: int) -> int:
    """The end of the words from `start` that fit a limit of characters; at least one word."""
    length = -1
    for end in range(start, len(words)):
        length += 1 + len(words[end])
        if length > limit:
            return max(end, start + 1)
    return len(words)

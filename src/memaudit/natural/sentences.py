"""Pieces of a text, verbatim: its sentences, its first words, quotes found in it."""

import re

CLOSING = "\"'\u201d\u2019)]"
"""Quotation marks and brackets that can follow the end of a sentence."""

_BREAK = re.compile(rf"(?<=[.!?…])[{re.escape(CLOSING)}]*\s+|(?<!\s)\s*\n\s*")
"""The second part is tried at the start of a gap only: long gaps would take forever else."""

_NO_END = re.compile(r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|vs|etc|No|e\.g|i\.e|approx)|\d)\.$")
"""What a dot follows without ending a sentence: initials, titles, and numbers of a list."""

LONGEST_NO_END = 12
"""Letters that decide: more than the longest of these words and the letter before it."""

_WORDS = re.compile(r"\S+")


def sentences(text: str) -> list[str]:
    """The sentences of a text in order; each is a piece of the text as it stands."""
    found: list[str] = []
    start = 0
    for gap in _BREAK.finditer(text):
        last = text[max(start, gap.start() - LONGEST_NO_END) : gap.start()]
        if "\n" not in gap[0] and _NO_END.search(last):
            continue
        # A closing quote or bracket belongs to the sentence before it.
        end = gap.start() + len(gap[0].rstrip())
        found.append(text[start:end].strip())
        start = gap.end()
    found.append(text[start:].strip())
    return [piece for piece in found if piece]


def first_words(text: str, count: int) -> str:
    """The text up to the end of its `count`-th word, or all of it."""
    end = 0
    for number, word in enumerate(_WORDS.finditer(text), start=1):
        end = word.end()
        if number == count:
            break
    return text[:end].strip()


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


def contains(text: str, quote: str) -> bool:
    """Whether the text holds the quote word for word, whatever the spacing; nothing is in none."""
    wanted = one_line(quote)
    return bool(wanted) and wanted in one_line(text)

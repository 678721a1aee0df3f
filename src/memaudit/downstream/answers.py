"""Exact match and token F1 as SQuAD defines them, with numbers compared as numbers."""

import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from memaudit.core.text import terms

_ARTICLES = frozenset({"a", "an", "the"})
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_PUNCTUATION = re.compile(r"[\W_]+")


def plain_numbers(text: str) -> str:
    """The text without commas between thousands: 30,000 is 30000."""
    return _THOUSANDS.sub("", text)


def tokens(text: str) -> list[str]:
    """Words in lower case without punctuation and articles; 4.0, four and 4 are one token."""
    return list(_tokens(text))


@lru_cache(maxsize=1 << 14)
def _tokens(text: str) -> tuple[str, ...]:
    pieces = (_token(piece) for piece in plain_numbers(text).casefold().split())
    return tuple(piece for piece in pieces if piece and piece not in _ARTICLES)


def _token(piece: str) -> str:
    bare = piece.strip("$€£%.,;:!?\"'()[]{}\u201c\u201d\u2018\u2019")
    if _NUMBER.fullmatch(bare):
        whole, _, part = f"{Decimal(bare):f}".partition(".")
        part = part.rstrip("0")
        return f"{whole}.{part}" if part else whole
    word = _PUNCTUATION.sub("", piece)
    number = terms(word) if word.isalpha() else frozenset()
    return next((term for term in number if term.isdigit()), word)  # spelled out: four


def exact_match(answer: str, gold: str) -> bool:
    """Whether both have the same tokens in the same order."""
    return tokens(answer) == tokens(gold)


def token_f1(answer: str, gold: str) -> Fraction:
    """2 · shared / (tokens of both), repeats counted; two empty texts are alike."""
    said, wanted = tokens(answer), tokens(gold)
    if not said or not wanted:
        return Fraction(said == wanted)
    shared = (Counter(said) & Counter(wanted)).total()
    return Fraction(2 * shared, len(said) + len(wanted))

"""Whether a text gives the right answer: exact match, token F1, and a named rule.

The rule `answer-v4` may say that it cannot tell. What the question itself mentions is no answer, so
a gold answer is recognised by its terms that the question does not have. An answer with all of them
is right, one with none is wrong; between the two it is right from a token F1 of 3/4 if it has the
numbers, and cannot be scored otherwise. Where the question has every term of the gold answer (this
or that?), an answer must be the gold answer, or contain it as a phrase with a token F1 of 1/2. A
yes against a no is wrong. An answer that denies a term which the gold answer does not deny, or the
other way round, or has a bare number only inside a word, is never right by its terms. Words are
compared and nothing else: units, dates and frequencies in another spelling are other words.
"""

import re
from collections import Counter
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from memaudit.kernel.words.scripts import script_class
from memaudit.kernel.words.text import Terms, numbers, terms


class AnswerVerdict(StrEnum):
    """What the words of an answer are worth, whatever the evidence."""

    RIGHT = "right"
    """Also: abstained where that is the right answer."""
    STALE = "stale"
    WRONG = "wrong"
    ABSTAINED = "abstained"
    """Where an answer was expected."""
    UNCLEAR = "unclear"
    """No reply that can be read, or an answer that the rule cannot score."""


_ARTICLES = frozenset({"a", "an", "the"})
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CHARACTER = re.compile(f"[{script_class('Han', 'Hiragana')}]|[。、「」\uff01-\uff1f]")
"""Each is a token of its own."""
_PUNCTUATION = re.compile(r"[\W_]+")


def plain_numbers(text: str) -> str:
    """The text without commas between thousands: 30,000 is 30000."""
    return _THOUSANDS.sub("", text)


def tokens(text: str) -> list[str]:
    """Words in lower case without punctuation and articles. 4.0, four and 4 are one token."""
    return list(_tokens(text))


@lru_cache(maxsize=1 << 14)
def _tokens(text: str) -> tuple[str, ...]:
    spaced = _CHARACTER.sub(r" \g<0> ", plain_numbers(text).casefold())
    pieces = (_token(piece) for piece in spaced.split())
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
    given, wanted = tokens(answer), tokens(gold)
    if not given or not wanted:
        return Fraction(given == wanted)
    shared = (Counter(given) & Counter(wanted)).total()
    return Fraction(2 * shared, len(given) + len(wanted))


RULE = "answer-v4"
ALIKE = Fraction(3, 4)
HALF = Fraction(1, 2)
POLAR = {"yes": "no", "no": "yes"}

_UNKNOWN = re.compile(
    r"\b(?:unknown|undecided|unanswerable)\b|"
    r"\bno (?:information|answer|decision|idea|mention|record)\b|"
    r"\bca(?:n't|nnot|n not) (?:say|tell|answer|know|determine|be determined)\b|"
    r"(?:\bnot|n't)(?: yet| been)* (?:know|known|decided?|mention|mentioned|stated?|say|said|told|"
    r"given|provided|specify|specified|contain|named)\b|"
    r"不知道|不清楚|未知|没有提到|沒有提到|没提到|无法确定|無法確定|わかりません|分かりません|不明|"
    r"모르|알 수 없|لا أعرف|غير معروف|ไม่ทราบ|ไม่รู้",
    re.IGNORECASE,
)
_MONTH = re.compile(r"\bMay\b|\b\d{1,2}(?:st|nd|rd|th)?(?: of)? may\b|\bmay \d")
_HOUR = re.compile(r"(?<=\d)\s*([ap])\.?m\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[.,;:!?](?!\d)|\bbut\b")
_DENIAL = re.compile(r"not|never|no|none|without|neither|nor|cannot|\w+n't", re.IGNORECASE)
_REACH = 3
"""Words before a term among which a denial is about it: does not eat any meat."""
_GONE = re.compile(r"\b(?:deleted?|erased?|removed?|forget|forgotten|withdrawn)\b", re.IGNORECASE)


def says_unknown(answer: str, may_be_gone: bool = False) -> bool:
    """Whether a text says that it is not known, or optionally that it was deleted."""
    text = answer.replace("\u2019", "'")
    return bool(_UNKNOWN.search(text) or (may_be_gone and _GONE.search(text)))


def score_answer(answer: str, gold: str, question: str) -> AnswerVerdict:
    """Right, wrong, or unclear where words alone cannot tell."""
    if exact_match(answer, gold):
        return AnswerVerdict.RIGHT
    given, wanted = tokens(answer), tokens(gold)
    if not given:
        return AnswerVerdict.WRONG
    # Before any terms are compared: "no, in Lisbon" has the terms of "yes, in Lisbon".
    if wanted and POLAR.get(wanted[0]) == given[0]:
        return AnswerVerdict.WRONG
    if len(wanted) == 1 and wanted[0] in POLAR:
        sure = given[0] == wanted[0] and not says_unknown(answer)
        return AnswerVerdict.RIGHT if sure else AnswerVerdict.UNCLEAR
    all_terms, said = _terms(gold), _terms(answer)
    # What the question mentions proves nothing: repeating it would be half an answer.
    telling = all_terms - _terms(question)
    if all_terms and not (telling or all_terms) & said:
        return AnswerVerdict.WRONG
    if _denied(answer, all_terms) != _denied(gold, all_terms & said):
        return AnswerVerdict.UNCLEAR
    # A bare number has to stand as one: 3 is no 3-day workshop.
    if len(wanted) == 1 and wanted[0].isdecimal() and wanted[0] not in given:
        return AnswerVerdict.UNCLEAR
    # This or that? Every term of the gold answer is in the question: only its phrase can decide.
    if not telling:
        right = _phrase(wanted, given) and token_f1(answer, gold) >= HALF
    else:
        # A long gold answer may lose a word or two, but never one of its numbers.
        alike = token_f1(answer, gold) >= ALIKE and numbers(telling) <= said
        right = alike or telling | numbers(all_terms) <= said
    return AnswerVerdict.RIGHT if right else AnswerVerdict.UNCLEAR


def _denied(text: str, about: Terms) -> Terms:
    """Those of some terms that stand behind a denial."""
    denied: Terms = frozenset()
    for clause in _CLAUSE.split(text.replace("\u2019", "'")):
        words = clause.split()
        for place, word in enumerate(words):
            if any(_DENIAL.fullmatch(before) for before in words[max(0, place - _REACH) : place]):
                denied |= terms(word) & about
    return denied


def _phrase(part: list[str], text: list[str]) -> bool:
    """Whether tokens occur together in a text."""
    size = len(part)
    return any(text[at : at + size] == part for at in range(len(text) - size + 1))


def _terms(text: str) -> Terms:
    """With the month May and the hours a.m., which look like words of grammar."""
    found = terms(_HOUR.sub(r" \1m", plain_numbers(text)))
    found |= {f"{half.lower()}m" for half in _HOUR.findall(text)}
    return found | {"may"} if _MONTH.search(text) else found

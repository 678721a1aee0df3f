"""Texts as words: content terms, sentences, quotes, and numbers with their nouns."""

import re
from functools import lru_cache

from memaudit.kernel.words.script_terms import SCRIPT_TIMES, has_script_terms, split_terms
from memaudit.kernel.words.scripts import UNSPACED, script_class, script_of

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
    """The distinct terms of a text, without words of grammar and greeting."""
    others: set[str] = set()
    if has_script_terms(text):
        text, others = split_terms(text)
    # Phones and word processors type another apostrophe than the list of grammar words has.
    tokens = set(_TOKEN.findall(text.replace("\u2019", "'").casefold()))
    return frozenset(map(_term, tokens - _GRAMMAR)) | others


@lru_cache(maxsize=1 << 16)
def _term(token: str) -> str:
    word = token.removesuffix("'s")
    return _NUMBERS.get(word) or (word if _has_digit(word) else stem(word))


def numbers(terms: Terms) -> Terms:
    """The terms that are numbers or contain one: 9, 7:30, 5k."""
    return frozenset(term for term in terms if _has_digit(term))


def times(terms: Terms) -> Terms:
    """The terms that say when: yesterday, last, Saturday, May."""
    return terms & _TIMES


def stem(word: str) -> str:
    """The word without its most common endings: painted, painting and paints have one stem."""
    # Parties, party; in four letters (ties, dies) the ie is part of the word.
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    # One ending at most, and `es` before `s`: boxes, box. A stem of fewer than three letters is no
    # stem (bring, red), and what ends in ss is no plural (glass).
    for ending in ("ing", "ed", "es", "ly", "s"):
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]  # planning, plan
    return word.removesuffix("e") if len(word) > 3 else word


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)


_WHEN = (
    "yesterday today tonight tomorrow last next ago recently soon week weekend month year morning "
    "afternoon evening monday tuesday wednesday thursday friday saturday sunday january february "
    "march april may june july august september october november december"
)
_TIMES = frozenset(map(stem, _WHEN.split())) | SCRIPT_TIMES


CLOSING = "\"'\u201d\u2019)]\uff09\uff3d」』】》〉"
"""Quotation marks and brackets that can follow the end of a sentence."""

QUESTION_MARKS = ("?", "\uff1f", "؟")

_ENDS = "。\uff01\uff1f\uff1b｡؟\u06d4।॥។။።"
"""What ends a sentence with no space after it."""
_UNSPACED = script_class(*sorted(UNSPACED))

_BREAK = re.compile(
    rf"(?<=[.!?…])[{re.escape(CLOSING)}]*\s+|(?<!\s)\s*\n\s*"
    rf"|(?<=[{_ENDS}])(?![{_ENDS}!?…])[{re.escape(CLOSING)}]*\s*"
    rf"|(?:(?<=[{_UNSPACED}][!?…])|(?<=……))[{re.escape(CLOSING)}]*(?=[{_UNSPACED}])"
)
"""The second part is tried at the start of a gap only; otherwise long gaps would take forever."""

_NO_END = re.compile(r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|vs|etc|No|e\.g|i\.e|approx)|\d)\.$")
"""Words after which a dot ends no sentence: initials, titles, and numbers of a list."""

LONGEST_NO_END = 12
"""Characters to look at: more than the longest of these words and the character before it."""


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, each a literal piece of the text."""
    pieces: list[str] = []
    start = 0
    for gap in _BREAK.finditer(text):
        last = text[max(start, gap.start() - LONGEST_NO_END) : gap.start()]
        # A line break ends a sentence whatever stands before it; a dot after Dr does not.
        if "\n" not in gap[0] and _NO_END.search(last):
            continue
        # A closing quote or bracket belongs to the sentence before it.
        end = gap.start() + len(gap[0].rstrip())
        pieces.append(text[start:end].strip())
        start = gap.end()
    pieces.append(text[start:].strip())
    return [piece for piece in pieces if piece]


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


_SENTENCE_END = re.compile(rf"[.!?\u2026]+(?=[{re.escape(CLOSING)}]*(?:\s|$))")


_ANY_END = re.compile(f"[{_ENDS}]+|(?<=[{_UNSPACED}])…+")


@lru_cache(maxsize=1 << 15)
def content_key(text: str) -> str:
    """What two texts of the same content share: case, spacing and the ends of sentences aside."""
    if has_script_terms(text):
        text = _narrow(_ANY_END.sub(" ", text))
    return one_line(_SENTENCE_END.sub(" ", text)).casefold()


def contains(text: str, quote: str) -> bool:
    """Whether the text contains the quote word for word, ignoring spacing; never an empty one.

    Where there are no spaces, the width of characters and kinds of marks do not matter either.
    """
    wanted = one_line(quote)
    if not wanted or wanted in one_line(text):
        return bool(wanted)
    return has_script_terms(quote) and _narrow(quote) in _narrow(text)


NARROW = {
    **{chr(wide): chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F)},
    **dict.fromkeys("「」『』《》〈〉｢｣", '"'),
    **dict.fromkeys("。｡", "."),
    **dict.fromkeys("、､", ","),
    "【": "[",
    "】": "]",
}
"""By a full-width or East Asian mark, what stands for it in narrow type."""

_TYPED = str.maketrans({**NARROW, **dict.fromkeys("\u201c\u201d", '"')})
_NO_SPACE = re.compile(rf"(?<!\w)\s+|\s+(?!\w)|(?<=[{_UNSPACED}])\s+|\s+(?=[{_UNSPACED}])")


def _narrow(text: str) -> str:
    """The text in narrow type, with spaces only between words that need them."""
    return _NO_SPACE.sub("", one_line(text).translate(_TYPED))


def stands_close(character: str) -> bool:
    """Whether spaces beside a character mean nothing."""
    return character in NARROW or script_of(character) in UNSPACED


def counted(number: int, noun: str, many: str = "") -> str:
    """`1 cell`, `2 cells`, `1,000 memories`, `2 diagnoses`; `many` is an irregular plural."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("sis"):
        plural = f"{noun[:-2]}es"
    else:
        plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {many or plural}"


def shortened(text: str, limit: int) -> str:
    """The text, cut after `limit` characters with three dots."""
    return text if len(text) <= limit else f"{text[:limit]}..."


def visible_text(text: object, keep: str = "") -> str:
    """The text with control, format and bidirectional characters as escapes, except `keep`."""
    return "".join(
        character
        if character.isprintable() or character in keep
        else character.encode("unicode_escape").decode("ascii")
        for character in str(text)
    )

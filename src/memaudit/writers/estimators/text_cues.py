"""What a text shows without being understood: numbers, dates, names, words of change. English."""

import re
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d")
_DATE = re.compile(
    r"\b\d{4}-\d{2}(?:-\d{2})?\b|\b\d{1,2}[:/]\d{2}\b"
    r"|\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|june?|july?|aug(?:ust)?"
    r"|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|yesterday|tonight)\b"
    r"|\bmay \d|\d may\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[^\W\d_] )[^\W\d_a-z][^\W\d_]+|(?<=[,;:] )[^\W\d_a-z][^\W\d_]+")
_UPDATE = re.compile(
    r"\b(?:now|no longer|instead|any ?more|changed|moved|switched|updated?|replaced?|stopped"
    r"|started|used to|from now on|new|cancell?ed|not valid|deleted?|forget|correction|actually)\b",
    re.IGNORECASE,
)
_DELETION = re.compile(r"\b(?:deleted?|forget|removed?|erased?|withdr[ae]wn?)\b", re.IGNORECASE)
_UNSURE = re.compile(
    r"\b(?:maybe|perhaps|unknown|unsure|uncertain|not sure|not known|might|undecided|yet"
    r"|(?-i:may))\b",
    re.IGNORECASE,
)
_LIKING = re.compile(
    r"\b(?:likes?|loves?|prefers?|preferred|favou?rite|hates?|dislikes?|enjoys?|wants?|avoids?)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = frozenset({"i", "me", "my", "mine", "myself", "we", "us", "our", "ours"})


@dataclass(frozen=True, slots=True)
class TextCues:
    """The cues of one text."""

    words: int
    number: bool
    date: bool
    names: int
    first_person: bool
    update: bool
    deletion: bool
    unsure: bool
    liking: bool
    question: bool


@lru_cache(maxsize=1 << 14)
def text_cues(text: str) -> TextCues:
    """The cues of a text. A name is a capitalised word inside a sentence."""
    words = _WORD.findall(text.casefold())
    return TextCues(
        words=len(words),
        number=_NUMBER.search(text) is not None,
        date=_DATE.search(text) is not None,
        names=sum(1 for name in _NAME.findall(text) if name[0].isupper()),
        first_person=not _FIRST_PERSON.isdisjoint(words),
        update=_UPDATE.search(text) is not None,
        deletion=_DELETION.search(text) is not None,
        unsure=_UNSURE.search(text) is not None,
        liking=_LIKING.search(text) is not None,
        question="?" in text,
    )

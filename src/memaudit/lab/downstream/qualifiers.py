"""Small words that change what an answer says: every, this, before, not, more than, a unit.

Terms leave most of them out as words of grammar, so "this week" has the terms of "every week". Here
such a word qualifies the term that it stands before. Two texts differ where they share a term and
qualify it differently:

- which: every, this, next, last or the whole of a time;
- how many of them: all, most, some or both;
- on which side: before, after, since, until or during;
- how a number is meant: more than, at least, less than or at most;
- the unit of a number;
- whether it is denied: not, never, no or without.

"This Friday" and "Friday" do not differ: a qualifier that only one text has counts where it cannot
be left out (`CANNOT_BE_DROPPED`, `CANNOT_BE_ADDED`). A term that a text has several times has
several qualifiers, of which one has to fit. Where the question is a denial, denials are not
compared: "What must it not contain?" is answered by "no nuts" and by "nuts".
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache

from memaudit.kernel.words.text import stem, terms, times

# One spelling for numbers, units, frequencies and dates.

_TEENS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_SPELLED = {word: str(number) for number, word in enumerate(_TEENS, start=13)} | {
    f"{tens}{one and '-'}{one}": f"{number}{more}"
    for number, tens in enumerate(_TENS, start=2)
    for more, one in enumerate(["", *_ONES])
}
_SPELLED_NUMBER = re.compile(
    rf"\b(?:{'|'.join(_TEENS)}|(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_ONES)}))?)\b"
)
_YEAR = "january february march april may june july august september october november december"
_MONTHS = _YEAR.split()
_MONTH_OF = {month[:3]: month for month in _MONTHS} | {"sept": "september"}
_SHORT = "|".join(sorted(_MONTH_OF, reverse=True))
_SHORT_MONTH = re.compile(rf"(?<=\d )({_SHORT})\b\.?|\b({_SHORT})\b\.?(?= \d)")
_ORDINAL = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b")
_DATE = re.compile(r"(?<!\[)\b(\d{4})[-/](0?[1-9]|1[0-2])[-/](0?[1-9]|[12]\d|3[01])\b")
"""Not in brackets: there it says when something was said."""
_ANY_MONTH = "|".join(_MONTHS)
_DAY = re.compile(
    rf"\b(?P<first>\d{{1,2}})(?= (?:of )?(?:{_ANY_MONTH})\b)"
    rf"|\b(?P<month>{_ANY_MONTH}) (?P<day>\d{{1,2}})\b(?![:.]\d)"
)
_HAS_DATE = re.compile(rf"{_ORDINAL.pattern}|{_DATE.pattern}|\b(?:{_ANY_MONTH}|{_SHORT})\b")

_SPELLINGS = {
    "kilometre": "km kms kilometer kilometers kilometre kilometres",
    "mile": "mile miles",
    "metre": "meter meters metre metres",
    "foot": "ft foot feet",
    "inch": "inch inches",
    "kilogram": "kg kgs kilo kilos kilogram kilograms",
    "gram": "g gram grams",
    "pound": "£ lb lbs pound pounds",
    "ounce": "oz ounce ounces",
    "litre": "liter liters litre litres",
    "second": "sec secs second seconds",
    "minute": "min mins minute minutes",
    "hour": "hr hrs hour hours",
    "day": "day days",
    "week": "week weeks",
    "month": "month months",
    "year": "yr yrs year years",
    "percent": "% percent",
    "dollar": "$ usd dollar dollars",
    "euro": "€ eur euro euros",
}
_UNIT_OF = {each: unit for unit, spellings in _SPELLINGS.items() for each in spellings.split()}
_NUMBER = r"\d+(?:[.:]\d+)*"
_SIGN = re.compile(rf"([$€£]) ?({_NUMBER})")
_UNIT = re.compile(
    rf"\b({_NUMBER})[ -]?({'|'.join(map(re.escape, sorted(_UNIT_OF, reverse=True)))})(?!\w)"
)

_PERIOD = "(hour|day|night|week|weekend|month|year)"
_TIME = rf"(?:{_PERIOD}|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?\b"
_EVERY = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\bdaily\b", "every day"),
        (r"\bannually\b", "every year"),
        (rf"\b{_PERIOD}ly\b", r"every \1"),
        (rf"\b(?:once|one time) (?:an?|per|each|every) {_PERIOD}\b", r"every \1"),
        (rf"\b(twice|times|{_NUMBER}(?: [a-z]+)?) (?:an?|per) {_PERIOD}\b", r"\1 every \2"),
        (rf"\bper {_PERIOD}\b", r"every \1"),
        (rf"\bevery (?:other|second) (?={_TIME})", "every two "),
    )
]


@lru_cache(maxsize=1 << 14)
def spelled_alike(text: str) -> str:
    """The text in lower case, with one spelling for numbers, units and frequencies."""
    text = text.replace("\u2019", "'").casefold()
    text = _SPELLED_NUMBER.sub(lambda found: _SPELLED[found[0].replace(" ", "-")], text)
    text = _UNIT.sub(lambda found: f"{found[1]} {_UNIT_OF[found[2]]}", _SIGN.sub(r"\2 \1", text))
    for pattern, replacement in _EVERY:
        text = pattern.sub(replacement, text)
    return text


def has_date(text: str) -> bool:
    """Whether a text names a month or a day."""
    return bool(_HAS_DATE.search(text.casefold()))


def dates_alike(text: str) -> str:
    """The text in lower case, with one spelling for dates: 3th may 2023.

    A day keeps an ending, so that a bare 3 is no day.
    """
    text = text.casefold()
    text = _DATE.sub(lambda found: f"{int(found[3])} {_MONTHS[int(found[2]) - 1]} {found[1]}", text)
    text = _SHORT_MONTH.sub(lambda found: _MONTH_OF[found[1] or found[2]], text)
    return _DAY.sub(
        lambda found: (
            f"{found['first']}th" if found["first"] else f"{found['month']} {found['day']}th"
        ),
        _ORDINAL.sub(r"\1th", text),
    )


# What qualifies a term.

QUALIFIERS = {
    "which": {
        "every": "every each",
        "every as plural": "_plural",
        "so often": "_often",
        "this": "this these",
        "next": "next coming upcoming",
        "last": "last previous past",
        "whole": "whole entire",
    },
    "share": {"all": "all", "most": "most", "some": "some few several", "both": "both"},
    "side": {
        "before": "before",
        "after": "after",
        "since": "since",
        "until": "until till",
        "during": "during",
    },
    "amount": {
        "more than": "_more",
        "at least": "_least",
        "less than": "_less",
        "at most": "_most",
    },
    "unit": {unit: f"_{unit}" for unit in _SPELLINGS},
    "denied": {"not": "not never no without none neither nor cannot"},
}
"""By sort and meaning, the words before a term. Those with a line are made by `_marked`."""
CANNOT_BE_DROPPED = {"every", "so often", "before", "after", *QUALIFIERS["amount"], "not"}
CANNOT_BE_ADDED = CANNOT_BE_DROPPED - {"every", "so often"}
_MEANINGS = {
    word: (sort, meaning)
    for sort, meanings in QUALIFIERS.items()
    for meaning, words in meanings.items()
    for word in words.split()
}
_REACH = {"which": 2, "denied": 3}
"""Words back at which a qualifier stands: every Monday morning, does not eat meat. Those of other
sorts govern the term itself: before lunch, before her lunch."""
_TIMES = {stem(word) for word in ("second", "minute", "hour", "day", "night")}
_BETWEEN = {"a", "an", "the", "my", "your", "his", "her", "its", "our", "their", "of"}
"""Words between a qualifier and its term that do not count."""

_FEW = rf"(?:{'|'.join(_ONES)}|ten|eleven|twelve|half)"
_ANY = rf"(?=\d|{_FEW}\b)"
_MARKS = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\b(?:not only|not just|no doubt|no problem|can't wait|(?:don't|do not) forget)\b", " "),
        (r"\bno longer\b", "not"),
        (rf"\b(?:(?:no|not|\w+n't|cannot)(?: \w+)? more than|at most) {_ANY}", "_most "),
        (rf"(?<!goes )(?<!went )\bup to {_ANY}", "_most "),
        (rf"\b(?:(?:no|not) (?:less|fewer) than|at least) {_ANY}", "_least "),
        (rf"\b(?:more than|over|above) {_ANY}", "_more "),
        (rf"\b(?:less than|fewer than|under|below) {_ANY}", "_less "),
        (rf"\b({_NUMBER}|{_FEW})(?:\+| or more\b|( \w+)? at least\b)", r"_least \1\2"),
        (rf"\b({_NUMBER}|{_FEW})(?: or (?:less|fewer)\b|( \w+)? at most\b)", r"_most \1\2"),
        (rf"\b({_NUMBER}) ({'|'.join(_SPELLINGS)})\b", r"_\2 \1 \2"),
        (rf"\bevery ({_NUMBER}|{_FEW})\b", r"\1 _often"),
        (r"\b(twice|times) every\b", r"\1 _often"),
        (r"\b(weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s\b", r"_plural \1"),
    )
]
_CLAUSE = re.compile(r"[.,;:!?](?!\d)|[\u2013\u2014\n]| - |\b(?:but|because|so)\b")
_WORD = re.compile(r"[^\W]+(?:[.,:'][^\W_]+)*")

SMALL_TERMS = frozenset(
    term for words in QUALIFIERS["denied"].values() for term in terms(words)
) | {"least"}
"""Terms that say nothing but a qualifier."""

Qualified = Mapping[tuple[str, str], frozenset[str]]
"""By sort and term, the meanings of its qualifiers; empty where it stands without."""


def differ(answer: str, gold: str, question: str) -> bool:
    """Whether a term of both is qualified differently in the answer."""
    denies = any(_MEANINGS.get(word) == ("denied", "not") for word in _words(question))
    given, wanted = qualified(answer), qualified(gold)
    return any(
        not any(_fits(meaning, other) for meaning in given[key] for other in wanted[key])
        for key in given.keys() & wanted.keys()
        if not (denies and key[0] == "denied")
    )


def _fits(given: str, wanted: str) -> bool:
    if not given:
        return wanted not in CANNOT_BE_DROPPED
    if not wanted:
        return given not in CANNOT_BE_ADDED
    return given == wanted or {given, wanted} == {"every", "every as plural"}


@lru_cache(maxsize=1 << 14)
def qualified(text: str) -> Qualified:
    """Every term with its qualifiers."""
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for clause in _CLAUSE.split(_marked(text)):
        words = _words(clause)
        for place, word in enumerate(words):
            for term in () if word in _MEANINGS or word == "one" else terms(word):
                own = _before(words[:place], word, term)
                # The empty meaning is recorded as well: `_fits` decides whether a qualifier may be
                # left out.
                for sort in QUALIFIERS:
                    found[sort, term].add(own.get(sort, ""))
    return {key: frozenset(meanings) for key, meanings in found.items()}


def _marked(text: str) -> str:
    """The text with words that `QUALIFIERS` knows for what takes several words or a sign."""
    text = spelled_alike(text)
    for pattern, replacement in _MARKS:
        text = pattern.sub(replacement, text)
    return text


def _words(clause: str) -> list[str]:
    """With `not` for every negative verb."""
    words = _WORD.findall(clause.replace("\u2019", "'").casefold())
    return ["not" if word.endswith("n't") else word for word in words if word not in _BETWEEN]


def _before(words: list[str], word: str, term: str) -> dict[str, str]:
    """What qualifies a term among the words before it, by sort."""
    found: dict[str, str] = {}
    governs = True
    is_time = term in _TIMES or bool(times(frozenset({term})))
    for back, other in enumerate(reversed(words[-max(_REACH.values()) :]), start=1):
        if other not in _MEANINGS:
            governs = False
            continue
        sort, meaning = _MEANINGS[other]
        # "every guest" is "all guests"; only of times do the two differ: "every day" and "all day".
        if meaning == "every" and not is_time:
            sort, meaning = "share", "all"
        elif meaning == "all" and is_time:
            sort, meaning = "which", "whole"
        begins_a_clause = sort == "side" and word.endswith("ing")  # after visiting her
        if (governs or back <= _REACH.get(sort, 0)) and not begins_a_clause:
            found.setdefault(sort, meaning)
    return found

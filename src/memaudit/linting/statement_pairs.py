"""Two memories side by side: do they say the same, or does one contradict the other?

A pair becomes some numbers that depend on the two texts alone, so it has the same verdict in every
store. Two logistic functions, fitted to written pairs (examples/pairs), make two probabilities of
them. Words are compared by stems and by a small list of synonyms; names, numbers, dates, negation
and opposites count by themselves.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from memaudit.judges.pair_features import NEGATION, with_plain_numbers
from memaudit.kernel.words.text import numbers, stem, terms, times

Floats = NDArray[np.float64]

_STAMP = re.compile(r"^\s*[\[(]?\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?[\])]?\s*[:,-]?\s*")
_FILLER = re.compile(
    r"\b(?:(?:the )?user (?:has )?(?:mentioned|said|stated|noted|reports?|shared|told \w+) that)\b",
    re.IGNORECASE,
)
_ME = re.compile(
    r"\b(?:the user|user|i|me|my|mine|myself|you|your)\b(?:'s|\u2019s)?", re.IGNORECASE
)
_CHANGE = re.compile(
    r"\b(?:now|no longer|any ?more|instead|switched|changed?|changes|moved|used to|stopped|quit|"
    r"gave up|became|becomes|since then|currently|postponed|rescheduled|raised|lowered|replaced|"
    r"upgraded|new|previously|formerly|cancell?ed|extended|shifted)\b",
    re.IGNORECASE,
)
_SINGLE = re.compile(
    r"\b(?:lives?|living|resides?|works? (?:as|at|for)|job|role|employer|favou?rite|name|named|"
    r"called|ages?|aged|years old|birthday|price|costs?|rent|salary|deadline|due|expires?|version|"
    r"address|number|weighs?|height|password|colou?r|goal|limit|married|engaged|status|based|"
    r"starts? at|begins? at|departs?|arrives?|opens?|closes?|takes place|scheduled|appointment|"
    r"is on|budget|default|runs? on|per (?:day|week|month|year|minute|hour))\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:likes?|loves?|enjoys?|speaks?|allergic|visited|has been to|owns?|bought|plays?|reads?|"
    r"watched|friends?|knows?|collects?|interested|hobb(?:y|ies)|learn(?:s|ing)|skills?|tests?|"
    r"wants|plans to|trip|also|another|one of)\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\W_]+(?:[.:'\u2019][^\W_]+)*")
_NAME = re.compile(r"\b[A-Z][\w\u2019'-]+")


@cache
def _groups(name: str) -> list[list[str]]:
    text = files(__package__).joinpath("words", name).read_text("utf-8")
    return [line.split("|") for line in text.splitlines() if line and not line.startswith("#")]


@cache
def _no_names() -> frozenset[str]:
    """Words that begin a sentence with a capital and are no names."""
    return frozenset(word for (line,) in _groups("no_names.txt") for word in line.split())


@cache
def _synonyms() -> Mapping[str, str]:
    """By stem, the first word of its line. A word of two lines belongs to the first."""
    known: dict[str, str] = {}
    for (line,) in _groups("synonyms.txt"):
        words = [stem(word) for word in line.split()]
        for word in words:
            known.setdefault(word, known.get(words[0], words[0]))
    return known


@cache
def _opposites() -> Mapping[str, frozenset[str]]:
    """By stem, the stems that exclude it."""
    known: dict[str, set[str]] = {}
    for one, other in _groups("opposites.txt"):
        first, second = ([stem(word) for word in side.split()] for side in (one, other))
        for here, there in ((first, second), (second, first)):
            for word in here:
                known.setdefault(word, set()).update(there)
    return {word: frozenset(others) for word, others in known.items()}


@dataclass(frozen=True, slots=True)
class Statement:
    """A memory as pairs compare it."""

    text: str
    tokens: tuple[str, ...]
    stems: frozenset[str]
    terms: frozenset[str]
    """Stems, with synonyms as one."""
    names: frozenset[str]
    numbers: frozenset[str]
    times: frozenset[str]
    grams: frozenset[str]
    beginnings: frozenset[str]
    """Four letters of every word: Finland and Finnish have one beginning."""
    content: frozenset[str]
    """Terms that are no name, number or time."""
    negated: bool
    changed: bool
    single: bool
    several: bool


@lru_cache(maxsize=1 << 15)
def statement(text: str) -> Statement:
    """The words of a memory without a date stamp, and what they are."""
    plain = _FILLER.sub("user", _STAMP.sub("", text))
    plain = with_plain_numbers(plain.replace("\u2019", "'"))
    said = _ME.sub("user", plain)
    stems = terms(said)
    known = _synonyms()
    # A year counts as a time, not as a number: it may differ where nothing else does.
    when = times(stems) | {term for term in stems if re.fullmatch(r"(?:19|20)\d\d", term)}
    names = {
        stem(word.casefold().removesuffix("'s"))
        for word in _NAME.findall(plain)
        if word.casefold() not in _no_names()
    }
    first = _NAME.match(plain)
    # Every sentence begins with a capital; a synonym that does is a word, any other may be a name.
    if first and stem(first[0].casefold()) in known:  # a common word that begins a sentence
        names.discard(stem(first[0].casefold()))
    letters = f" {' '.join(sorted(stems))} "
    return Statement(
        text=text,
        tokens=tuple(stem(token.casefold()) for token in _TOKEN.findall(said)),
        stems=stems,
        terms=frozenset(known.get(term, term) for term in stems),
        names=frozenset(names & stems) - times(stems),
        numbers=numbers(stems) - when,
        times=frozenset(when),
        grams=frozenset(letters[at : at + 4] for at in range(max(1, len(letters) - 3))),
        beginnings=frozenset(known.get(term, term)[:4] for term in stems),
        content=frozenset(known.get(term, term) for term in stems - names - numbers(stems) - when)
        - {"user"},
        negated=bool(NEGATION.search(plain)),
        changed=bool(_CHANGE.search(plain)),
        single=bool(_SINGLE.search(plain)),
        several=bool(_SEVERAL.search(plain)),
    )


def features(first: Statement, second: Statement) -> dict[str, float]:
    """The numbers of a pair by name, the same in either order."""
    a, b = first.terms, second.terms
    both, either = len(a & b), len(a | b) or 1
    short, long = sorted((len(a) or 1, len(b) or 1))
    lone = sorted((len(a - b), len(b - a)))
    shared = both / either
    here, there = first.content, second.content
    common = len(here & there)
    less, more = sorted((len(here) or 1, len(there) or 1))
    frame = _frame(first.tokens, second.tokens)
    opposite = any(
        other in second.stems and other not in first.stems and word not in second.stems
        for word in first.stems - second.stems
        for other in _opposites().get(word, ())
    )
    negation = first.negated != second.negated
    changed = first.changed != second.changed
    single, several = first.single and second.single, first.several and second.several
    names, values, when = (
        _differ(getattr(first, part), getattr(second, part))
        for part in ("names", "numbers", "times")
    )
    return {
        "shared": shared,
        "shared of shorter": both / short,
        "shared of longer": both / long,
        "stems shared": _shared(first.stems, second.stems),
        "letters": _shared(first.grams, second.grams),
        "frame": frame,
        "lone words": min(lone[0], 4) / 4,
        "lone words of both": min(lone[1], 6) / 6,
        "names differ": names[0],
        "names added": names[1],
        "numbers differ": values[0],
        "numbers added": values[1],
        "times differ": when[0],
        "times added": when[1],
        "negation differs": negation,
        "opposites": opposite,
        "changed": changed,
        "single": single,
        "several": several,
        "same numbers": bool(first.numbers & second.numbers),
        "same names": bool(first.names & second.names),
        "length": short / long,
        "frame and single": frame * single,
        "frame and several": frame * several,
        "frame and values": frame * values[0],
        "shared and negation": shared * negation,
        "shared and opposites": shared * opposite,
        "shared and changed": shared * changed,
        "one word differs": lone == [1, 1],
        "beginnings": _shared(first.beginnings, second.beginnings),
        "contained": not lone[0],
        "contained and more": not lone[0] and lone[1] >= 3,
        "same numbers, nothing differs": bool(first.numbers & second.numbers) and not values[0],
        "names differ and frame": names[0] * frame,
        "times differ and frame": when[0] * frame,
        "negation and opposites": negation and opposite,
        "both changed": first.changed and second.changed,
        "content shared": _shared(here, there),
        "content of shorter": common / less,
        "content of longer": common / more,
        "content and size": common / less * np.log(less),
        "size": np.log(less),
        "lone words in all": np.log1p(sum(lone)),
    }


def _shared(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / (len(first | second) or 1)


LEAST_OF_SHORTER, LEAST_OF_LONGER = 0.5, 0.34
"""Memories say the same only if they share so much of their words beside names, numbers and dates:
those are shared by everything that happened to somebody on one day."""
LEAST_IN_CONFLICT = 0.34
"""The same for contradictions, of the shorter one."""


@dataclass(frozen=True, slots=True)
class PairModel:
    """Two logistic functions of the features, and the probabilities from which they decide."""

    mean: Floats
    scale: Floats
    same: Floats
    conflict: Floats
    """Weights, with the bias last."""
    same_from: float
    conflict_from: float

    def verdicts(self, table: Floats) -> list["PairVerdict"]:
        """The probabilities of every row."""
        scaled = np.hstack([(table - self.mean) / self.scale, np.ones((len(table), 1))])
        both = [
            1 / (1 + np.exp(-np.clip(scaled @ weights, -30, 30)))
            for weights in (self.same, self.conflict)
        ]
        column = {name: table[:, at] for at, name in enumerate(FEATURES)}
        shorter, longer = column["content of shorter"], column["content of longer"]
        # Two facts of one day share its names and dates; only their other words say whether they
        # are one.
        alike = (shorter >= LEAST_OF_SHORTER) & (longer >= LEAST_OF_LONGER)
        one_subject = (column["names differ"] == 0) | (column["same names"] == 1)
        # Two people may well differ, so memories about different names do not contradict.
        related = (shorter >= LEAST_IN_CONFLICT) & one_subject
        return [
            PairVerdict(float(same), float(conflict))
            for same, conflict in zip(both[0] * alike, both[1] * related, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """How likely two memories say the same, and how likely they contradict each other."""

    same: float
    conflict: float


@cache
def pair_model() -> PairModel:
    """The shipped one."""
    text = files(__package__).joinpath("words", "pair_model.json").read_text("utf-8")
    data = json.loads(text)
    arrays = {name: np.array(data[name]) for name in ("mean", "scale", "same", "conflict")}
    return PairModel(**arrays, same_from=data["same_from"], conflict_from=data["conflict_from"])


def feature_table(pairs: Sequence[tuple[str, str]]) -> Floats:
    rows = [list(features(statement(first), statement(second)).values()) for first, second in pairs]
    return np.array(rows, float).reshape(len(rows), len(FEATURES))


def compare(pairs: Sequence[tuple[str, str]]) -> list[PairVerdict]:
    """The verdict on every pair of texts, by words."""
    return pair_model().verdicts(feature_table(pairs)) if pairs else []


def _differ(first: frozenset[str], second: frozenset[str]) -> tuple[float, float]:
    """Whether each has what the other lacks, and whether only one of them does."""
    here, there = first - second, second - first
    return float(bool(here and there)), float(bool(here) != bool(there))


def _frame(first: Sequence[str], second: Sequence[str]) -> float:
    """The share of the shorter text that both begin and end with."""
    short = min(len(first), len(second))
    if not short:
        return 0.0
    head = next((at for at in range(short) if first[at] != second[at]), short)
    left = short - head
    tail = next((at for at in range(left) if first[-1 - at] != second[-1 - at]), left)
    return (head + tail) / short


FEATURES = tuple(features(statement(""), statement("")))
"""The names, in the order of the weights in words/pair_model.json."""

"""Named rules that guess coverage where inclusion does not give it; a change gets a new name."""

import re
from dataclasses import dataclass
from fractions import Fraction

from memaudit.natural.sentences import contains
from memaudit.natural.terms import numbers, terms, times

FEW = 5
NONE, PARTIAL, FULL = Fraction(0), Fraction(1, 2), Fraction(1)

INCLUSION = "exact:inclusion"
POINTER = "dataset:pointer"
CONTAINMENT = "heuristic:containment-v1"
LEXICAL = "heuristic:lexical-v2"
UPDATE = "heuristic:update-v2"
CITED = "labels:cited-turn"
PASS = "pass:"
"""The provenance of people's own labels begins so; the pass's name follows."""

ABOUT = {
    INCLUSION: "the candidate holds, whole and word for word, the turn that the unit stands for",
    POINTER: "the dataset names the turn as the source; full if lexical-v2 says so, else partial",
    CONTAINMENT: (
        "a verbatim piece of the turn; full if it holds the unit's quote, or 4/5 of its terms and "
        "all its numbers; partial from 1/4 of its terms"
    ),
    LEXICAL: (
        "full from half of the unit's terms (3/4 of up to five) with all its numbers, and with all "
        "its words of time "
        "where the unit is temporal; partial from 3/10 and two terms"
    ),
    UPDATE: (
        "at the later turn: full if it calls outdated a piece of the earlier turn that holds half "
        "of the terms both turns share, partial if another piece, or if the turn only says that "
        "something changed"
    ),
    CITED: "the labels cite the turn for the unit, but their quote is in another one: partial",
}
"""Every provenance that a build can give a row, and the rule behind it."""

_CHANGE = re.compile(
    r"\b(?:now|no longer|any ?more|instead|switched|changed|updated?|moved|upgraded|replaced|"
    r"currently|these days|as of|from now on|used to)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Guess:
    """A value and why."""

    value: Fraction
    why: str


NOTHING = Guess(NONE, "")


def is_exact(provenance: str | None) -> bool:
    """Whether a row follows from the texts alone, with nothing guessed or judged."""
    return (provenance or "").startswith("exact:")


def containment(said: str, piece: str, quote: str = "") -> Guess:
    """How much a verbatim piece keeps of what a turn said; a quote, where given, is all of it."""
    if quote and contains(piece, quote):
        return Guess(FULL, "holds the quote")
    return _share(said, piece, Fraction(4, 5), Fraction(1, 4), 1)


def lexical(said: str, text: str, timed: bool = False) -> Guess:
    """How much a text keeps of what was said, by the terms they share.

    Of something temporal, a text that lost yesterday, next or Saturday keeps a part only.
    """
    guess = _share(said, text, Fraction(1, 2), Fraction(3, 10), 2)
    if timed and guess.value == FULL and not times(terms(said)) <= terms(text):
        return Guess(PARTIAL, f"{guess.why}, without when")
    return guess


def calls_outdated(piece: str, earlier: str, later: str) -> Guess:
    """Whether calling a piece of an earlier turn outdated denies what a later turn changed."""
    shared = terms(earlier) & terms(later)
    kept = terms(piece) & shared
    why = f"{len(kept)} of {len(shared)} terms that changed"
    return Guess(FULL if 2 * len(kept) >= len(shared) else PARTIAL, why)


def says_change(text: str) -> bool:
    """Whether a text says that something is not as it was."""
    return _CHANGE.search(text) is not None


def _share(said: str, text: str, full: Fraction, partial: Fraction, least: int) -> Guess:
    wanted = terms(said)
    kept = wanted & terms(text)
    if not wanted or len(kept) < min(least, len(wanted)):
        return NOTHING
    share = Fraction(len(kept), len(wanted))
    why = f"{len(kept)} of {len(wanted)} terms"
    if len(wanted) <= FEW:  # half of a short statement is not what it says
        full = max(full, Fraction(3, 4))
    if share >= full and numbers(wanted) <= kept:
        return Guess(FULL, why)
    return Guess(PARTIAL, why) if share >= partial else NOTHING

"""Named rules that decide coverage without a model, and the cells they give."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.package import STALE, TEMPORAL, Coverage
from memaudit.core.text import contains, numbers, terms, times
from memaudit.natural.candidates import Offer, Update
from memaudit.natural.evidence import Evidence

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


LABELS = {Fraction(1): "full", Fraction(1, 2): "partial", Fraction(0): "none"}


def cell(candidate: str, unit: str, value: Fraction, provenance: str, why: str) -> Coverage:
    """One row."""
    return Coverage(
        candidate=candidate, unit=unit, value=value, label=LABELS.get(value), rationale=why or None,
        provenance=provenance,
    )  # fmt: skip


class Rules:
    """Applies the rules to one conversation's units."""

    def __init__(self, evidence: Sequence[Evidence]) -> None:
        self._by_turn: dict[str, list[Evidence]] = defaultdict(list)
        self._by_session: dict[str, list[Evidence]] = defaultdict(list)
        self._by_new_turn: dict[str, list[Evidence]] = defaultdict(list)
        self._kinds = {one.unit.id: one.unit.kind for one in evidence}
        for one in evidence:
            for turn in one.turns:
                self._by_turn[turn].append(one)
            if one.session is not None and one.turns:
                self._by_session[one.session].append(one)
            if one.by is not None:
                self._by_new_turn[one.by].append(one)

    def rows(self, offer: Offer) -> list[Coverage]:
        """What an offer covers: one row a unit, the rule that gives most."""
        best: dict[str, Coverage] = {}
        for row in () if offer.judged else self._all(offer):
            known = best.get(row.unit)
            if row.value and (known is None or row.value > known.value):
                best[row.unit] = row
        return list(best.values())

    def _all(self, offer: Offer) -> Iterator[Coverage]:
        yield from self._inclusion(offer)
        if offer.piece_of is not None:
            yield from self._piece(offer, offer.piece_of, offer.text)
        for turn in offer.points:
            for one in self._single(self._by_turn[turn]):
                guess = self._lexical(one, offer.text)
                value = guess.value if guess.value == FULL else PARTIAL
                yield cell(offer.id, one.unit.id, value, POINTER, guess.why)
        if offer.about is not None:
            for one in self._single(self._by_session[offer.about]):
                guess = self._lexical(one, offer.text)
                yield cell(offer.id, one.unit.id, guess.value, LEXICAL, guess.why)
        if offer.update is not None:
            yield from self._update(offer, offer.update)

    def _update(self, offer: Offer, pair: Update) -> Iterator[Coverage]:
        """The old sentence is quoted as outdated: that keeps a stale unit, and denies any other."""
        for row in self._piece(offer, pair.earlier, pair.old):
            if self._kinds[row.unit] == STALE:
                yield row
        if offer.kind != "tombstone":
            yield from self._piece(offer, pair.later, pair.new)
        for one in self._by_new_turn[pair.later]:
            if pair.earlier in one.replaces and self._kept(pair.earlier, pair.old):
                earlier = next(s.text for s in one.unit.sources if s.id == pair.earlier)
                guess = calls_outdated(pair.old, earlier, one.said)
                why = f"calls {pair.earlier} outdated, {guess.why}"
                yield cell(offer.id, one.unit.id, guess.value, UPDATE, why)

    def _inclusion(self, offer: Offer) -> Iterator[Coverage]:
        held = set(offer.whole)
        for turn in offer.whole:
            why = "the turn itself" if offer.whole == (turn,) else f"holds {turn}"
            for one in self._by_turn[turn]:
                if not one.needs_all and _states(offer, one, held):
                    yield cell(offer.id, one.unit.id, FULL, INCLUSION, why)
                elif not one.needs_all:
                    yield cell(offer.id, one.unit.id, PARTIAL, CITED, f"{turn}, without the quote")
                elif held.issuperset(one.turns):
                    yield cell(offer.id, one.unit.id, FULL, INCLUSION, "holds the whole session")
            for one in self._by_new_turn[turn]:
                if says_change(one.said):
                    why = "says that something changed"
                    yield cell(offer.id, one.unit.id, PARTIAL, UPDATE, why)

    def _lexical(self, one: Evidence, text: str) -> Guess:
        return lexical(one.quote or one.said, text, self._kinds[one.unit.id] == TEMPORAL)

    def _piece(self, offer: Offer, turn: str, piece: str) -> Iterator[Coverage]:
        for one in self._single(self._by_turn[turn]):
            guess = containment(one.quote or one.said, piece, one.quote)
            yield cell(offer.id, one.unit.id, guess.value, CONTAINMENT, guess.why)

    def _kept(self, turn: str, piece: str) -> bool:
        """Whether a piece keeps anything of what the turn's units say."""
        return any(containment(one.said, piece).value for one in self._single(self._by_turn[turn]))

    @staticmethod
    def _single(evidence: Iterable[Evidence]) -> Iterator[Evidence]:
        """Units that one turn states; no piece says what a whole session does."""
        return (one for one in evidence if not one.needs_all)


def _states(offer: Offer, one: Evidence, held: set[str]) -> bool:
    """Whether a candidate that holds a cited turn word for word holds the unit's statement."""
    return len(one.turns) == 1 or held.issuperset(one.turns) or contains(offer.text, one.quote)


def covered(
    offers: Sequence[Offer], evidence: Sequence[Evidence],
    labelled: Mapping[tuple[str, str], Coverage],
) -> list[Coverage]:  # fmt: skip
    """All rows above 0; a labelled cell goes before what a rule says of it."""
    rules = Rules(evidence)
    rows: list[Coverage] = []
    for offer in offers:
        rows += [row for row in rules.rows(offer) if (row.candidate, row.unit) not in labelled]
    rows += [row for row in labelled.values() if row.value]
    order = {offer.id: place for place, offer in enumerate(offers)}
    units = {one.unit.id: place for place, one in enumerate(evidence)}
    return sorted(rows, key=lambda row: (order[row.candidate], units[row.unit]))

"""What candidates cover, cell by cell, with the rule that says so."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from memaudit.core.package import STALE, TEMPORAL, Coverage
from memaudit.natural.evidence import Evidence
from memaudit.natural.heuristics import (
    CITED,
    CONTAINMENT,
    FULL,
    INCLUSION,
    LEXICAL,
    PARTIAL,
    POINTER,
    UPDATE,
    Guess,
    calls_outdated,
    containment,
    lexical,
    says_change,
)
from memaudit.natural.offer import Offer, Update
from memaudit.natural.sentences import contains

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

"""Named rules that decide coverage without a model, and the rows they give.

The texts of rationales and rules are part of packages and manifests.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from memaudit.building.candidates import Offer, UpdatePair
from memaudit.building.evidence import LocatedUnit
from memaudit.judges.lexical import LEXICAL, RuleValue, has_words, lexical, term_share
from memaudit.kernel.package.labels import FULL, LABELS, PARTIAL, coverage_row
from memaudit.kernel.package.package import STALE, TEMPORAL, Coverage
from memaudit.kernel.package.provenance import STATEMENT
from memaudit.kernel.words.text import Terms, contains, terms

INCLUSION = "heuristic:inclusion-v2"
POINTER = "dataset:pointer-v2"
CONTAINMENT = "heuristic:containment-v2"
UPDATE = "heuristic:update-v2"

RULE_TEXTS = {
    STATEMENT: "the candidate holds the unit's text word for word, the turn with its speaker",
    INCLUSION: (
        "the candidate holds a turn that is cited for the unit; full if the turn holds its quote, "
        "and the candidate names everybody and everything the unit names and 3/5 of its terms; "
        "else partial"
    ),
    POINTER: (
        "the dataset names the turn as the source; full if lexical-v2 says so and the text names "
        "who it is about, else partial"
    ),
    CONTAINMENT: (
        "a verbatim piece of the turn, with its speaker; full from 4/5 of its terms with all its "
        "numbers; partial from 1/4 of its terms"
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
}
"""The rule behind every provenance that a build gives."""

_CHANGE = re.compile(
    r"\b(?:now|no longer|any ?more|instead|switched|changed|updated?|moved|upgraded|replaced|"
    r"currently|these days|as of|from now on|used to)\b"
    r"|现在|現在|不再|改为|改成|改到|换成|換成|换了|搬到|升级|更新|以前|变成|もう|変わ"
    r"|변경|바꿨|이제|لم يعد|الآن",
    re.IGNORECASE,
)

# Too many in languages with capital nouns, none in scripts without case: `inclusion` was tuned on
# English.
_CAPITALISED = re.compile(r"\b[A-Z][\w']*")


def containment(statement: str, piece: str) -> RuleValue:
    """How much a verbatim piece keeps of what a turn said."""
    return term_share(statement, piece, Fraction(4, 5), Fraction(1, 4), 1)


def names(text: str) -> Terms:
    """The terms of words that begin with a capital: who and what a statement names."""
    return terms(" ".join(_CAPITALISED.findall(text)))


def inclusion(statement: str, text: str, has_quote: bool) -> RuleValue:
    """How much a text keeps of a statement if it contains a turn that is cited for it.

    Tuned on the shipped conversations: a reader who has nothing else must know who and what.
    """
    if not has_quote:
        return RuleValue(PARTIAL, "without the quote")
    wanted, kept = terms(statement), terms(statement) & terms(text)
    why = f"{len(kept)} of {len(wanted)} terms"
    missing = [word for word in _CAPITALISED.findall(statement) if not terms(word) <= kept]
    if missing:
        return RuleValue(PARTIAL, f"{why}, does not name {missing[0]}")
    return RuleValue(FULL if 5 * len(kept) >= 3 * len(wanted) else PARTIAL, why)


def calls_outdated(piece: str, earlier: str, later: str) -> RuleValue:
    """How far calling a piece of an earlier turn outdated covers what a later turn changed."""
    shared = terms(earlier) & terms(later)
    kept = terms(piece) & shared
    why = f"{len(kept)} of {len(shared)} terms that changed"
    return RuleValue(FULL if 2 * len(kept) >= len(shared) else PARTIAL, why)


def says_change(text: str) -> bool:
    """Whether a text says that something changed."""
    return _CHANGE.search(text) is not None


class CoverageRules:
    """The rules applied to one conversation's units."""

    def __init__(self, evidence: Sequence[LocatedUnit]) -> None:
        self._by_turn: dict[str, list[LocatedUnit]] = defaultdict(list)
        self._by_session: dict[str, list[LocatedUnit]] = defaultdict(list)
        self._by_new_turn: dict[str, list[LocatedUnit]] = defaultdict(list)
        self._kinds = {located.unit.id: located.unit.kind for located in evidence}
        for located in evidence:
            for turn in located.turns:
                self._by_turn[turn].append(located)
            if located.session is not None and located.turns:
                self._by_session[located.session].append(located)
            if located.by is not None:
                self._by_new_turn[located.by].append(located)

    def rows(self, offer: Offer) -> list[Coverage]:
        """What an offer covers: one row per unit, by the rule that gives most."""
        best: dict[str, Coverage] = {}
        for row in () if offer.judged else self._all(offer):
            so_far = best.get(row.unit)
            if row.value and (so_far is None or row.value > so_far.value):
                best[row.unit] = row
        return list(best.values())

    def _all(self, offer: Offer) -> Iterator[Coverage]:
        yield from self._inclusion(offer)
        for turn in offer.points:
            for located in self._single(self._by_turn[turn]):
                guess = self._by_terms(located, offer.text)
                full = guess.value == FULL and terms(located.who) <= terms(offer.text)
                value = FULL if full else PARTIAL
                yield coverage_row(offer.id, located.unit.id, value, POINTER, guess.why)
        if offer.about is not None:
            for located in self._single(self._by_session[offer.about]):
                guess = self._by_terms(located, offer.text)
                yield coverage_row(offer.id, located.unit.id, guess.value, LEXICAL, guess.why)
        if offer.update is not None:
            yield from self._update(offer, offer.update)

    def _update(self, offer: Offer, pair: UpdatePair) -> Iterator[Coverage]:
        """Quoting the old sentence as outdated covers a stale unit and no other."""
        for row in self._piece(offer, pair.earlier, pair.old):
            if self._kinds[row.unit] == STALE:
                yield row
        if offer.kind != "tombstone":
            yield from self._piece(offer, pair.later, pair.new)
        for located in self._by_new_turn[pair.later]:
            if pair.earlier in located.replaces and self._keeps_something(pair.earlier, pair.old):
                earlier = next(s.text for s in located.unit.sources if s.id == pair.earlier)
                guess = calls_outdated(pair.old, earlier, located.statement)
                why = f"calls {pair.earlier} outdated, {guess.why}"
                yield coverage_row(offer.id, located.unit.id, guess.value, UPDATE, why)

    def _inclusion(self, offer: Offer) -> Iterator[Coverage]:
        contained = set(offer.whole_turns)
        for turn in offer.whole_turns:
            for located in self._by_turn[turn]:
                unit = located.unit
                if located.needs_all:
                    if contained.issuperset(located.turns):
                        why = "holds the whole session"
                        yield coverage_row(offer.id, unit.id, FULL, STATEMENT, why)
                elif contains(offer.text, unit.text):
                    yield coverage_row(offer.id, unit.id, FULL, STATEMENT, "word for word")
                else:
                    has_quote = _has_quote(offer, located, contained)
                    guess = inclusion(unit.text, offer.text, has_quote)
                    yield coverage_row(offer.id, unit.id, guess.value, INCLUSION, guess.why)
            for located in self._by_new_turn[turn]:
                if says_change(located.statement):
                    why = "says that something changed"
                    yield coverage_row(offer.id, located.unit.id, PARTIAL, UPDATE, why)

    def _by_terms(self, located: LocatedUnit, text: str) -> RuleValue:
        temporal = self._kinds[located.unit.id] == TEMPORAL
        return lexical(located.quote or located.statement, text, temporal)

    def _piece(self, offer: Offer, turn: str, piece: str) -> Iterator[Coverage]:
        for located in self._single(self._by_turn[turn]):
            guess = containment(located.quote or located.statement, piece)
            yield coverage_row(offer.id, located.unit.id, guess.value, CONTAINMENT, guess.why)

    def _keeps_something(self, turn: str, piece: str) -> bool:
        units = self._single(self._by_turn[turn])
        return any(containment(located.statement, piece).value for located in units)

    @staticmethod
    def _single(evidence: Iterable[LocatedUnit]) -> Iterator[LocatedUnit]:
        """Units that one turn states. No piece states what takes a whole session."""
        return (located for located in evidence if not located.needs_all)


def _has_quote(offer: Offer, located: LocatedUnit, contained: set[str]) -> bool:
    """Whether a candidate that contains a cited turn contains what the unit was taken from."""
    return (
        len(located.turns) == 1
        or contained.issuperset(located.turns)
        or contains(offer.text, located.quote)
    )


def coverage_rows(
    offers: Sequence[Offer],
    evidence: Sequence[LocatedUnit],
    labelled: Mapping[tuple[str, str], Coverage],
) -> list[Coverage]:
    """All rows above 0. A label takes precedence over the rules."""
    rules = CoverageRules(evidence)
    located = {unit.unit.id: unit for unit in evidence}
    rows: list[Coverage] = []
    for offer in offers:
        ruled = (
            part for row in rules.rows(offer) for part in kept_parts(located[row.unit], offer, row)
        )
        rows += [row for row in ruled if (row.candidate, row.unit) not in labelled]
    rows += [row for row in labelled.values() if row.value]
    order = {offer.id: place for place, offer in enumerate(offers)}
    every = (unit.id for located in evidence for unit in located.units)
    units = {id: place for place, id in enumerate(every)}
    return sorted(rows, key=lambda row: (order[row.candidate], units[row.unit]))


def kept_parts(located: LocatedUnit, offer: Offer, row: Coverage) -> list[Coverage]:
    """What a rule gives for the parts of a statement; the row itself for a plain unit.

    A statement that is covered in full keeps all parts, else those whose words the text has, and
    none without the core.
    """
    if len(located.units) == 1:
        return [row]
    kept = [
        unit
        for unit, (_, words) in zip(located.units, located.parts, strict=True)
        if row.value == FULL or has_words(offer.text, words)
    ]
    # The core is the first part; the rest of a claim without its value says nothing.
    if not kept or not kept[0].core:
        return []
    return [
        row.model_copy(update={"unit": unit.id, "value": FULL, "label": LABELS[FULL]})
        for unit in kept
    ]

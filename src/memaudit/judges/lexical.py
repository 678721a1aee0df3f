"""Shared words: the rule for two texts, the judge that goes by it, and filters of pairs to label.

Pairs that a filter leaves out count as not covered without being asked about: the price of asking
less. Nobody can promise that it loses nothing: some texts state a unit in other words altogether.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import FULL, NONE, PARTIAL
from memaudit.kernel.package.package import TEMPORAL, EvidenceUnit
from memaudit.kernel.package.unit_parts import WholeUnit, whole_units
from memaudit.kernel.score.judge import Cell, Judgement, MemoryText, Pair, only
from memaudit.kernel.words.scripts import SCRIPTS
from memaudit.kernel.words.text import contains, numbers, terms, times

# The thresholds below are part of this name, which packages carry: others need a new version.
LEXICAL = "heuristic:lexical-v2"
SHORT_STATEMENT = 5


@dataclass(frozen=True, slots=True)
class RuleValue:
    """A coverage value and its rationale."""

    value: Fraction
    why: str


NO_COVERAGE = RuleValue(NONE, "")


def lexical(statement: str, text: str, timed: bool = False) -> RuleValue:
    """How much a text keeps of a statement, by shared terms.

    A temporal statement is kept only in part by a text without its words of time.
    """
    guess = term_share(statement, text, Fraction(1, 2), Fraction(3, 10), 2)
    if timed and guess.value == FULL and not times(terms(statement)) <= terms(text):
        return RuleValue(PARTIAL, f"{guess.why}, without when")
    return guess


def term_share(
    statement: str, text: str, full: Fraction, partial: Fraction, least: int
) -> RuleValue:
    wanted = terms(statement)
    kept = wanted & terms(text)
    if not wanted or len(kept) < min(least, len(wanted)):
        return NO_COVERAGE
    share = Fraction(len(kept), len(wanted))
    why = f"{len(kept)} of {len(wanted)} terms"
    if len(wanted) <= SHORT_STATEMENT:  # half of a short statement is too little
        full = max(full, Fraction(3, 4))
    # Most words with another number or date is another fact, not most of this one.
    if share >= full and numbers(wanted) <= kept:
        return RuleValue(FULL, why)
    return RuleValue(PARTIAL, why) if share >= partial else NO_COVERAGE


def has_words(text: str, words: str) -> bool:
    """Whether a text has the terms of a part; of one without terms, such as "not", the words."""
    return terms(words) <= terms(text) if terms(words) else contains(text, words)


LEAST_SHARED = 2
"""Units that share fewer terms with a memory are not looked at; lexical-v2 gives them nothing."""


class LexicalJudge:
    """The offline estimate: the share of a unit's words, numbers, dates and names in a memory.

    Blind to paraphrase, negation and who is meant. A part is kept where its statement is covered
    at all and the memory has all words of the part.
    """

    name = "lexical"
    is_estimate = judges_candidates = True
    reads = SCRIPTS

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        wholes = whole_units(units)
        units_with: dict[str, list[int]] = defaultdict(list)
        for place, whole in enumerate(wholes):
            for term in terms(whole.text):
                units_with[term].append(place)
        cells = {memory.id: _lexical_cells(memory.text, wholes, units_with) for memory in memories}
        return Judgement(only(cells, pairs))


def _lexical_cells(
    text: str, wholes: Sequence[WholeUnit], units_with: Mapping[str, Sequence[int]]
) -> dict[str, Cell]:
    # By an index of terms: of thousands of units a memory shares two words with a few.
    shared_terms = terms(text) & units_with.keys()
    shared = Counter(place for term in shared_terms for place in units_with[term])
    cells = {}
    for place, count in shared.items():
        whole = wholes[place]
        if count < min(LEAST_SHARED, len(terms(whole.text))):
            continue
        guess = lexical(whole.text, text, whole.core.kind == TEMPORAL)
        if guess.value and not whole.has_parts:
            cells[whole.id] = Cell(guess.value, LEXICAL, guess.why)
        elif guess.value:
            kept = {name for name, words in whole.parts if has_words(text, words)}
            if whole.core.part in kept:
                cells |= {
                    unit.id: Cell(Fraction(1), LEXICAL, guess.why) for unit in whole.of_parts(kept)
                }
    return cells


TextPair = tuple[str, str]
"""A text and a unit's text."""


class PairFilter(Protocol):
    """Chooses the pairs to ask about; any object with a name and this method is one."""

    @property
    def name(self) -> str: ...

    def likely(self, texts: Sequence[str], units: Sequence[str]) -> Mapping[TextPair, float]:
        """The pairs to ask about, and how much of the unit they share: from 0 to 1."""
        ...


@dataclass(frozen=True, slots=True)
class SharedTerms:
    """Keeps pairs that share a number and a share of the unit's terms; rare terms are likelier."""

    name: str
    least: int
    share: Fraction

    @property
    def reads(self) -> frozenset[str] | None:
        """The scripts it knows terms of; a filter that keeps every pair needs none."""
        return SCRIPTS if self.least else None

    def likely(self, texts: Sequence[str], units: Sequence[str]) -> dict[TextPair, float]:
        distinct = list(dict.fromkeys(texts))
        having = Counter(term for text in distinct for term in terms(text))
        rarity = {
            term: math.log(1 + len(distinct) / (1 + number)) for term, number in having.items()
        }
        kept: dict[TextPair, float] = {}
        for unit in dict.fromkeys(units):
            wanted = terms(unit)
            total = math.fsum(rarity.get(term, math.log(1 + len(distinct))) for term in wanted)
            for text in distinct:
                shared = wanted & terms(text)
                if len(shared) >= min(self.least, len(wanted)) and (
                    len(shared) >= self.share * len(wanted)
                ):
                    weight = math.fsum(rarity[term] for term in shared)
                    kept[text, unit] = weight / total if total else 0.0
        return kept


FILTERS = {
    known.name: known
    for known in (
        SharedTerms("two-terms", 2, Fraction(3, 10)),
        SharedTerms("one-term", 1, Fraction(0)),
        SharedTerms("all", 0, Fraction(0)),
    )
}
"""From cheap to complete: two shared terms and 30% of the unit's; one shared term; every pair."""


def named_filter(name: str) -> PairFilter:
    if name not in FILTERS:
        raise MemAuditError(f"unknown filter {name!r}; known filters: {', '.join(FILTERS)}")
    return FILTERS[name]

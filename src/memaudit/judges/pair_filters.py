"""Which pairs of a text and a unit are worth labelling, and how likely they are covered.

Pairs that a filter leaves out count as not covered without being asked about: the price of asking
less. Nobody can promise that it loses nothing: some texts state a unit in other words altogether.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.words.scripts import SCRIPTS
from memaudit.kernel.words.text import terms

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
                    found = math.fsum(rarity[term] for term in shared)
                    kept[text, unit] = found / total if total else 0.0
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

DEFAULT_FILTER = "two-terms"


def named_filter(name: str) -> PairFilter:
    if name not in FILTERS:
        raise MemAuditError(f"unknown filter {name!r}; known filters: {', '.join(FILTERS)}")
    return FILTERS[name]

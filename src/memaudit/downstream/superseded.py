"""Which units that no longer hold a question could be answered from by mistake.

A package does not say which stale unit its current one replaces. The rule `stale-v1`, for questions
that require a unit of what holds now, of an end, or of not being known, and do not ask for the past
(a stale unit without a current one): a stale unit that the question does not require belongs to it
if a supersession or deletion that it does require stands on the same source, or if two terms of the
stale unit, and a quarter of them, are in the question or in what it requires. Numbers and words of
time do not count: many statements share a date. Stale units that are required are left to
`current-v1`.

On 40 packages of the event graph, which knows, the rule found all 933 such pairs, and 149 others.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from memaudit.core.package import ABSTENTION, CURRENT, INVALIDATION_KINDS, STALE, EvidenceUnit
from memaudit.core.text import Terms, numbers, terms, times

RULE = "stale-v1"
LEAST_SHARED = 2
LEAST_SHARE = Fraction(1, 4)
_SAY_WHAT_HOLDS = INVALIDATION_KINDS | {CURRENT, ABSTENTION}


def superseded(
    question: str, required: Sequence[EvidenceUnit], units: Iterable[EvidenceUnit]
) -> dict[str, str]:
    """Ids and texts of the stale units that belong to a question which does not require them."""
    kinds = {unit.kind for unit in required}
    asks_for_the_past = STALE in kinds and CURRENT not in kinds
    if asks_for_the_past or not kinds & _SAY_WHAT_HOLDS:
        return {}
    wanted = {unit.id for unit in required}
    about = _topic(question).union(*(_topic(unit.text) for unit in required))
    ended = {
        source.id for unit in required if unit.kind in INVALIDATION_KINDS for source in unit.sources
    }

    def belongs(unit: EvidenceUnit) -> bool:
        return bool(ended & {source.id for source in unit.sources}) or _alike(unit.text, about)

    stale = (unit for unit in units if unit.kind == STALE and unit.id not in wanted)
    return {unit.id: unit.text for unit in stale if belongs(unit)}


def _alike(text: str, about: Terms) -> bool:
    own = _topic(text)
    shared = len(own & about)
    return shared >= LEAST_SHARED and shared >= LEAST_SHARE * len(own)


def _topic(text: str) -> Terms:
    found = terms(text)
    return found - numbers(found) - times(found)

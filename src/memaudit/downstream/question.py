"""A package's queries as questions: required units, outdated ones, and superseded traps."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from memaudit.core.package import (
    ABSTENTION,
    CURRENT,
    INVALIDATION_KINDS,
    STALE,
    EvidenceUnit,
    Package,
    Query,
)
from memaudit.core.text import Terms, numbers, terms, times
from memaudit.downstream.answers import AnswerVerdict, score_answer

RULE = "current-v1"


def outdated(question: str, gold: str | None, required: Sequence[EvidenceUnit]) -> dict[str, str]:
    """Ids and texts of the required stale units that an answer does not need."""
    current = " ".join(unit.text for unit in required if unit.kind == CURRENT)
    if (
        gold is None
        or not current
        or score_answer(current, gold, question) is not AnswerVerdict.RIGHT
    ):
        return {}
    return {unit.id: unit.text for unit in required if unit.kind == STALE}


SUPERSEDED_RULE = "stale-v1"
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


@dataclass(frozen=True, slots=True)
class PackageQuestion:
    """Retrievers and readers that do not peek use `text` and nothing else."""

    id: str
    text: str
    kind: str
    gold: str | None
    abstention: bool
    """Whether the right answer is to say that it is not known."""
    needs: Mapping[str, Fraction]
    """Required units, each with the coverage that is all of it."""
    stale: Mapping[str, str]
    """Units that held once and that an answer could wrongly be taken from, with their texts."""
    says: Mapping[str, str] = field(default_factory=dict)
    """The texts of the required units."""
    holds: tuple[str, ...] = ()
    """Of these, what is so: not the old value, nor that it is over."""

    @property
    def supports(self) -> frozenset[str]:
        """The required units that an answer needs: not the old value where the new one is asked."""
        return frozenset(self.needs.keys() - self.stale.keys())


def questions(package: Package) -> tuple[PackageQuestion, ...]:
    """The queries of a package, in its order."""
    units = {unit.id: unit for unit in package.units}
    return tuple(_question(query, units) for query in package.queries)


def _question(query: Query, units: Mapping[str, EvidenceUnit]) -> PackageQuestion:
    required = [units[id] for id in dict.fromkeys(query.required)]
    gold = query.answer if query.answer and query.answer.strip() else None
    stale = {
        **outdated(query.text, gold, required),
        **superseded(query.text, required, units.values()),
    }
    return PackageQuestion(
        id=query.id,
        text=query.text,
        kind=query.kind or "",
        gold=gold,
        abstention=(
            query.kind == ABSTENTION
            or query.attributes.get("abstention") is True
            or any(unit.kind == ABSTENTION for unit in required)
        ),
        needs={unit.id: full_coverage(unit) for unit in required},
        stale=stale,
        says={unit.id: unit.text for unit in required},
        holds=tuple(
            unit.text
            for unit in required
            if unit.id not in stale and unit.kind not in INVALIDATION_KINDS
        ),
    )


def full_coverage(unit: EvidenceUnit) -> Fraction:
    """The coverage beyond which h gains nothing; 1, one full statement, where h has no end."""
    ends = unit.response.saturates_at
    return Fraction(1) if ends is None else ends

"""A package's queries as questions: what is asked, and what only an oracle may look at."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from memaudit.core.package import ABSTENTION, INVALIDATION_KINDS, EvidenceUnit, Package, Query
from memaudit.downstream.current import outdated
from memaudit.downstream.superseded import superseded


@dataclass(frozen=True, slots=True)
class Question:
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


def questions(package: Package) -> tuple[Question, ...]:
    """The queries of a package, in its order."""
    units = {unit.id: unit for unit in package.units}
    return tuple(_question(query, units) for query in package.queries)


def _question(query: Query, units: Mapping[str, EvidenceUnit]) -> Question:
    required = [units[id] for id in dict.fromkeys(query.required)]
    gold = query.answer if query.answer and query.answer.strip() else None
    stale = {
        **outdated(query.text, gold, required),
        **superseded(query.text, required, units.values()),
    }
    return Question(
        id=query.id,
        text=query.text,
        kind=query.kind or "",
        gold=gold,
        abstention=(
            query.kind == ABSTENTION
            or query.attributes.get("abstention") is True
            or any(unit.kind == ABSTENTION for unit in required)
        ),
        needs={unit.id: whole(unit) for unit in required},
        stale=stale,
        says={unit.id: unit.text for unit in required},
        holds=tuple(
            unit.text
            for unit in required
            if unit.id not in stale and unit.kind not in INVALIDATION_KINDS
        ),
    )


def whole(unit: EvidenceUnit) -> Fraction:
    """The coverage beyond which h gains nothing; 1, one full statement, where h has no end."""
    ends = unit.response.saturates_at
    return Fraction(1) if ends is None else ends

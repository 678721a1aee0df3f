"""The queries of a package as questions, and two rules about old values.

`current-v1`: which required units do not support the answer. Labels of updates cite the turn of the
old value and that of the new one, and do not say which of them is asked for. Where a question
requires a current unit, and the texts of its current units hold the gold answer (by `answer-v4`),
the stale units that it requires are not needed to support an answer. Where they do not hold it (the
old value is asked for, or both, or a yes or no), everything that is required stays needed. Evidence
recall still counts all that is required; only the stage goes by what supports. Of the 21 update
questions among 99 records of LongMemEval, the rule takes 15 to ask for the current value; of the
other 6, three ask for the old value and three for a yes.

`stale-v1`: which units that no longer hold a question could be answered from by mistake. A package
does not say which stale unit its current one replaces. The rule is for questions that require a
unit of what holds now, of an end, or of not being known, and do not ask for the past (a stale unit
without a current one). A stale unit that the question does not require belongs to it if a required
supersession or deletion has the same source, or if two terms of the stale unit, and a quarter of
them, are in the question or in what it requires. Numbers and words of time do not count, because
many statements share a date. On 40 packages of the event graph, which knows, the rule found all 933
such pairs, and 149 others.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from memaudit.kernel.package.package import (
    ABSTENTION,
    CURRENT,
    INVALIDATION_KINDS,
    STALE,
    EvidenceUnit,
    Package,
    Query,
)
from memaudit.kernel.score.truth import REPLACED
from memaudit.kernel.words.text import Terms, numbers, terms, times
from memaudit.lab.downstream.answers import AnswerVerdict, score_answer

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
    """A query. Retrievers and readers that do not peek use `text` and nothing else."""

    id: str
    text: str
    kind: str
    gold: str | None
    abstention: bool
    """Whether the right answer is to say that it is not known."""
    needs: Mapping[str, Fraction]
    """Required units, each with the coverage that counts as full."""
    stale: Mapping[str, str]
    """Units that no longer hold and could wrongly be taken for an answer, with their texts."""
    says: Mapping[str, str] = field(default_factory=dict)
    """The texts of the required units."""
    holds: tuple[str, ...] = ()
    """The required texts that still hold: not the old value, nor that it ended."""

    @property
    def supports(self) -> frozenset[str]:
        """The required units that an answer needs: not the old value where the new one is asked."""
        return frozenset(self.needs.keys() - self.stale.keys())


def questions(package: Package) -> tuple[PackageQuestion, ...]:
    """The queries of a package, in its order."""
    units = {unit.id: unit for unit in package.units}
    return tuple(_question(query, units) for query in package.queries)


def _question(query: Query, units: Mapping[str, EvidenceUnit]) -> PackageQuestion:
    # A benchmark's labels cite what an update replaced, too, and recall is of what they cite.
    replaced = query.attributes.get(REPLACED)
    cited = [*(map(str, replaced) if isinstance(replaced, list) else ()), *query.required]
    required = [units[id] for id in dict.fromkeys(cited) if id in units]
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
    """The coverage beyond which h gains nothing, or 1 where h never saturates."""
    end = unit.response.saturates_at
    return Fraction(1) if end is None else end


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory as retrievers and readers get it. What it covers is for those that peek."""

    id: str
    text: str
    covers: Mapping[str, Fraction]
    """Unit id to how much of the unit the memory preserves."""


@dataclass(frozen=True, slots=True)
class ServedStore:
    """Everything written, in order of writing. Retrieval can find `kept_ids` only."""

    name: str
    written: tuple[StoredMemory, ...]
    kept_ids: frozenset[str]
    kept_by: str
    """Why it fits the budget, in words."""
    undecided: frozenset[str] = frozenset()
    """Units for which a judge of coverage gave no answer on some memory."""

    @property
    def kept(self) -> tuple[StoredMemory, ...]:
        return tuple(memory for memory in self.written if memory.id in self.kept_ids)

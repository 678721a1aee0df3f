"""HaluMem's own measures of a store, over the memory points that a package has as units.

The sums are those of its evaluation. Its verdicts come from one model that reads a session's
memories; here a point's 2, 1 or 0 is what the store's cells cover of it, and a memory's is whether
the conversation or a point supports it, an estimate by words. The whole store stands for what each
session extracted and what a search finds.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Literal

from memaudit.core.exact import exact
from memaudit.core.package import CURRENT, EvidenceUnit, Experience, Package
from memaudit.hygiene.against_units import NOTHING, covered
from memaudit.hygiene.support import ConversationIndex
from memaudit.natural.evidence import INTERFERENCE, REPLACES
from memaudit.scoring.written_store import WrittenMemory, WrittenStore

FORMAT = "halumem"

Outcome = Literal["correct", "hallucinated", "omitted", "other"]
ACCURACY = {"supported": Fraction(1), "partly": Fraction(1, 2), "not": Fraction(0)}


@dataclass(frozen=True, slots=True)
class HaluMemMeasures:
    """Shares; None where there is nothing to take a share of.

    `recall`: points that are covered in full, of those that are neither interference nor updates.
    `weighted_recall`: the same with half a point for a part, weighted by importance.
    `resistance`: interference points of which the store has nothing.
    `target_accuracy`: how far memories that are about some point are supported; `accuracy`: all.
    `f1`: of target accuracy and recall. The rest are outcomes of updates.
    """

    store: str
    points: int
    interference_points: int
    updates: int
    memories: int
    recall: Fraction | None
    weighted_recall: Fraction | None
    resistance: Fraction | None
    target_accuracy: Fraction | None
    accuracy: Fraction | None
    f1: Fraction | None
    correct: Fraction | None
    hallucinated: Fraction | None
    omitted: Fraction | None
    other: Fraction | None

    def data(self) -> dict[str, object]:
        """Plain numbers for JSON."""
        return {
            name: float(value) if isinstance(value, Fraction) else value
            for name, value in asdict(self).items()
        }


def is_halumem(package: Package) -> bool:
    return package.attributes.get("format") == FORMAT


def halumem_measures(package: Package, store: WrittenStore) -> HaluMemMeasures:
    """The measures of one store; `package` is a build of HaluMem's points."""
    amounts = covered(store, package.equal_texts_once)
    score = {unit.id: _score(amounts.get(unit.id, NOTHING)) for unit in package.units}
    traps = [unit for unit in package.units if unit.kind == INTERFERENCE]
    # Where the system has no memory to show, HaluMem asks about an update as about any point.
    apart = {INTERFERENCE, CURRENT} if store.memories else {INTERFERENCE}
    updates = [unit for unit in package.units if unit.kind in apart - {INTERFERENCE}]
    points = [unit for unit in package.units if unit.kind not in apart]
    index = ConversationIndex([*package.experiences, *_as_turns(points + updates)])
    accuracy = {
        memory.id: ACCURACY[index.support(memory.text).verdict] for memory in store.memories
    }
    golden = {unit.id for unit in points + updates}
    about = [
        accuracy[memory.id]
        for memory in store.memories
        if any(cell.value and unit in golden for unit, cell in memory.coverage.items())
    ]
    recall = _mean([Fraction(score[unit.id] == 1) for unit in points])
    target = _mean(about)
    weights = {unit.id: exact(str(unit.weight or 0)) for unit in points}
    total = sum(weights.values())
    outcomes = [_outcome(unit, score[unit.id], store.memories, accuracy) for unit in updates]

    def share(outcome: Outcome) -> Fraction | None:
        return _mean([Fraction(one == outcome) for one in outcomes])

    return HaluMemMeasures(
        store=store.name,
        points=len(points),
        interference_points=len(traps),
        updates=len(updates),
        memories=len(store.memories),
        recall=recall,
        weighted_recall=(
            sum((score[id] * weight for id, weight in weights.items()), NOTHING) / total
            if total
            else None
        ),
        resistance=_mean([Fraction(score[unit.id] == 0) for unit in traps]),
        target_accuracy=target,
        accuracy=_mean(list(accuracy.values())),
        f1=_f1(target, recall),
        correct=share("correct"),
        hallucinated=share("hallucinated"),
        omitted=share("omitted"),
        other=share("other"),
    )


def _score(amount: Fraction) -> Fraction:
    """HaluMem's 2, 1 or 0 halved: covered in full, in part, or not."""
    return Fraction(1) if amount >= 1 else Fraction(1, 2) if amount else Fraction(0)


def _outcome(
    update: EvidenceUnit,
    score: Fraction,
    memories: Sequence[WrittenMemory],
    accuracy: dict[str, Fraction],
) -> Outcome:
    """What became of an update: it is there and the old statement is not kept beside it, or a
    memory about it says what nobody said, or it is missing in part or altogether."""
    about = [memory for memory in memories if _covers(memory, update.id)]
    replaced = update.attributes.get(REPLACES)
    old = [str(id) for id in replaced] if isinstance(replaced, list) else []
    if score == 1:
        kept = (
            any(_covers(memory, id) for id in old)
            for memory in memories
            if not _covers(memory, update.id)
        )
        return "other" if any(kept) else "correct"
    return "hallucinated" if any(accuracy[memory.id] < 1 for memory in about) else "omitted"


def _covers(memory: WrittenMemory, unit: str) -> bool:
    cell = memory.coverage.get(unit)
    return cell is not None and cell.value > 0


def _as_turns(points: Sequence[EvidenceUnit]) -> list[Experience]:
    """A memory may be supported by a point as well as by a turn."""
    return [
        Experience(id=f"point/{point.id}", index=place, text=point.text)
        for place, point in enumerate(points)
    ]


def _mean(values: Sequence[Fraction]) -> Fraction | None:
    return sum(values, NOTHING) / len(values) if values else None


def _f1(precision: Fraction | None, recall: Fraction | None) -> Fraction | None:
    if precision is None or recall is None:
        return None
    both = precision + recall
    return 2 * precision * recall / both if both else Fraction(0)

"""From an exported store to a written one: costs measured, coverage judged, order of writing."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.adapters.shape import ExportedStore, Memory
from memaudit.audits.judges.protocol import Judge, Judged
from memaudit.audits.union import WrittenMemory, WrittenStore
from memaudit.core.cost import DECLARED, cost_rule
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.core.package import Package


@dataclass(frozen=True, slots=True)
class Salience:
    """Scores by memory id: the system's own, given at write time, or with the question in sight."""

    at_write_time: dict[str, Fraction]
    query_aware: dict[str, Fraction]


NO_SALIENCE = Salience({}, {})


def written(
    package: Package, store: ExportedStore, judge: Judge, salience: Salience = NO_SALIENCE
) -> WrittenStore:
    """The active memories of a store under the package's cost rule."""
    if package.attributes.get("scoring_pool") is False:
        raise MemAuditError(
            f"{package.name!r} is out of the scoring pool (its construction ended as "
            f"{package.attributes.get('status')!r}); score another package"
        )
    if package.cost_rule == DECLARED:
        raise MemAuditError(
            f"{package.name!r} declares its costs, so memories cannot be measured alike; give a "
            "--cost-rule, for example words"
        )
    measure = cost_rule(package.cost_rule)
    memories = in_order(of_package(store, package))
    judged = [Judged(memory.id, memory.text, memory.sources) for memory in memories]
    cells = judge.cells(judged, package.units)
    return WrittenStore(
        store.name,
        tuple(
            WrittenMemory(
                id=memory.id,
                text=memory.text,
                cost=Fraction(measure(memory.text)),
                coverage=cells.get(memory.id, {}),
                salience=salience.at_write_time.get(memory.id, _own(memory)),
                query_salience=salience.query_aware.get(memory.id),
            )
            for memory in memories
        ),
    )


def of_package(store: ExportedStore, package: Package) -> list[Memory]:
    """The active memories written for this package; a store without examples is all of it."""
    examples = {memory.example for memory in store.memories} - {None}
    listed = store.origin.configuration.get("examples")
    known = examples | (set(map(str, listed)) if isinstance(listed, list) else set())
    if not known:
        return list(store.active)
    if package.name not in known:
        raise MemAuditError(
            f"{store.name!r} was not written for the package {package.name!r} but for "
            f"{', '.join(sorted(map(repr, known))[:3])}"
        )
    return [memory for memory in store.active if memory.example == package.name]


def in_order(memories: Sequence[Memory]) -> list[Memory]:
    """By time of creation where every memory has one, else as the store lists them."""
    if any(memory.created_at is None for memory in memories):
        return list(memories)
    return sorted(memories, key=lambda memory: memory.created_at or "")


def _own(memory: Memory) -> Fraction | None:
    return None if memory.salience is None else exact(memory.salience)

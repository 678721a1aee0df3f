"""From an exported store to a written one: costs measured, coverage judged, order of writing."""

from collections.abc import Sequence
from fractions import Fraction

from memaudit.adapters.store import ExportedStore, Memory
from memaudit.audits.account import Account, incomplete, unread_rows
from memaudit.audits.judges.protocol import Judge, Judged, NotJudged
from memaudit.audits.salience import OWN_SALIENCE, Salience, SalienceCalls
from memaudit.audits.union import WrittenMemory, WrittenStore
from memaudit.core.cost import DECLARED, cost_rule
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.core.package import Package

UNPLACED = "memories that name no package, in a store that names one for others"
FAILED_SALIENCE = "salience calls that failed or could not be read"


def written(
    package: Package, store: ExportedStore, judge: Judge, salience: Salience = OWN_SALIENCE
) -> WrittenStore:
    """The active memories of a store under the package's cost rule."""
    if out_of_pool(package):
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
    memories = in_order(of_package(store, package.name))
    seen = [Judged(one.id, one.text, one.sources, package.name) for one in memories]
    try:
        judged = judge.judge(seen, package.units)
    except NotJudged as error:
        raise NotJudged(f"store {store.name!r}: {error}") from None
    ids = [memory.id for memory in memories]
    own = {memory.id: exact(memory.salience) for memory in memories if memory.salience is not None}
    at_write_time = _scores(salience.at_write_time, package.name, ids)
    query_aware = _scores(salience.query_aware, package.name, ids)
    given = {"salience": at_write_time, "query_salience": query_aware}
    unrated = {
        sort: len(ids) - len(scores)
        for sort, scores in given.items()
        if scores is not None and len(scores) < len(ids)
    }
    rated = own if at_write_time is None else at_write_time
    return WrittenStore(
        store.name,
        tuple(
            WrittenMemory(
                id=memory.id,
                text=memory.text,
                cost=Fraction(measure(memory.text)),
                coverage=judged.cells.get(memory.id, {}),
                salience=rated.get(memory.id),
                query_salience=(query_aware or {}).get(memory.id),
            )
            for memory in memories
        ),
        Account(
            unread_rows=unread_rows(store),
            incomplete=incomplete(store),
            undecided=judged.undecided,
            left_out={**judged.left_out, **_left_out(store, salience)},
            unrated=unrated,
            covers_nothing=bool(memories)
            and not any(cell.value for cells in judged.cells.values() for cell in cells.values()),
        ),
    )


def out_of_pool(package: Package) -> bool:
    """Whether its construction ended in a way that keeps it out of every mean."""
    return package.attributes.get("scoring_pool") is False


def examples_of(store: ExportedStore) -> set[str]:
    """The packages a store was written for, also those it wrote nothing for; empty if it does not
    say: then all of it belongs to whatever package it is scored on."""
    named = {memory.example for memory in store.memories if memory.example is not None}
    listed = store.origin.configuration.get("examples")
    return named | (set(map(str, listed)) if isinstance(listed, list | dict) else set())


def of_package(store: ExportedStore, name: str) -> list[Memory]:
    """The active memories written for this package."""
    known = examples_of(store)
    if not known:
        return list(store.active)
    if name not in known:
        raise MemAuditError(
            f"{store.name!r} was not written for the package {name!r} but for "
            f"{', '.join(sorted(map(repr, known))[:3])}"
        )
    return [memory for memory in store.active if memory.example == name]


def in_order(memories: Sequence[Memory]) -> list[Memory]:
    """By time of creation where every memory has one, else as the store lists them."""
    if any(memory.created_at is None for memory in memories):
        return list(memories)
    return sorted(memories, key=lambda memory: memory.created_at or "")


def _scores(
    calls: SalienceCalls | None, package: str, ids: Sequence[str]
) -> dict[str, Fraction] | None:
    return None if calls is None else calls.of(package, ids)


def _left_out(store: ExportedStore, salience: Salience) -> dict[str, int]:
    found: dict[str, int] = {}
    unplaced = sum(memory.example is None for memory in store.active)
    if unplaced and examples_of(store):
        found[UNPLACED] = unplaced
    files = (salience.at_write_time, salience.query_aware)
    if failed := sum(one.failed for one in files if one is not None):
        found[FAILED_SALIENCE] = failed
    return found

"""From an exported store to a judged one: costs measured, coverage judged, salience read."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from memaudit.adapters.published_layout import memory_id, read_salience_calls
from memaudit.adapters.store import ExportedStore, Memory
from memaudit.core.cost import DECLARED, cost_rule
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.core.package import Package
from memaudit.core.text import counted
from memaudit.scoring.caveats import Account, incomplete, unread_rows
from memaudit.scoring.judges.protocol import Judge, Judged, NotJudged
from memaudit.scoring.union import WrittenMemory, WrittenStore


class SalienceCalls:
    """Scores by example and memory, as a file of calls gives them."""

    def __init__(self, path: Path) -> None:
        self.file = path.name
        calls = read_salience_calls(path)
        self.failed = len(calls.skipped)
        self._scores: dict[str, dict[str, Fraction]] = {name: {} for name in calls.examples}
        for row in calls.rows:
            self._scores[row.example][row.memory] = row.value

    def of(self, example: str, memories: Sequence[str]) -> dict[str, Fraction]:
        """The scores of an example's memories, those that have one."""
        if not memories:
            return {}
        if example not in self._scores:
            failed = f"; {counted(self.failed, 'call')} failed" if self.failed else ""
            raise NotJudged(f"{self.file}: has no salience of {example!r}{failed}")
        scores = self._scores[example]
        return {id: scores[known] for id in memories if (known := memory_id(example, id)) in scores}


@dataclass(frozen=True, slots=True)
class Salience:
    """Files of scores given at write time and with the question in sight. Without the first, a
    system's own scores count; with it, a memory that it does not name has none."""

    at_write_time: SalienceCalls | None = None
    query_aware: SalienceCalls | None = None


OWN_SALIENCE = Salience()


def read_salience(at_write_time: Path | None, query_aware: Path | None = None) -> Salience:
    """The files, as far as they are given."""
    return Salience(
        None if at_write_time is None else SalienceCalls(at_write_time),
        None if query_aware is None else SalienceCalls(query_aware),
    )


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

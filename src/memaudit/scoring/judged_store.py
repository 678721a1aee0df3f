"""From an exported store to a judged one: costs measured, coverage judged, salience read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from memaudit.adapters.published_layout import memory_id, read_salience_calls
from memaudit.adapters.store import ExportedStore, Memory, missing_memories
from memaudit.core.cost import DECLARED, cost_rule
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.core.package import Package
from memaudit.core.text import content_key, counted
from memaudit.scoring.caveats import NO_CAVEATS, Caveats, unread_rows
from memaudit.scoring.judges import Cell, Judge, MemoryText, NotJudged, Pair


@dataclass(frozen=True, slots=True)
class WrittenMemory:
    """A memory of an exported store: its measured cost and its coverage of the package's units."""

    id: str
    text: str
    cost: Fraction
    coverage: Mapping[str, Cell] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    salience: Fraction | None = None
    query_salience: Fraction | None = None


@dataclass(frozen=True, slots=True)
class WrittenStore:
    """What a system wrote, in the order it wrote it."""

    name: str
    memories: tuple[WrittenMemory, ...]
    caveats: Caveats = NO_CAVEATS

    def judged(self, undecided: Sequence[Pair], left_out: Mapping[str, int]) -> "WrittenStore":
        """The store with what its judge could not say."""
        cells = [cell for memory in self.memories for cell in memory.coverage.values()]
        covers = any(cell.value or cell.upper for cell in cells)
        caveats = replace(
            self.caveats,
            undecided=tuple(undecided),
            left_out={**left_out, **self.caveats.left_out},
            covers_nothing=bool(self.memories) and not covers,
        )
        return replace(self, caveats=caveats)

    @property
    def cost(self) -> Fraction:
        """The cost of keeping all of it."""
        return sum((memory.cost for memory in self.memories), Fraction(0))

    @property
    def duplicates(self) -> list[WrittenMemory]:
        """Memories with the text of an earlier one."""
        seen: set[str] = set()
        repeated = []
        for memory in self.memories:
            key = content_key(memory.text)
            if key in seen:
                repeated.append(memory)
            elif key:
                seen.add(key)
        return repeated

    def candidate_id(self, memory: WrittenMemory) -> str:
        """The id of a memory as a candidate, with its store's name: stores may use the same ids.

        A slash in the store's name is escaped, so that `a/b` and `c` are not `a` and `b/c`.
        """
        name = self.name.replace("%", "%25").replace("/", "%2F")
        return f"{name}/{memory.id}"

    @property
    def candidate_ids(self) -> tuple[str, ...]:
        """All memories as candidates of a union."""
        return tuple(self.candidate_id(memory) for memory in self.memories)


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
    """Files of scores given at write time and with the question in sight.

    Without the first, a system's own scores count. With it, a memory that it does not name has no
    score.
    """

    at_write_time: SalienceCalls | None = None
    query_aware: SalienceCalls | None = None


OWN_SALIENCE = Salience()


def read_salience(at_write_time: Path | None, query_aware: Path | None = None) -> Salience:
    """The files that are given."""
    return Salience(
        None if at_write_time is None else SalienceCalls(at_write_time),
        None if query_aware is None else SalienceCalls(query_aware),
    )


UNPLACED = "memories that name no package, in a store that names one for others"
FAILED_SALIENCE = "salience calls that failed or could not be read"


def judge_store(
    package: Package, store: ExportedStore, judge: Judge, salience: Salience = OWN_SALIENCE
) -> WrittenStore:
    """The active memories of a store, judged and measured by the package's cost rule."""
    measured = measured_store(package, store, salience)
    texts = [
        MemoryText(memory.id, memory.text, memory.sources, package.name)
        for memory in measured.memories
    ]
    try:
        judged = judge.judge(texts, package.units)
    except NotJudged as error:
        raise NotJudged(f"store {store.name!r}: {error}") from None
    memories = tuple(
        replace(memory, coverage=judged.cells.get(memory.id, {})) for memory in measured.memories
    )
    return replace(measured, memories=memories).judged(judged.undecided, judged.left_out)


def measured_store(
    package: Package, store: ExportedStore, salience: Salience = OWN_SALIENCE
) -> WrittenStore:
    """The active memories of a store with costs and salience, before anybody judged them."""
    if is_out_of_pool(package):
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
    memories = writing_order(active_memories(store, package.name))
    ids = [memory.id for memory in memories]
    own = {memory.id: exact(memory.salience) for memory in memories if memory.salience is not None}
    files = {"salience": salience.at_write_time, "query_salience": salience.query_aware}
    scores = {
        policy: calls.of(package.name, ids) for policy, calls in files.items() if calls is not None
    }
    return WrittenStore(
        store.name,
        tuple(
            WrittenMemory(
                id=memory.id,
                text=memory.text,
                cost=Fraction(measure(memory.text)),
                sources=memory.sources,
                salience=scores.get("salience", own).get(memory.id),
                query_salience=scores.get("query_salience", {}).get(memory.id),
            )
            for memory in memories
        ),
        Caveats(
            unread_rows=unread_rows(store),
            incomplete=missing_memories(store.warnings),
            left_out=_left_out(store, salience),
            without_salience={
                policy: len(ids) - len(known)
                for policy, known in scores.items()
                if len(known) < len(ids)
            },
        ),
    )


def is_out_of_pool(package: Package) -> bool:
    """Whether its construction ended in a way that keeps it out of every mean."""
    return package.attributes.get("scoring_pool") is False


def examples_of(store: ExportedStore) -> set[str]:
    """The packages a store was written for, including those it wrote nothing for.

    Empty where the store does not say. Then all of it belongs to the package it is scored on.
    """
    named = {memory.example for memory in store.memories if memory.example is not None}
    listed = store.origin.configuration.get("examples")
    return named | (set(map(str, listed)) if isinstance(listed, list | dict) else set())


def active_memories(store: ExportedStore, package: str) -> list[Memory]:
    """The active memories written for a package."""
    known = examples_of(store)
    if not known:
        return list(store.active)
    if package not in known:
        raise MemAuditError(
            f"{store.name!r} was not written for the package {package!r} but for "
            f"{', '.join(sorted(map(repr, known))[:3])}"
        )
    return [memory for memory in store.active if memory.example == package]


def writing_order(memories: Sequence[Memory]) -> list[Memory]:
    """By time of creation where every memory has one, else as the store lists them."""
    if any(memory.created_at is None for memory in memories):
        return list(memories)
    return sorted(memories, key=lambda memory: memory.created_at or "")


def _left_out(store: ExportedStore, salience: Salience) -> dict[str, int]:
    counts = {}
    unplaced = sum(memory.example is None for memory in store.active)
    if unplaced and examples_of(store):
        counts[UNPLACED] = unplaced
    files = (salience.at_write_time, salience.query_aware)
    if failed := sum(calls.failed for calls in files if calls is not None):
        counts[FAILED_SALIENCE] = failed
    return counts

"""What a system wrote, with costs: an exported store as a judge and a budget see it.

`price_store` takes the active memories of an export that were written from the package, puts the
times in front of their texts that the system's reader is shown, and measures them by the package's
cost rule. `judge_store` (judging.py) adds what a judge says they cover.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from fractions import Fraction
from typing import Protocol

from pydantic import JsonValue

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact, total
from memaudit.kernel.io.store_file import WRITTEN_AFTER, ExportedStore, Memory, missing_memories
from memaudit.kernel.io.timestamps import export_time
from memaudit.kernel.package.cost import DECLARED, RecordRule, cost_rule
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.caveats import NO_CAVEATS, Caveats, unread_rows
from memaudit.kernel.score.judge import Cell, NotJudged
from memaudit.kernel.score.store_match import NOT_FED, examples_of, written_from
from memaudit.kernel.words.text import content_key

MEMORY, DOCUMENT = "memory", "document"
"""The kinds of an exported memory, and of a document that memories are entries of."""

OTHER_CLOCK = "times that are not the conversation's"
UNPLACED = "memories that name no package, in a store that names one for others"
FAILED_SALIENCE = "salience calls that failed or could not be read"

PARTS_OF_ONE = ("letta", "markdown")
"""Formats whose namespaces are blocks or folders, which one user may have many of."""

Texts = Mapping[str, str]
"""Memories by id, in the order of writing."""


class SalienceSource(Protocol):
    """Gives scores to the memories of one store."""

    @property
    def name(self) -> str: ...

    @property
    def failed(self) -> int:
        """Calls that failed or could not be read."""
        ...

    def of(self, package: Package, store: ExportedStore, texts: Texts) -> dict[str, Fraction]:
        """The scores of the memories that have one."""
        ...


@dataclass(frozen=True, slots=True)
class Salience:
    """By store: scores given at write time, and scores given with the questions in sight.

    A store without a source has the scores that its system wrote itself. With one, a memory that
    the source does not score has no score.
    """

    at_write_time: Mapping[str, SalienceSource] = field(default_factory=dict)
    query_aware: Mapping[str, SalienceSource] = field(default_factory=dict)

    def of(self, store: str) -> dict[str, SalienceSource]:
        """The sources of one store, by the policy that goes by them."""
        by_policy = {"salience": self.at_write_time, "query_salience": self.query_aware}
        return {policy: of[store] for policy, of in by_policy.items() if store in of}

    @property
    def names(self) -> list[list[str]]:
        """What tells one from another in settings: stores and their sources."""
        both = (self.at_write_time, self.query_aware)
        return [[store, source.name] for sources in both for store, source in sources.items()]


OWN_SALIENCE = Salience()


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
    document: str | None = None
    first_line: int = 0
    context: tuple[str, ...] = ()
    """The headings and parents that its text begins with."""
    has_order: bool = True
    """Whether it is known when it was written, before or after the others."""
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    """Fields that a cost rule may charge for."""


@dataclass(frozen=True, slots=True)
class WrittenDocument:
    """A document and its entries, `parts`. Kept whole, it has a cost of its own."""

    id: str
    text: str
    cost: Fraction
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PricedStore:
    """What a system wrote, in the order it wrote it; no judge has read it yet."""

    name: str
    memories: tuple[WrittenMemory, ...]
    caveats: Caveats = NO_CAVEATS
    documents: tuple[WrittenDocument, ...] = ()

    @property
    def cost(self) -> Fraction:
        """The cost of keeping all of it: of documents as they are, of other memories one by one."""
        inside = {id for document in self.documents for id in document.parts}
        others = (memory.cost for memory in self.memories if memory.id not in inside)
        return total(document.cost for document in self.documents) + total(others)

    def cost_of(self, ids: Collection[str]) -> Fraction:
        """The least that some memories cost: a document whole, if all its entries are kept."""
        kept, cost = set(ids), {memory.id: memory.cost for memory in self.memories}
        whole = Fraction(0)
        # `kept` holds the memories that no whole document has paid for yet.
        for document in self.documents:
            if kept.issuperset(document.parts):
                whole += min(document.cost, total(cost[id] for id in document.parts))
                kept.difference_update(document.parts)
        return whole + total(cost[id] for id in kept)

    @property
    def duplicates(self) -> list[WrittenMemory]:
        """Memories with the text of an earlier one."""
        seen: set[str] = set()
        repeated = []
        for memory in self.memories:
            key = content_key(memory.text)
            if key in seen:
                repeated.append(memory)
            # An empty text equals no other.
            elif key:
                seen.add(key)
        return repeated

    @property
    def in_file_order(self) -> list[WrittenMemory]:
        """Entries as their documents list them; other memories stay in the order of writing."""
        place = {document.id: at for at, document in enumerate(self.documents)}
        return sorted(
            self.memories,
            key=lambda memory: (
                (place[memory.document], memory.first_line)
                if memory.document in place
                else (len(place), 0)
            ),
        )

    def candidate_id(self, memory: WrittenMemory | str) -> str:
        """The id of a memory as a candidate, with its store's name: stores may use the same ids.

        A slash in the store's name is escaped, so that `a/b` and `c` are not `a` and `b/c`.
        """
        name = self.name.replace("%", "%25").replace("/", "%2F")
        return f"{name}/{memory if isinstance(memory, str) else memory.id}"

    def whole_id(self, document: WrittenDocument) -> str:
        """The id of a whole document as a candidate."""
        return self.candidate_id(f"{document.id} (whole)")

    def choice(self, kept: Collection[str]) -> tuple[str, ...]:
        """Kept memories as candidates, with a document whole where all its entries are kept and
        it is cheaper than they are together."""
        ids, cost = set(kept), {memory.id: memory.cost for memory in self.memories}
        chosen = dict.fromkeys(kept)
        for document in self.documents:
            entries = [self.candidate_id(id) for id in document.parts]
            if ids.issuperset(entries) and sum(cost[id] for id in document.parts) > document.cost:
                for id in entries:
                    chosen.pop(id, None)
                chosen[self.whole_id(document)] = None
        return tuple(chosen)

    def memories_of(self, chosen: Iterable[str]) -> tuple[str, ...]:
        """The memories in a choice of candidates, a whole document as its entries."""
        parts = {self.whole_id(document): document.parts for document in self.documents}
        return tuple(
            id
            for choice in chosen
            for id in (map(self.candidate_id, parts[choice]) if choice in parts else (choice,))
        )

    @property
    def candidate_ids(self) -> tuple[str, ...]:
        """All memories as candidates of a union."""
        return tuple(self.candidate_id(memory) for memory in self.memories)


@dataclass(frozen=True, slots=True)
class JudgedStore(PricedStore):
    """A priced store whose memories have the cells that a judge gave them."""

    def without_units(self, number: int) -> "JudgedStore":
        """The store with a caveat: so many units are about turns that nobody told it."""
        if not number:
            return self
        left_out = {**self.caveats.left_out, NOT_FED: number}
        return replace(self, caveats=replace(self.caveats, left_out=left_out))


def price_store(
    package: Package, store: ExportedStore, salience: Salience = OWN_SALIENCE
) -> PricedStore:
    """The active memories of a store with costs and salience, before anybody judged them.

    `package` gives the cost rule, and the days that shown times must lie in. A store that was
    written for other packages, and a package that cannot be scored, are errors.
    """
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
    memories = writing_order(active_memories(store, package))
    texts, other_clock = shown_texts(package, store, memories)
    ids = [memory.id for memory in memories]
    by_system = {
        memory.id: exact(memory.salience) for memory in memories if memory.salience is not None
    }
    sources = salience.of(store.name)
    try:
        scores = {policy: source.of(package, store, texts) for policy, source in sources.items()}
    except NotJudged as error:
        raise NotJudged(f"store {store.name!r}: {error}") from None
    return PricedStore(
        store.name,
        tuple(
            WrittenMemory(
                id=memory.id,
                text=texts[memory.id],
                cost=Fraction(measure(texts[memory.id], MEMORY, memory.metadata)),
                sources=memory.sources,
                salience=scores.get("salience", by_system).get(memory.id),
                query_salience=scores.get("query_salience", {}).get(memory.id),
                document=memory.document,
                first_line=memory.lines[0] if memory.lines else 0,
                context=memory.context,
                has_order=_has_order(memory),
                metadata=memory.metadata,
            )
            for memory in memories
        ),
        Caveats(
            unread_rows=unread_rows(store),
            incomplete=missing_memories(store.warnings),
            left_out=_left_out(store, sources.values(), other_clock),
            without_salience={
                policy: len(ids) - len(scored)
                for policy, scored in scores.items()
                if len(scored) < len(ids)
            },
            mixed_users=_mixed_users(store, memories),
        ),
        _documents(store, memories, measure),
    )


def _has_order(memory: Memory) -> bool:
    # Entries stand in the order of their file, which is edited anywhere; only a capture that looked
    # after every message knows when each was written.
    return memory.lines is None or WRITTEN_AFTER in memory.metadata


def _mixed_users(store: ExportedStore, memories: Sequence[Memory]) -> tuple[str, ...]:
    """The users whose memories recency orders as if they were one user's."""
    users = sorted({memory.namespace for memory in memories if memory.namespace})
    mixed = len(users) > 1 and store.origin.format not in PARTS_OF_ONE
    return tuple(users) if mixed and all(map(_has_order, memories)) else ()


def _documents(
    store: ExportedStore, memories: Sequence[Memory], measure: RecordRule
) -> tuple[WrittenDocument, ...]:
    """The documents that active memories are entries of."""
    parts: dict[str, list[str]] = {}
    for memory in memories:
        if memory.document is not None:
            parts.setdefault(memory.document, []).append(memory.id)
    return tuple(
        WrittenDocument(
            document.id, text, Fraction(measure(text, DOCUMENT)), tuple(parts[document.id])
        )
        for document in store.documents
        if document.id in parts
        for text in [document.shown_text]
    )


def is_out_of_pool(package: Package) -> bool:
    """Whether its construction ended in a way that keeps it out of every mean."""
    return package.attributes.get("scoring_pool") is False


def active_memories(store: ExportedStore, package: Package) -> list[Memory]:
    """The active memories written from a package."""
    known = examples_of(store)
    # Older and simpler exports say nothing about packages: all of such a store belongs to whatever
    # it is scored on.
    if not known:
        return list(store.active)
    examples = written_from(store, package)
    if not examples:
        names = sorted(known)
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        raise MemAuditError(
            f"{store.name!r} was not written for the package {package.name!r} but for "
            f"{', '.join(map(repr, names[:3]))}{more}; if that is the same conversation, say so "
            f"with --map OLD=NEW, such as --map {names[0]}={package.name}"
        )
    if len(examples) == 1:
        (example,) = examples
        return store.active_by_example.get(example, [])
    return [memory for memory in store.active if memory.example in examples]


def writing_order(memories: Sequence[Memory]) -> list[Memory]:
    """By time of creation where every memory has one, else as the store lists them."""
    # All or nothing: where some have no time, any place between the others would be a guess.
    if any(memory.created_at is None for memory in memories):
        return list(memories)
    return sorted(memories, key=lambda memory: memory.created_at or "")


def _left_out(
    store: ExportedStore, sources: Iterable[SalienceSource], other_clock: int
) -> dict[str, int]:
    counts = {OTHER_CLOCK: other_clock} if other_clock else {}
    unplaced = len(store.active_by_example.get(None, ()))
    if unplaced and examples_of(store):
        counts[UNPLACED] = unplaced
    if failed := sum(source.failed for source in sources):
        counts[FAILED_SALIENCE] = failed
    return counts


def shown_texts(
    package: Package, store: ExportedStore, memories: Sequence[Memory]
) -> tuple[dict[str, str], int]:
    """The text of each memory, and how many times were left out as not the conversation's.

    Where a system's reader is shown when a memory was said (`reader_time` of the origin), that time
    stands before the text and is paid for. When a program happened to run tells a reader nothing,
    and is never shown.
    """
    texts = {memory.id: memory.text for memory in memories}
    field = store.origin.reader_time
    if store.times == "none" or (store.times == "shown" and field is None):
        return texts, 0
    span = _conversation_days(package)
    left_out = 0
    for memory in memories:
        time = getattr(memory, field or "created_at") or (
            memory.valid_from if store.times == "all" else None
        )
        if time is None or time[:10] in memory.text:  # a view may have written it already
            continue
        # Outside the conversation it is the clock of a program that imported or replayed it.
        if span is None or not span[0] <= time[:10] <= span[1]:
            left_out += 1
            continue
        end = memory.valid_to if field == "valid_from" else None
        until = f" to {_stamp(end)}" if end and span[0] <= end[:10] <= span[1] else ""
        texts[memory.id] = f"{_stamp(time)}{until}: {memory.text}"
    return texts, left_out


def _conversation_days(package: Package) -> tuple[str, str] | None:
    """The first and the last day of the conversation, and a day more for other time zones."""
    times = [export_time(turn.timestamp) for turn in package.experiences if turn.timestamp]
    days = sorted(time[:10] for time in times if time)
    if not days:
        return None
    first, last = date.fromisoformat(days[0]), date.fromisoformat(days[-1])
    day = timedelta(days=1)
    return (
        (first - day if first > date.min else first).isoformat(),
        (last + day if last < date.max else last).isoformat(),
    )


def _stamp(time: str) -> str:
    """The day, and the time of day unless it is midnight."""
    clock = time[11:16]
    return f"{time[:10]} {clock}" if clock.strip("0:") else time[:10]

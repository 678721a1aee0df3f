"""What a system wrote: its memories with costs and cells, and the documents they are entries of."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from pydantic import JsonValue

from memaudit.kernel.exact import total
from memaudit.kernel.score.caveats import NO_CAVEATS, Caveats
from memaudit.kernel.score.fed_turns import NOT_FED
from memaudit.kernel.score.judge import Cell, Pair
from memaudit.kernel.words.text import content_key

MEMORY, DOCUMENT = "memory", "document"
"""The kinds of an exported memory, and of a document that memories are entries of."""


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
class WrittenStore:
    """What a system wrote, in the order it wrote it."""

    name: str
    memories: tuple[WrittenMemory, ...]
    caveats: Caveats = NO_CAVEATS
    documents: tuple[WrittenDocument, ...] = ()

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

    def without_units(self, number: int) -> "WrittenStore":
        """The store with a caveat: so many units are about turns that nobody told it."""
        if not number:
            return self
        left_out = {**self.caveats.left_out, NOT_FED: number}
        return replace(self, caveats=replace(self.caveats, left_out=left_out))

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
            for one in chosen
            for id in (map(self.candidate_id, parts[one]) if one in parts else (one,))
        )

    @property
    def candidate_ids(self) -> tuple[str, ...]:
        """All memories as candidates of a union."""
        return tuple(self.candidate_id(memory) for memory in self.memories)

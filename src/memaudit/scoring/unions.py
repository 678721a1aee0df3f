"""Packages with the memories of stores as candidates (definition 3 of the paper)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memaudit.core.equal_texts import DistinctTexts, distinct_texts
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Candidate, Coverage, Experience, Package
from memaudit.scoring.judged_store import WrittenStore

MEMORY = "memory"
"""The kind of an exported memory."""


@dataclass(frozen=True, slots=True)
class Union:
    """A package with the memories of stores. Where the package has equal texts once, so has the
    union: `stands_for` and `copies` are those of DistinctTexts."""

    package: Package
    stands_for: Mapping[str, str]
    copies: Mapping[str, Candidate]

    def candidates(self, store: Iterable[str]) -> tuple[str, ...]:
        """The candidates that stand for the texts of a store, each once."""
        return tuple(dict.fromkeys(self.stands_for.get(id, id) for id in store))


def union_of(package: Package, stores: Sequence[WrittenStore]) -> Union:
    """The package with every memory added, each in a group of its own."""
    names = " + ".join(store.name for store in stores)
    return _with_memories(
        package, stores, package.candidates, package.coverage, f"{package.name} + {names}"
    )


def store_alone(package: Package, store: WrittenStore) -> Union:
    """The package with the memories of one store as its only candidates."""
    return _with_memories(package, [store], (), (), f"{package.name}, {store.name} alone")


def _with_memories(
    package: Package,
    stores: Iterable[WrittenStore],
    candidates: tuple[Candidate, ...],
    coverage: tuple[Coverage, ...],
    name: str,
) -> Union:
    last = max((experience.index for experience in package.experiences), default=-1)
    taken = {item.id for item in (*package.candidates, *package.experiences)}
    experiences: list[Experience] = []
    added: list[Candidate] = []
    cells: list[Coverage] = []
    for store in stores:
        for memory in store.memories:
            id = store.candidate_id(memory)
            home = f"written: {id}"
            if id in taken or home in taken:
                raise MemAuditError(
                    f"the package {package.name!r} has a candidate or experience that is called "
                    f"{(id if id in taken else home)!r}, as a memory of the store {store.name!r} "
                    "would be; import the store with another --name"
                )
            experiences.append(Experience(id=home, index=last + 1 + len(experiences)))
            added.append(
                Candidate(id=id, experience=home, kind=MEMORY, text=memory.text, cost=memory.cost)
            )
            cells += (
                Coverage(
                    candidate=id, unit=unit, value=cell.value, upper=cell.upper,
                    provenance=cell.provenance, rationale=cell.rationale or None,
                )
                for unit, cell in memory.coverage.items()
                if cell.value or cell.upper
            )  # fmt: skip
    tables = DistinctTexts(
        (*package.experiences, *experiences), (*candidates, *added), (*coverage, *cells)
    )
    if package.equal_texts_once:
        tables = distinct_texts(tables.experiences, tables.candidates, tables.coverage)
    joined = package.replace(
        name=name,
        experiences=tables.experiences,
        candidates=tables.candidates,
        coverage=tables.coverage,
    )
    return Union(joined, tables.stands_for, tables.copies)

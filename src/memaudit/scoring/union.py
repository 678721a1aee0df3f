"""Exported memories as candidates: the union package of definition 2, and a store on its own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from memaudit.core.errors import MemAuditError
from memaudit.core.package import Candidate, Coverage, Experience, Package
from memaudit.scoring.caveats import WHOLE, Account

MEMORY = "memory"
"""The kind of an exported memory."""


@dataclass(frozen=True, slots=True)
class Cell:
    """How much of a unit a memory preserves, and who says so."""

    value: Fraction
    provenance: str
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class WrittenMemory:
    """A memory of an exported store: its measured cost and its coverage of the package's units."""

    id: str
    text: str
    cost: Fraction
    coverage: Mapping[str, Cell] = field(default_factory=dict)
    salience: Fraction | None = None
    query_salience: Fraction | None = None


@dataclass(frozen=True, slots=True)
class WrittenStore:
    """What a system wrote, in the order it wrote it."""

    name: str
    memories: tuple[WrittenMemory, ...]
    account: Account = WHOLE

    @property
    def cost(self) -> Fraction:
        """What keeping all of it costs."""
        return sum((memory.cost for memory in self.memories), Fraction(0))

    def candidate_id(self, memory: WrittenMemory) -> str:
        """Its id as a candidate: stores may use the same ids. No slash of the store's name is left
        as one, so that `a/b` and `c` are not `a` and `b/c`."""
        return f"{_escaped(self.name)}/{memory.id}"

    @property
    def candidate_ids(self) -> tuple[str, ...]:
        """All of it, as candidates of a union."""
        return tuple(self.candidate_id(memory) for memory in self.memories)


def _escaped(name: str) -> str:
    return name.replace("%", "%25").replace("/", "%2F")


def union_package(package: Package, stores: Sequence[WrittenStore]) -> Package:
    """The package with every memory added, each in a group of its own."""
    names = " + ".join(store.name for store in stores)
    return _with(package, stores, package.candidates, package.coverage, f"{package.name} + {names}")


def store_package(package: Package, store: WrittenStore) -> Package:
    """The package with the memories of one store as its only candidates."""
    return _with(package, [store], (), (), f"{package.name}, {store.name} alone")


def _with(
    package: Package,
    stores: Iterable[WrittenStore],
    candidates: tuple[Candidate, ...],
    coverage: tuple[Coverage, ...],
    name: str,
) -> Package:
    last = max((experience.index for experience in package.experiences), default=-1)
    taken = {one.id for one in (*package.candidates, *package.experiences)}
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
                    candidate=id, unit=unit, value=cell.value, provenance=cell.provenance,
                    rationale=cell.rationale or None,
                )
                for unit, cell in memory.coverage.items()
                if cell.value
            )  # fmt: skip
    return package.replace(
        name=name,
        experiences=(*package.experiences, *experiences),
        candidates=(*candidates, *added),
        coverage=(*coverage, *cells),
    )

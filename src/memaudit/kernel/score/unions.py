"""Packages with the memories of stores as candidates (definition 3 of the paper).

A document is a choice too, beside its entries: it costs what the file costs, and covers what its
entries cover together.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.cost import DECLARED, cost_rule
from memaudit.kernel.package.equal_texts import DistinctTexts, distinct_texts
from memaudit.kernel.package.labels import FULL
from memaudit.kernel.package.package import Candidate, Coverage, Experience, Package
from memaudit.kernel.package.provenance import strength
from memaudit.kernel.package.unit_parts import NO_PART
from memaudit.kernel.score.judge import Cell
from memaudit.kernel.score.priced_store import DOCUMENT, MEMORY, JudgedStore, WrittenMemory
from memaudit.kernel.words.text import content_key


@dataclass(frozen=True, slots=True)
class Union:
    """A package with the memories of stores. Where the package has equal texts once, so has the
    union: `stands_for` and `copies` are those of DistinctTexts."""

    package: Package
    stands_for: Mapping[str, str]
    copies: Mapping[str, Candidate]

    def candidates(self, store: Iterable[str]) -> tuple[str, ...]:
        """The candidates that stand for the texts of a store, each once, and none beside a whole
        document that contains it."""
        chosen = dict.fromkeys(self.stands_for.get(id, id) for id in store)
        inside = {part for id in chosen for part in self.package.candidate[id].parts}
        return tuple(id for id in chosen if id not in inside)


def union_of(package: Package, stores: Sequence[JudgedStore]) -> Union:
    """The package with every memory added, each in a group of its own."""
    names = " + ".join(store.name for store in stores)
    return _with_memories(
        package, stores, package.candidates, package.coverage, f"{package.name} + {names}"
    )


def store_alone(package: Package, store: JudgedStore) -> Union:
    """The package with the memories of one store as its only candidates."""
    return _with_memories(package, [store], (), (), f"{package.name}, {store.name} alone")


def only_as_written(union: Union, alone: Union, store: JudgedStore) -> Package:
    """A union in which every unit counts at most as much as a whole store covers it, by its
    entries or by its documents as they are.

    `alone` is that store alone. Units that it does not cover at all are left out.
    """
    everything = store.candidate_ids
    # Two readings of the whole store, of which each unit takes the larger: entries that share a
    # text have it once, while files kept as they are have it once each.
    written: dict[str, Fraction] = {}
    for ids in (everything, store.choice(everything)):
        chosen, covered = set(alone.candidates(ids)), dict[str, Fraction]()
        for cell in alone.package.coverage:
            if cell.candidate in chosen and cell.value:
                covered[cell.unit] = covered.get(cell.unit, Fraction(0)) + cell.value
        written = {unit: max(covered[unit], written.get(unit, covered[unit])) for unit in covered}
    package = union.package
    units = tuple(
        unit.model_copy(
            update={
                "response": unit.response.up_to(written[unit.id]),
                "weight": package.weights[unit.id],
                # A part becomes a plain unit with the weight it has: shares would no longer sum to
                # 1 where a part that was never written is left out.
                **NO_PART,
            }
        )
        for unit in package.units
        if unit.id in written
    )
    cells = tuple(cell for cell in package.coverage if cell.unit in written)
    name = f"{alone.package.name}, with the candidates of {package.name}"
    return package.replace(name=name, units=units, queries=(), coverage=cells)


def _with_memories(
    package: Package,
    stores: Iterable[JudgedStore],
    candidates: tuple[Candidate, ...],
    coverage: tuple[Coverage, ...],
    name: str,
) -> Union:
    fields = () if package.cost_rule == DECLARED else cost_rule(package.cost_rule).fields
    last = max((experience.index for experience in package.experiences), default=-1)
    taken = {item.id for item in (*package.candidates, *package.experiences)}
    experiences: list[Experience] = []
    added: list[Candidate] = []
    cells: list[Coverage] = []
    for store in stores:
        for candidate, covers in _as_candidates(store, package.equal_texts_once, fields):
            id, home = candidate.id, candidate.experience
            # Stores cannot clash with each other, whose names are in the ids; only with the
            # package.
            if id in taken or home in taken:
                raise MemAuditError(
                    f"the package {package.name!r} has a candidate or experience that is called "
                    f"{(id if id in taken else home)!r}, as a memory of the store {store.name!r} "
                    "would be; import the store with another --name"
                )
            experiences.append(Experience(id=home, index=last + 1 + len(experiences)))
            added.append(candidate)
            cells += (
                Coverage(
                    candidate=id,
                    unit=unit,
                    value=cell.value,
                    upper=cell.upper,
                    provenance=cell.provenance,
                    rationale=cell.rationale or None,
                )
                for unit, cell in covers.items()
                if cell.value or cell.upper
            )
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


def _as_candidates(
    store: JudgedStore, once: bool, fields: Collection[str]
) -> Iterator[tuple[Candidate, Mapping[str, Cell]]]:
    """Every memory, and every document that is cheaper whole than all its entries.

    `once`: entries of the same text count once. `fields` are those that the cost rule charges for.
    """
    for memory in store.memories:
        id = store.candidate_id(memory)
        home = f"written: {id}"
        yield (
            Candidate(
                id=id,
                experience=home,
                kind=MEMORY,
                text=memory.text,
                cost=memory.cost,
                attributes={
                    name: memory.metadata[name] for name in fields if name in memory.metadata
                },
            ),
            memory.coverage,
        )
    by_id = {memory.id: memory for memory in store.memories}
    for document in store.documents:
        entries = [by_id[id] for id in document.parts]
        if sum((entry.cost for entry in entries), Fraction(0)) <= document.cost:
            continue  # its entries are as good
        # Of equal texts the first: it has the credit of a heading that both stand below.
        by_text = {content_key(entry.text) or entry.id: entry for entry in reversed(entries)}
        id = store.whole_id(document)
        yield (
            Candidate(
                id=id,
                experience=f"written: {id}",
                kind=DOCUMENT,
                text=document.text,
                cost=document.cost,
                parts=tuple(map(store.candidate_id, entries)),
            ),
            _together(by_text.values() if once else entries),
        )


def _together(entries: Iterable[WrittenMemory]) -> dict[str, Cell]:
    """What entries cover together; of several cells for a unit the weakest names the grounds."""
    together: dict[str, Cell] = {}
    for entry in entries:
        for unit, cell in entry.coverage.items():
            known = together.get(unit)
            if not (cell.value or cell.upper):
                continue
            if known is None:
                together[unit] = cell
                continue
            # Amounts add up in a file as among its entries; a cell holds at most all of a unit.
            weakest = min(known, cell, key=lambda side: strength(side.provenance))
            value, most = (min(FULL, a + b) for a, b in zip(_ends(known), _ends(cell), strict=True))
            together[unit] = replace(weakest, value=value, upper=most if most > value else None)
    return together


def _ends(cell: Cell) -> tuple[Fraction, Fraction]:
    return cell.value, cell.value if cell.upper is None else cell.upper

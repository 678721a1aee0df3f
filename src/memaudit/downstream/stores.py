"""What stores and writers hold within a budget, in the shape that retrieval takes."""

from fractions import Fraction

from memaudit.adapters.store import ExportedStore
from memaudit.core.exact import plain
from memaudit.core.package import Package
from memaudit.downstream.holding import Holding, StoredMemory
from memaudit.scoring.judged_store import WrittenStore, judge_store
from memaudit.scoring.judges import Judge
from memaudit.scoring.pruning import Policy, keep_within
from memaudit.writers.protocol import Writer
from memaudit.writers.run_writer import WriterRunner

WRITTEN = "written within the budget"


def exported_holding(
    package: Package, store: ExportedStore, judge: Judge, budget: Fraction, policy: Policy
) -> Holding:
    """An exported store, cut to the budget by a policy where it does not fit."""
    return written_holding(judge_store(package, store, judge), budget, policy)


def written_holding(store: WrittenStore, budget: Fraction, policy: Policy) -> Holding:
    """A judged store, cut to the budget by a policy where it does not fit."""
    kept = keep_within(store, budget, policy)
    return Holding(
        name=store.name,
        written=tuple(
            StoredMemory(
                memory.id,
                memory.text,
                {unit: cell.value for unit, cell in memory.coverage.items() if cell.value},
            )
            for memory in store.memories
        ),
        kept_ids=frozenset(
            memory.id for memory in store.memories if store.candidate_id(memory) in kept.ids
        ),
        kept_by=kept.kept_by,
        undecided=frozenset(unit for _, unit in store.caveats.undecided),
    )


def writer_holding(package: Package, writer: Writer, budget: Fraction, seed: int = 0) -> Holding:
    """What a writer of the package keeps: it never writes more than fits."""
    store = WriterRunner(package).written_by(writer, budget, seed)
    return candidate_holding(package, writer.name, store, WRITTEN)


def candidate_holding(package: Package, name: str, store: tuple[str, ...], kept_by: str) -> Holding:
    """A store of the package's own candidates, all of it kept."""
    chosen = set(store)
    covers: dict[str, dict[str, Fraction]] = {id: {} for id in store}
    for cell in package.coverage:
        if cell.candidate in chosen and cell.value:
            covers[cell.candidate][cell.unit] = cell.value
    memories = tuple(StoredMemory(id, package.candidate[id].text, covers[id]) for id in store)
    return Holding(name, memories, frozenset(chosen), kept_by)


def memory_rows(package: str, holding: Holding) -> list[dict[str, object]]:
    """Every memory of a holding as plain data: what the rows of a run name by id."""
    return [
        {
            "package": package,
            "store": holding.name,
            "id": memory.id,
            "kept": memory.id in holding.kept_ids,
            "text": memory.text,
            "covers": {unit: plain(value) for unit, value in sorted(memory.covers.items())},
        }
        for memory in holding.written
    ]

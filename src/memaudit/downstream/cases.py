"""Packages and stores put together: every store for every package, or an error that says why."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from memaudit.adapters.store import ExportedStore, missing_memories, store_digest
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.package import Package
from memaudit.downstream.kept_store import KeptStore, StoredMemory
from memaudit.scoring.caveats import unread_rows
from memaudit.scoring.fed_turns import examples_of
from memaudit.scoring.judged_store import is_out_of_pool, judge_store
from memaudit.scoring.judges import Judge
from memaudit.scoring.pruning import POLICIES, Policy, keep_within
from memaudit.scoring.written_store import WrittenStore
from memaudit.writers.protocol import Writer
from memaudit.writers.run_writer import WriterRunner

WRITTEN = "written within the budget"


def exported_store(
    package: Package, store: ExportedStore, judge: Judge, budget: Fraction, policy: Policy | None
) -> KeptStore:
    """An exported store, cut to the budget by a policy where it does not fit."""
    return judged_kept_store(judge_store(package, store, judge), budget, policy)


def judged_kept_store(store: WrittenStore, budget: Fraction, policy: Policy | None) -> KeptStore:
    """A judged store, cut to the budget by a policy where it does not fit."""
    kept = keep_within(store, budget, policy)
    kept_ids = set(kept.ids)
    return KeptStore(
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
            memory.id for memory in store.memories if store.candidate_id(memory) in kept_ids
        ),
        kept_by=kept.kept_by,
        undecided=frozenset(unit for _, unit in store.caveats.undecided),
    )


def writer_store(package: Package, writer: Writer, budget: Fraction, seed: int = 0) -> KeptStore:
    """What a writer of the package keeps: it never writes more than fits."""
    store = WriterRunner(package).written_by(writer, budget, seed)
    return candidate_store(package, writer.name, store, WRITTEN)


def candidate_store(package: Package, name: str, store: tuple[str, ...], kept_by: str) -> KeptStore:
    """A store of the package's own candidates, all of it kept."""
    chosen = set(store)
    covers: dict[str, dict[str, Fraction]] = {id: {} for id in store}
    for cell in package.coverage:
        if cell.candidate in chosen and cell.value:
            covers[cell.candidate][cell.unit] = cell.value
    memories = tuple(StoredMemory(id, package.candidate[id].text, covers[id]) for id in store)
    return KeptStore(name, memories, frozenset(chosen), kept_by)


def memory_rows(package: str, store: KeptStore) -> list[dict[str, object]]:
    """Every memory of a store as plain data. Rows of a run name memories by id."""
    return [
        {
            "package": package,
            "store": store.name,
            "id": memory.id,
            "kept": memory.id in store.kept_ids,
            "text": memory.text,
            "covers": {unit: plain(value) for unit, value in sorted(memory.covers.items())},
        }
        for memory in store.written
    ]


@dataclass(frozen=True, slots=True)
class DiagnosisCase:
    """A package with every store of it."""

    package: Package
    stores: tuple[KeptStore, ...]


@dataclass(frozen=True, slots=True)
class StoreChoice:
    """Which stores are diagnosed within which budget, and how a larger one is cut."""

    budget: Fraction
    stores: Sequence[ExportedStore] = ()
    judge: Judge | None = None
    writers: Sequence[Writer] = ()
    policy: Policy | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class DiagnosisCases:
    """The cases, packages that were left out and why, and the settings that made them."""

    cases: tuple[DiagnosisCase, ...]
    settings: dict[str, Any]
    left_out: dict[str, str] = field(default_factory=dict)


def named_policy(name: str) -> Policy:
    """The pruning policy of that name."""
    # Pruning by the question would hide what retrieval has to find.
    known: dict[str, Policy] = {policy: policy for policy in POLICIES if policy != "query_salience"}
    if name not in known:
        raise MemAuditError(f"unknown policy {name!r}; choose from {', '.join(known)}")
    return known[name]


def make_cases(packages: Sequence[Package], choice: StoreChoice) -> DiagnosisCases:
    """Every package of the scoring pool that has questions, with every store."""
    left_out = {package.name: why for package in packages if (why := _unfit(package))}
    fit = [package for package in packages if package.name not in left_out]
    if not fit:
        raise MemAuditError(f"there is nothing to diagnose: {next(iter(left_out.values()))}")
    if len(fit) > 1:
        for store in choice.stores:
            _refuse_unnamed(store)
    cases = tuple(DiagnosisCase(package, tuple(_kept_stores(package, choice))) for package in fit)
    return DiagnosisCases(
        cases,
        {
            "budget": plain(choice.budget),
            "policy": choice.policy or "recency",  # or top where that is not defined
            "kept_by": _kept_by(cases),
            "judge": choice.judge.name if choice.judge else None,
            "coverage_is_an_estimate": bool(choice.judge and choice.judge.is_estimate),
            "exported": {store.name: _identity(store) for store in choice.stores},
            "writers": [writer.name for writer in choice.writers],
            "peeking_writers": [writer.name for writer in choice.writers if writer.peeks],
            "seed": choice.seed,
            "left_out": left_out,
        },
        left_out,
    )


def _kept_stores(package: Package, choice: StoreChoice) -> Iterator[KeptStore]:
    for store in choice.stores:
        if choice.judge is None:
            raise MemAuditError("exported stores need a judge of what their memories cover")
        yield exported_store(package, store, choice.judge, choice.budget, choice.policy)
    for writer in choice.writers:
        yield writer_store(package, writer, choice.budget, choice.seed)


def _kept_by(cases: Sequence[DiagnosisCase]) -> dict[str, dict[str, int]]:
    """By store, why it fits the budget, and in how many packages."""
    reasons: dict[str, Counter[str]] = {}
    for case in cases:
        for store in case.stores:
            reasons.setdefault(store.name, Counter())[store.kept_by] += 1
    return {name: dict(sorted(counts.items())) for name, counts in reasons.items()}


def _identity(store: ExportedStore) -> dict[str, Any]:
    """Which store it is, and what is missing from its export."""
    return {
        "digest": store_digest(store),
        "unread_rows": unread_rows(store),
        "incomplete": list(missing_memories(store.warnings)),
    }


def _unfit(package: Package) -> str:
    if is_out_of_pool(package):
        return f"{package.name!r} is out of the scoring pool"
    return "" if package.queries else f"{package.name!r} has no question"


def _refuse_unnamed(store: ExportedStore) -> None:
    """With several packages, a store must say which one each memory was written for."""
    if store.memories and not examples_of(store):
        raise MemAuditError(
            f"{store.name!r} does not say which package its memories were written for; diagnose "
            "one package at a time"
        )

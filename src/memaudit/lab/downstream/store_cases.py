"""Packages and stores put together: every store for every package, or an error that says why."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.io.packages import PlaceOfPackage
from memaudit.kernel.io.store_file import ExportedStore, missing_memories, store_digest
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.caveats import unread_rows
from memaudit.kernel.score.judge import Judge
from memaudit.kernel.score.judging import judge_store
from memaudit.kernel.score.priced_store import OWN_SALIENCE, Salience, is_out_of_pool
from memaudit.kernel.score.pruning import POLICIES, Policy, keep_within
from memaudit.kernel.score.store_match import examples_of
from memaudit.lab.downstream.question import PackageQuestion, ServedStore, StoredMemory, questions
from memaudit.lab.sweeps.writers.protocol import Writer, WriterRunner

WRITTEN = "written within the budget"


def exported_store(
    package: Package,
    exported: ExportedStore,
    judge: Judge,
    budget: Fraction,
    policy: Policy | None,
    salience: Salience = OWN_SALIENCE,
) -> ServedStore:
    """An exported store, cut to the budget by a policy where it does not fit."""
    store = judge_store(package, exported, judge, salience)
    kept = keep_within(store, budget, policy)
    kept_ids = set(kept.ids)
    return ServedStore(
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


def writer_store(package: Package, writer: Writer, budget: Fraction, seed: int = 0) -> ServedStore:
    """What a writer of the package keeps: it never writes more than fits."""
    store = WriterRunner(package).written_by(writer, budget, seed)
    return candidate_store(package, writer.name, store, WRITTEN)


def candidate_store(
    package: Package, name: str, store: tuple[str, ...], kept_by: str
) -> ServedStore:
    """A store of the package's own candidates, all of it kept."""
    chosen = set(store)
    covers: dict[str, dict[str, Fraction]] = {id: {} for id in store}
    for cell in package.coverage:
        if cell.candidate in chosen and cell.value:
            covers[cell.candidate][cell.unit] = cell.value
    memories = tuple(StoredMemory(id, package.candidate[id].text, covers[id]) for id in store)
    return ServedStore(name, memories, frozenset(chosen), kept_by)


def memory_rows(package: str, store: ServedStore) -> list[dict[str, object]]:
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
    """What a diagnosis needs of a package: its questions, and every store of it."""

    package: str
    digest: str
    questions: tuple[PackageQuestion, ...]
    stores: tuple[ServedStore, ...]
    left_out: str = ""
    """Why the package is not diagnosed, if it is not."""

    @classmethod
    def of(cls, package: Package, stores: Sequence[ServedStore], left_out: str = "") -> Self:
        asked = () if left_out else questions(package)
        return cls(package.name, digest(package), asked, tuple(stores), left_out)


@dataclass(frozen=True, slots=True)
class StoreChoice:
    """Which stores are diagnosed within which budget, and how a larger one is cut."""

    budget: Fraction
    stores: Sequence[ExportedStore] = ()
    judge: Judge | None = None
    writers: Sequence[Writer] = ()
    policy: Policy | None = None
    seed: int = 0
    cost_rule: str | None = None
    """Measures every cost; None for the rule of the package."""
    salience: Salience = OWN_SALIENCE

    def settings(
        self,
        kept_by: Mapping[str, Mapping[str, int]],
        left_out: Mapping[str, str],
    ) -> dict[str, Any]:
        """What decides the stores, and by store, why it fits the budget in how many packages."""
        return {
            "budget": plain(self.budget),
            "policy": self.policy or "recency",  # or top where that is not defined
            **({"salience": self.salience.names} if self.salience.names else {}),
            "kept_by": kept_by,
            "judge": self.judge.name if self.judge else None,
            "coverage_is_an_estimate": bool(self.judge and self.judge.is_estimate),
            "exported": {store.name: _identity(store) for store in self.stores},
            "writers": [writer.name for writer in self.writers],
            "peeking_writers": [writer.name for writer in self.writers if writer.peeks],
            "seed": self.seed,
            "left_out": left_out,
        }


@dataclass(frozen=True, slots=True)
class DiagnosisCases:
    """Cases, the settings that made them, and the packages that were left out and why."""

    cases: list[DiagnosisCase]
    settings: dict[str, Any]
    left_out: dict[str, str]

    @property
    def rows(self) -> int:
        """Questions, each counted once per store."""
        return sum(len(case.stores) * len(case.questions) for case in self.cases)


def named_policy(name: str) -> Policy:
    """The pruning policy of that name."""
    # Pruning by the question would hide what retrieval has to find.
    known: dict[str, Policy] = {policy: policy for policy in POLICIES if policy != "query_salience"}
    if name not in known:
        raise MemAuditError(f"unknown policy {name!r}; choose from {', '.join(known)}")
    return known[name]


def make_cases(packages: Sequence[Package], choice: StoreChoice) -> DiagnosisCases:
    """Every package of the scoring pool that has questions, with every store."""
    refuse_unnamed(choice.stores, sum(not unfit(package) for package in packages))
    return gathered((case_of(choice, package) for package in packages), choice)


def gathered(cases: Iterable[DiagnosisCase], choice: StoreChoice) -> DiagnosisCases:
    """The cases that are diagnosed, and what is said of all together."""
    fit: list[DiagnosisCase] = []
    left_out: dict[str, str] = {}
    kept_by: dict[str, Counter[str]] = {}
    for case in cases:
        if case.left_out:
            left_out[case.package] = case.left_out
            continue
        fit.append(case)
        for store in case.stores:
            kept_by.setdefault(store.name, Counter())[store.kept_by] += 1
    if not fit:
        raise MemAuditError(f"there is nothing to diagnose: {next(iter(left_out.values()))}")
    counts = {name: dict(sorted(reasons.items())) for name, reasons in kept_by.items()}
    return DiagnosisCases(fit, choice.settings(counts, left_out), left_out)


def case_at(choice: StoreChoice, place: PlaceOfPackage) -> DiagnosisCase:
    """The case of a package that is still to be read."""
    return case_of(choice, place.read())


def total_cost(cost_rule: str | None, place: PlaceOfPackage) -> Fraction:
    """What all candidates of a package cost."""
    package = place.read() if cost_rule is None else place.read().recost(cost_rule)
    return package.total_cost(package.candidate)


def case_of(choice: StoreChoice, package: Package) -> DiagnosisCase:
    """A package with every store of the choice, or why it is left out."""
    if choice.cost_rule is not None:
        package = package.recost(choice.cost_rule)
    why = unfit(package)
    return DiagnosisCase.of(package, () if why else tuple(_kept_stores(package, choice)), why)


def _kept_stores(package: Package, choice: StoreChoice) -> Iterator[ServedStore]:
    for store in choice.stores:
        if choice.judge is None:
            raise MemAuditError("exported stores need a judge of what their memories cover")
        yield exported_store(
            package, store, choice.judge, choice.budget, choice.policy, choice.salience
        )
    for writer in choice.writers:
        yield writer_store(package, writer, choice.budget, choice.seed)


def _identity(store: ExportedStore) -> dict[str, Any]:
    """Which store it is, and what is missing from its export."""
    return {
        "digest": store_digest(store),
        "unread_rows": unread_rows(store),
        "incomplete": list(missing_memories(store.warnings)),
    }


def unfit(package: Package) -> str:
    """Why a package is not diagnosed, if it is not."""
    if is_out_of_pool(package):
        return f"{package.name!r} is out of the scoring pool"
    return "" if package.queries else f"{package.name!r} has no question"


def refuse_unnamed(stores: Iterable[ExportedStore], packages: int) -> None:
    """With several packages, a store must say which one each memory was written for."""
    for store in stores:
        if packages > 1 and store.memories and not examples_of(store):
            raise MemAuditError(
                f"{store.name!r} does not say which package its memories were written for; "
                "diagnose one package at a time"
            )

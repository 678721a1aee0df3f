"""Scores of exported stores: raw value, ratios to certified optima, and what pruning could save.

The denominators are optima of the package, of its union with one store (definition 3 of the paper)
and of its union with all stores. In a union every memory is a candidate in a group of its own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import Enclosure
from memaudit.core.optimum import Optimum
from memaudit.core.package import Candidate, Coverage, Experience, Package
from memaudit.scoring.judged_store import WrittenStore
from memaudit.scoring.pruning import prune, usable_policies
from memaudit.scoring.score import Ratio, Score, Scorer
from memaudit.solvers.solve import PackageSolver


@dataclass(frozen=True, slots=True)
class PrunedStore:
    """A store cut down to the budget by a policy, or by the exact best choice."""

    policy: str
    store: tuple[str, ...]
    score: Score
    ratio: Ratio
    common_ratio: Ratio


@dataclass(frozen=True, slots=True)
class StoreScore:
    """One store at one budget.

    Ratios of a store that is not `feasible` may exceed 1. Its pruned rows are its scores within the
    budget.
    """

    name: str
    budget: Fraction
    memories: int
    score: Score
    feasible: bool
    package_ratio: Ratio
    union_ratio: Ratio
    common_ratio: Ratio
    upper: PrunedStore
    upper_optimum: Optimum
    pruned: tuple[PrunedStore, ...]


class StoreScorer:
    """Scores stores of one package. Each union and each store alone is solved once per budget."""

    def __init__(
        self,
        package: Package,
        stores: Sequence[WrittenStore],
        group_cap: int | None = None,
        seconds: float | None = None,
    ) -> None:
        self.package, self.stores, self.seconds = package, tuple(stores), seconds
        names = [store.name for store in self.stores]
        if len(set(names)) < len(names):
            raise MemAuditError("two stores have the same name; give one of them another")
        self.group_cap = group_cap
        self._solvers: dict[str, PackageSolver] = {}
        self._optima: dict[tuple[str, Fraction], Optimum] = {}

    @cached_property
    def common(self) -> Package:
        """The package with the memories of all stores."""
        return union_package(self.package, self.stores)

    @cached_property
    def scorer(self) -> Scorer:
        """Scores any store, package candidates and all memories alike."""
        return Scorer(self.common, self._solver("common", self.common).form)

    def _solver(self, key: str, package: Package) -> PackageSolver:
        if key not in self._solvers:
            self._solvers[key] = PackageSolver(package, self.group_cap)
        return self._solvers[key]

    def _optimum(self, key: str, package: Package, budget: Fraction) -> Optimum:
        if (key, budget) not in self._optima:
            solver = self._solver(key, package)
            self._optima[key, budget] = solver.solve(budget, seconds=self.seconds)
        return self._optima[key, budget]

    def package_optimum(self, budget: Fraction) -> Optimum:
        """OPT of the package alone."""
        return self._optimum("package", self.package, budget)

    def common_optimum(self, budget: Fraction) -> Optimum:
        """OPT of the package and all stores together."""
        return self._optimum("common", self.common, budget)

    def union_optimum(self, store: WrittenStore, budget: Fraction) -> Optimum:
        """OPT of the package and one store."""
        if len(self.stores) == 1:
            return self.common_optimum(budget)
        return self._optimum(f"union {store.name}", union_package(self.package, [store]), budget)

    def upper_optimum(self, store: WrittenStore, budget: Fraction) -> Optimum:
        """The best that fits of what the store holds: an exact bound on every pruning policy."""
        return self._optimum(f"only {store.name}", store_package(self.package, store), budget)

    def unit_values(self, store: Sequence[str]) -> dict[str, Enclosure]:
        """Per unit, what a store of package candidates and memories is worth."""
        return self.scorer.by_unit(store)

    def score(self, store: WrittenStore, budget: Fraction) -> StoreScore:
        """All of a store's scores at a budget."""
        whole = self.scorer.score(store.candidate_ids)
        upper = self.upper_optimum(store, budget)
        return StoreScore(
            name=store.name,
            budget=budget,
            memories=len(store.memories),
            score=whole,
            feasible=whole.cost <= budget,
            package_ratio=Ratio(whole.value, self.package_optimum(budget)),
            union_ratio=Ratio(whole.value, self.union_optimum(store, budget), "union"),
            common_ratio=Ratio(whole.value, self.common_optimum(budget), "common union"),
            upper=self._pruned(
                "upper", upper.store, store, budget, None if upper.certified else upper.bound
            ),
            upper_optimum=upper,
            pruned=tuple(
                self._pruned(policy, prune(store, budget, policy), store, budget)
                for policy in usable_policies(store)
            ),
        )

    def _pruned(
        self,
        policy: str,
        kept: tuple[str, ...],
        store: WrittenStore,
        budget: Fraction,
        highest: Fraction | None = None,
    ) -> PrunedStore:
        score = self.scorer.score(kept)
        return PrunedStore(
            policy, kept, score,
            Ratio(score.value, self.union_optimum(store, budget), "union", highest),
            Ratio(score.value, self.common_optimum(budget), "common union", highest),
        )  # fmt: skip


MEMORY = "memory"
"""The kind of an exported memory."""


def union_package(package: Package, stores: Sequence[WrittenStore]) -> Package:
    """The package with every memory added, each in a group of its own."""
    names = " + ".join(store.name for store in stores)
    return _with_memories(
        package, stores, package.candidates, package.coverage, f"{package.name} + {names}"
    )


def store_package(package: Package, store: WrittenStore) -> Package:
    """The package with the memories of one store as its only candidates."""
    return _with_memories(package, [store], (), (), f"{package.name}, {store.name} alone")


def _with_memories(
    package: Package,
    stores: Iterable[WrittenStore],
    candidates: tuple[Candidate, ...],
    coverage: tuple[Coverage, ...],
    name: str,
) -> Package:
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

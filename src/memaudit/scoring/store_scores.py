"""Scores of exported stores: raw value, certified ratios, and what pruning could save."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import Enclosure
from memaudit.core.optimum import Optimum
from memaudit.core.package import Package
from memaudit.scoring.pruning import Policy, pruned
from memaudit.scoring.ratio import Ratio
from memaudit.scoring.score import Score, Scorer
from memaudit.scoring.union import WrittenStore, store_package, union_package
from memaudit.solvers.solve import PackageSolver

POLICIES: tuple[Policy, ...] = ("recency", "salience", "query_salience")


@dataclass(frozen=True, slots=True)
class Pruned:
    """A store cut down to the budget by a policy, or by the exact best choice."""

    policy: str
    store: tuple[str, ...]
    score: Score
    ratio: Ratio
    common_ratio: Ratio


@dataclass(frozen=True, slots=True)
class StoreScore:
    """One store at one budget. Ratios of a store that does not fit are undefined by themselves:
    `feasible` says so, and the pruned rows are its scores within the budget."""

    name: str
    budget: Fraction
    memories: int
    score: Score
    feasible: bool
    package_ratio: Ratio
    union_ratio: Ratio
    common_ratio: Ratio
    upper: Pruned
    upper_optimum: Optimum
    pruned: tuple[Pruned, ...]


class ExportAudit:
    """Stores against one package; each union, the common one and each store alone solved once."""

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
        cut = [(policy, pruned(store, budget, policy)) for policy in POLICIES]
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
                self._pruned(policy, kept, store, budget)
                for policy, kept in cut
                if kept is not None
            ),
        )

    def _pruned(
        self,
        policy: str,
        kept: tuple[str, ...],
        store: WrittenStore,
        budget: Fraction,
        highest: Fraction | None = None,
    ) -> Pruned:
        score = self.scorer.score(kept)
        return Pruned(
            policy, kept, score,
            Ratio(score.value, self.union_optimum(store, budget), "union", highest),
            Ratio(score.value, self.common_optimum(budget), "common union", highest),
        )  # fmt: skip

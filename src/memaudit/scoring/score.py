"""What a store is worth and costs, and its ratios to certified optima.

The denominators are optima of the package, of its union with one store (definition 3 of the paper)
and of its union with all stores. In a union every memory is a candidate in a group of its own.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Literal

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import Enclosure
from memaudit.core.optimum import Optimum
from memaudit.core.package import (
    CURRENT,
    INVALIDATION_KINDS,
    STALE,
    Candidate,
    Coverage,
    Experience,
    Package,
)
from memaudit.scoring.judged_store import WrittenStore
from memaudit.scoring.pruning import prune, usable_policies
from memaudit.solvers.form import Form
from memaudit.solvers.solve import PackageSolver


@dataclass(frozen=True, slots=True)
class Score:
    """A store's value and its make-up. Coverage of a unit kind is the sum of min(1, covered)."""

    value: Fraction
    cost: Fraction
    kinds: dict[str, int]
    unit_values: dict[str, Fraction]
    unit_coverage: dict[str, Fraction]

    @property
    def invalidation(self) -> Fraction:
        """How many units that say an older statement no longer holds are covered."""
        return sum(
            (self.unit_coverage.get(kind, Fraction(0)) for kind in INVALIDATION_KINDS), Fraction(0)
        )

    @property
    def current(self) -> Fraction:
        """How many units of current truth are covered."""
        return self.unit_coverage.get(CURRENT, Fraction(0))

    @property
    def stale(self) -> Fraction:
        """How many units that are no longer true are covered."""
        return self.unit_coverage.get(STALE, Fraction(0))


class Scorer:
    """Scores stores of one package, in whole numbers wherever that is exact."""

    def __init__(self, package: Package, form: Form) -> None:
        self.package, self.form = package, form
        self._place = {id: u for u, id in enumerate(form.candidate_ids)}
        self._kind = {unit.id: unit.kind for unit in package.units}

    @cached_property
    def _cells(self) -> tuple[int, dict[str, list[tuple[str, int]]]]:
        """Every candidate's coverage in multiples of one number's inverse, and that number."""
        steps = lcm(1, *(cell.value.denominator for cell in self.package.coverage))
        rows: dict[str, list[tuple[str, int]]] = {id: [] for id in self._place}
        for cell in self.package.coverage:
            rows[cell.candidate].append((cell.unit, int(cell.value * steps)))
        return steps, rows

    def score(self, store: Sequence[str]) -> Score:
        """The score of a store of known candidates."""
        form, (steps, rows) = self.form, self._cells
        chosen = [self._place[id] for id in store]
        worth: Counter[str] = Counter()
        for unit, level in form.cover(chosen).items():
            worth[self._kind[form.unit_ids[unit]]] += form.levels[unit].low(level)
        amounts: Counter[str] = Counter()
        for id in store:
            for name, amount in rows[id]:
                amounts[name] += amount
        covered: Counter[str] = Counter()
        for name, amount in amounts.items():
            covered[self._kind[name]] += min(steps, amount)
        candidate = self.package.candidate
        return Score(
            value=Fraction(sum(worth.values()), form.value_scale),
            cost=Fraction(sum(form.cost[u] for u in chosen), form.cost_scale),
            kinds=dict(sorted(Counter(candidate[id].kind for id in store).items())),
            unit_values={k: Fraction(v, form.value_scale) for k, v in sorted(worth.items())},
            unit_coverage={k: Fraction(v, steps) for k, v in sorted(covered.items())},
        )

    def by_unit(self, store: Sequence[str]) -> dict[str, Enclosure]:
        """The value of each covered unit; a point unless its h is irrational."""
        form = self.form
        levels = form.cover([self._place[id] for id in store])
        return {
            form.unit_ids[unit]: Enclosure(
                Fraction(form.levels[unit].low(level), form.value_scale),
                Fraction(form.levels[unit].value(level), form.value_scale),
            )
            for unit, level in levels.items()
        }


Basis = Literal["package", "union", "common union"]

NOT_CERTIFIED = "optimum not certified"
OPTIMUM_IS_ZERO = "optimum is 0"


def bound_text(optimum: Optimum) -> str:
    """How far an optimum is known that is not certified, in words."""
    low, high = f"{float(optimum.value):.7g}", f"{float(optimum.bound):.7g}"
    if not optimum.gap:
        return f"is {low} by its bound, but its certificate is not finished"
    return f"is not certified, it lies between {low} and {high}"


@dataclass(frozen=True, slots=True)
class Ratio:
    """Undefined where the optimum is 0 or not certified: counted, never taken as 0 or 1.

    `highest` is what the numerator may be at most, where it is itself an optimum that is not
    certified.
    """

    numerator: Fraction
    optimum: Optimum
    basis: Basis = "package"
    highest: Fraction | None = None

    @property
    def undefined(self) -> str:
        """Why there is no ratio; empty where there is one."""
        if not self.optimum.certified or self.highest is not None:
            return NOT_CERTIFIED
        return OPTIMUM_IS_ZERO if self.optimum.value == 0 else ""

    @property
    def value(self) -> Fraction | None:
        """The ratio; below it by at most the width of the enclosure where some h is irrational."""
        if self.undefined:
            return None
        high = self.optimum.value_high
        return self.numerator / (self.optimum.value if high is None else high)

    @property
    def slack(self) -> Fraction:
        """What the width of the optimum's enclosure takes from `value`, as a factor: 1 unless some
        h is irrational. A store that is optimal itself has a value of 1 divided by it."""
        high = self.optimum.value_high
        return Fraction(1) if high is None or not self.optimum.value else high / self.optimum.value

    @property
    def between(self) -> tuple[Fraction, Fraction] | None:
        """Where the ratio lies while the optimum is known only to lie between what was found and
        its bound; None where the ratio is known, or nothing is."""
        if self.undefined != NOT_CERTIFIED or not self.optimum.value:
            return None
        low = self.numerator / self.optimum.bound
        if self.highest is None:
            return low, self.numerator / self.optimum.value
        return low, min(Fraction(1), self.highest / self.optimum.value)  # a part of the optimum


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
            raise MemAuditError("two stores have the same name; rename one of them")
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

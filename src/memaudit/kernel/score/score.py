"""What a store is worth and costs, and its score.

The score is what the store keeps within the budget, over OPT of the common union: the package and
the memories of all stores scored together, each memory a candidate in a group of its own.
Definition 3 of the paper has the union with one store.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Literal

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import Enclosure, plain, total
from memaudit.kernel.package.objective import assumed_share
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.package.package import (
    CURRENT,
    INVALIDATION_KINDS,
    STALE,
    Package,
)
from memaudit.kernel.score.pruning import (
    EVERYTHING_FITS,
    Policy,
    StoreWithinBudget,
    keep_within,
    prune,
    usable_policies,
)
from memaudit.kernel.score.unions import Union, only_as_written, store_alone, union_of
from memaudit.kernel.score.written_store import WrittenStore
from memaudit.kernel.solvers.form import Form
from memaudit.kernel.solvers.solve import PackageSolver


@dataclass(frozen=True, slots=True)
class StoreValue:
    """What memories are worth, what they cost, and their make-up.

    Coverage of a unit kind is the sum of min(1, covered).

    `highest` is what the value may be at most where nobody judged some cells, `assumed` the share
    of it that rests on assumed cells. Copies of a text are worth nothing more and cost each.
    """

    value: Fraction
    highest: Fraction
    assumed: Fraction
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
    """Values stores of one package, in whole numbers wherever that is exact.

    With a union, stores name copies of a text by their own ids.
    """

    def __init__(self, package: Package, form: Form, union: Union | None = None) -> None:
        self.package, self.form = package, form
        self._union = union or Union(package, {}, {})
        self._place = {id: u for u, id in enumerate(form.candidate_ids)}
        self._kind = {unit.id: unit.kind for unit in package.units}

    @cached_property
    def _known_rows(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The form's rows, with cells that nobody judged at their value."""
        if not self.package.is_open:
            return self.form.rows
        unit_place = {id: r for r, id in enumerate(self.form.unit_ids)}
        known = {
            (self._place[cell.candidate], unit_place[cell.unit]): cell.value / cell.most
            for cell in self.package.coverage
            if cell.most != cell.value and cell.unit in unit_place
        }
        return tuple(
            tuple((r, int(level * known.get((u, r), 1))) for r, level in row)
            for u, row in enumerate(self.form.rows)
        )

    def cost(self, store: Iterable[str]) -> Fraction:
        """What a store costs; every copy is paid for."""
        known, copies = self.package.candidate, self._union.copies
        return total((known[id] if id in known else copies[id]).cost for id in store)

    def _levels(self, chosen: Sequence[int]) -> dict[int, int]:
        """Per touched unit, the summed levels that are known."""
        amounts: dict[int, int] = {}
        for u in chosen:
            for r, level in self._known_rows[u]:
                amounts[r] = amounts.get(r, 0) + level
        return amounts

    @cached_property
    def _cells(self) -> tuple[int, dict[str, list[tuple[str, int]]]]:
        """Every candidate's coverage in multiples of one number's inverse, and that number."""
        steps = lcm(1, *(cell.value.denominator for cell in self.package.coverage))
        rows: dict[str, list[tuple[str, int]]] = {id: [] for id in self._place}
        for cell in self.package.coverage:
            rows[cell.candidate].append((cell.unit, int(cell.value * steps)))
        return steps, rows

    def worth(self, store: Sequence[str]) -> StoreValue:
        """The value of a store of known candidates."""
        form, (steps, rows) = self.form, self._cells
        ids = self._union.candidates(store)
        chosen = [self._place[id] for id in ids]
        worth: Counter[str] = Counter()
        for unit, level in self._levels(chosen).items():
            worth[self._kind[form.unit_ids[unit]]] += form.levels[unit].low(level)
        amounts: Counter[str] = Counter()
        for id in ids:
            for name, amount in rows[id]:
                amounts[name] += amount
        covered: Counter[str] = Counter()
        for name, amount in amounts.items():
            covered[self._kind[name]] += min(steps, amount)
        candidate = self.package.candidate
        value = Fraction(sum(worth.values()), form.value_scale)
        return StoreValue(
            value=value,
            highest=Fraction(form.low(chosen), form.value_scale) if self.package.is_open else value,
            assumed=assumed_share(self.package, ids),
            cost=self.cost(store),
            kinds=dict(sorted(Counter(candidate[id].kind for id in ids).items())),
            unit_values={k: Fraction(v, form.value_scale) for k, v in sorted(worth.items())},
            unit_coverage={k: Fraction(v, steps) for k, v in sorted(covered.items())},
        )

    def by_unit(self, store: Sequence[str]) -> dict[str, Enclosure]:
        """The value of each covered unit; a point unless its h is irrational."""
        form = self.form
        levels = self._levels([self._place[id] for id in self._union.candidates(store)])
        return {
            form.unit_ids[unit]: Enclosure(
                Fraction(form.levels[unit].low(level), form.value_scale),
                Fraction(form.levels[unit].value(level), form.value_scale),
            )
            for unit, level in levels.items()
        }


Basis = Literal["package", "union", "common union"]

NOT_CERTIFIED = "optimum not certified"
NOT_JUDGED = "some cells are not judged"
OPTIMUM_IS_ZERO = "optimum is 0"


def bound_text(optimum: Optimum) -> str:
    """How far an optimum is known that is not certified, in words."""
    low, high = f"{float(optimum.value):.7g}", f"{float(optimum.bound):.7g}"
    if not optimum.gap:
        return f"is {low} by its bound, but its certificate is not finished"
    return f"is not certified, it lies between {low} and {high}"


@dataclass(frozen=True, slots=True, repr=False)
class Ratio:
    """Undefined where the optimum is 0 or not certified: counted, never taken as 0 or 1.

    `highest` is what the numerator may be at most, where it is itself an optimum that is not
    certified, or where nobody judged some of its cells.
    """

    numerator: Fraction
    optimum: Optimum
    basis: Basis = "package"
    highest: Fraction | None = None
    why_open: str = NOT_CERTIFIED
    """Why the numerator is not known, where `highest` is given."""

    def __repr__(self) -> str:
        known = self.undefined if self.value is None else f"{float(self.value):.4f}"
        return f"Ratio({known}, over OPT of the {self.basis}, {self.optimum.status})"

    @property
    def undefined(self) -> str:
        """Why there is no ratio; empty where there is one."""
        if not self.optimum.certified:
            return NOT_CERTIFIED
        if self.highest is not None:
            return self.why_open
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
        if self.undefined not in (NOT_CERTIFIED, NOT_JUDGED) or not self.optimum.value:
            return None
        most = self.numerator if self.highest is None else self.highest
        high = most / self.optimum.value
        if self.basis != "package":  # the numerator is of a store that OPT is taken over
            high = min(high, Fraction(1))
        return self.numerator / self.optimum.bound, high


BEST = "best subset"
"""What is kept if the best choice of a store's memories is made: a bound on every policy."""


@dataclass(frozen=True, slots=True)
class KeptStore:
    """What is kept of a store within the budget: everything, or what a policy keeps."""

    by: str
    """EVERYTHING_FITS, a policy, or BEST."""
    ids: tuple[str, ...]
    """Memories that are kept; a document that is kept whole as its entries."""
    worth: StoreValue
    ratio: Ratio
    """Over OPT of the common union."""
    package_ratio: Ratio
    """Over OPT of the package alone: above 1 where a store says things better than any candidate
    of the package."""
    union_ratio: Ratio
    """Over OPT of the package and this store."""


@dataclass(frozen=True, slots=True)
class StoreNumbers:
    """Every number of one store at one budget. The ratio of `kept` is the score."""

    store: str
    budget: Fraction
    asked: str
    """The budget as it was asked for: a cost, a share of the conversation, or own."""
    memories: int
    duplicates: int
    """Memories that repeat the text of another one."""
    duplicate_cost: Fraction
    written: StoreValue
    """The whole store, whatever it costs."""
    kept: KeptStore
    best: KeptStore
    best_optimum: Optimum
    policies: tuple[KeptStore, ...]
    """What every policy that the store allows would keep."""

    @property
    def fits(self) -> bool:
        return self.kept.by == EVERYTHING_FITS


class _Problem:
    """A package to solve, each budget once, and what its stores are worth."""

    def __init__(self, union: Union, group_cap: int | None, seconds: float | None) -> None:
        self.union, self.package, self._seconds = union, union.package, seconds
        self._solver = PackageSolver(union.package, group_cap)
        self.scorer = Scorer(union.package, self._solver.form, union)
        self._optima: dict[Fraction, Optimum] = {}

    def optimum(self, budget: Fraction) -> Optimum:
        if budget not in self._optima:
            self._optima[budget] = self._solver.solve(budget, seconds=self._seconds)
        return self._optima[budget]

    def units(self, budget: Fraction) -> dict[str, Enclosure]:
        """Per unit, what the optimal store is worth."""
        return self.scorer.by_unit(self.optimum(budget).store)


class StoreScorer:
    """Scores stores of one package. Each union and each store alone is solved once per budget.

    A store is worth what its own memories cover. In a union a memory may share its text with a
    candidate that covers more.
    """

    def __init__(
        self,
        package: Package,
        stores: Sequence[WrittenStore],
        group_cap: int | None = None,
        seconds: float | None = None,
    ) -> None:
        self.package, self.stores, self.seconds = package, tuple(stores), seconds
        names = [store.name for store in self.stores]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise MemAuditError(f"two stores are called {twice[0]!r}; rename one: NAME=PATH")
        self.group_cap = group_cap
        self._problems: dict[str, _Problem] = {}

    def _problem(self, name: str, make: Callable[[], Union]) -> _Problem:
        if name not in self._problems:
            self._problems[name] = _Problem(make(), self.group_cap, self.seconds)
        return self._problems[name]

    @property
    def _common(self) -> _Problem:
        return self._problem("common", lambda: union_of(self.package, self.stores))

    def _with(self, store: WrittenStore) -> _Problem:
        if len(self.stores) == 1:
            return self._common
        return self._problem(f"with {store.name}", lambda: union_of(self.package, [store]))

    def _alone(self, store: WrittenStore) -> _Problem:
        return self._problem(f"alone {store.name}", lambda: store_alone(self.package, store))

    @property
    def common(self) -> Package:
        """The package with the memories of all stores."""
        return self._common.package

    def alone(self, store: WrittenStore) -> Package:
        """The package with the memories of one store as its only candidates."""
        return self._alone(store).package

    def package_optimum(self, budget: Fraction) -> Optimum:
        """OPT of the package alone."""
        return self._problem("package", lambda: Union(self.package, {}, {})).optimum(budget)

    def common_optimum(self, budget: Fraction) -> Optimum:
        """OPT of the package and all stores together."""
        return self._common.optimum(budget)

    def union_optimum(self, store: WrittenStore, budget: Fraction) -> Optimum:
        """OPT of the package and one store."""
        return self._with(store).optimum(budget)

    def upper_optimum(self, store: WrittenStore, budget: Fraction) -> Optimum:
        """The best that fits of what the store holds: an exact bound on every pruning policy."""
        return self._alone(store).optimum(budget)

    def written_optimum(self, store: WrittenStore, budget: Fraction) -> Optimum:
        """OPT of the package and one store where no unit counts for more than the whole store
        covers it: what could be kept of what was written, in the best words."""
        return self._as_written(store, budget).optimum(budget)

    def _as_written(self, store: WrittenStore, budget: Fraction) -> _Problem:
        union, alone = self._with(store), self._alone(store)
        if union.optimum(budget).value == alone.optimum(budget).value:
            return alone  # it lies between the two
        written = self._problem(
            f"written {store.name}",
            lambda: Union(only_as_written(union.union, alone.union, store), {}, {}),
        )
        # Files that share a text cover its units once each, the whole store only once.
        found, least = written.optimum(budget), alone.optimum(budget)
        return alone if found.certified and found.value < least.value else written

    def stages(self, store: WrittenStore, budget: Fraction) -> list[dict[str, Enclosure]]:
        """Per unit, what the optima are worth from the common union down to the store alone."""
        problems = (
            self._common,
            self._with(store),
            self._as_written(store, budget),
            self._alone(store),
        )
        return [problem.units(budget) for problem in problems]

    def unit_values(self, store: WrittenStore, kept: Sequence[str]) -> dict[str, Enclosure]:
        """Per unit, what some memories of a store are worth."""
        return self._alone(store).scorer.by_unit(store.choice(kept))

    def part(self, store: WrittenStore, kept: Sequence[str]) -> StoreValue:
        """The value of some memories of a store."""
        return self._alone(store).scorer.worth(store.choice(kept))

    def numbers(
        self,
        store: WrittenStore,
        budget: Fraction,
        policy: Policy | None = None,
        asked: str = "",
    ) -> StoreNumbers:
        """All numbers of a store at a budget."""
        kept = self._kept(keep_within(store, budget, policy), store, budget)
        repeated = store.duplicates
        return StoreNumbers(
            store=store.name,
            budget=budget,
            asked=asked or str(plain(budget)),
            memories=len(store.memories),
            duplicates=len(repeated),
            duplicate_cost=sum((memory.cost for memory in repeated), Fraction(0)),
            written=replace(self.part(store, store.candidate_ids), cost=store.cost),
            kept=kept,
            best=self._best(store, budget),
            best_optimum=self.upper_optimum(store, budget),
            policies=tuple(
                self._kept(StoreWithinBudget(prune(store, budget, name), name), store, budget)
                for name in usable_policies(store)
            ),
        )

    def score(self, store: WrittenStore, budget: Fraction, policy: Policy | None = None) -> Ratio:
        """What a store keeps within the budget, over OPT of the common union."""
        worth = self._worth(keep_within(store, budget, policy), store)
        return self._ratio(budget, worth.value, _open(worth), NOT_JUDGED)

    def _worth(self, kept: StoreWithinBudget, store: WrittenStore) -> StoreValue:
        chosen = set(kept.ids)
        ids = [memory.id for memory in store.memories if store.candidate_id(memory) in chosen]
        # A document that is kept whole costs what it costs.
        cost = store.cost if kept.policy is None else store.cost_of(ids)
        return replace(self.part(store, kept.ids), cost=cost)

    def _kept(self, kept: StoreWithinBudget, store: WrittenStore, budget: Fraction) -> KeptStore:
        worth = self._worth(kept, store)
        ratios = self._ratios(store, budget, worth.value, _open(worth), NOT_JUDGED)
        return KeptStore(kept.policy or EVERYTHING_FITS, kept.ids, worth, *ratios)

    def _best(self, store: WrittenStore, budget: Fraction) -> KeptStore:
        optimum = self.upper_optimum(store, budget)
        worth = self.part(store, optimum.store)
        highest, why_open = None if optimum.certified else optimum.bound, NOT_CERTIFIED
        if highest is None and worth.highest > worth.value:
            highest, why_open = worth.highest, NOT_JUDGED
        ratios = self._ratios(store, budget, worth.value, highest, why_open)
        return KeptStore(BEST, store.memories_of(optimum.store), worth, *ratios)

    def _ratios(
        self,
        store: WrittenStore,
        budget: Fraction,
        value: Fraction,
        highest: Fraction | None,
        why_open: str,
    ) -> tuple[Ratio, Ratio, Ratio]:
        """Over OPT of the common union, of the package, and of the package and the store."""
        return (
            self._ratio(budget, value, highest, why_open),
            Ratio(value, self.package_optimum(budget), "package", highest, why_open),
            Ratio(value, self.union_optimum(store, budget), "union", highest, why_open),
        )

    def _ratio(
        self, budget: Fraction, value: Fraction, highest: Fraction | None, why_open: str
    ) -> Ratio:
        """Of a part of the common optimum: at most 1."""
        optimum = self.common_optimum(budget)
        most = None if highest is None else min(highest, optimum.value)
        return Ratio(value, optimum, "common union", most, why_open)


def _open(worth: StoreValue) -> Fraction | None:
    """What it may be worth at most, while some cells are not judged."""
    return worth.highest if worth.highest > worth.value else None

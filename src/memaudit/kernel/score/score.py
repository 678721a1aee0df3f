"""The score of a store, and every number that stands beside it.

The score is what the store keeps within the budget, over OPT of the common union. Five optima at
one budget explain it. Four form a chain from the best that anybody could keep down to what this
store keeps, and each step is a loss (losses.py names them, loss_diagnosis.py measures them):

    common union      the package's candidates and the memories of all stores
        | generation      only another store says it, or says it in fewer words
    union             the package's candidates and the memories of this store
        | extraction      the store never wrote it
    union as written  the same, where no unit counts for more than the whole store covers it
        | cost            written, but in words too long for the budget
    store alone       the memories of this store and nothing else
        | selection       a better choice of its own memories was there
    kept              what fits, or what a policy keeps: no optimum, but a value

    package           the package's candidates alone: no link of the chain. A store may say things
                      in fewer words than any candidate, so a ratio over it may be above 1.

Why every step is at least 0: from one line to the next, candidates or credit are taken away and
nothing is added, so whatever is feasible below is feasible above for at least as much. In the
union as written the whole store is such a bound, unless entries of files share a text; see
`_as_written`. docs/scoring.md calls OPT of the union as written M.

In a union every memory is a group of its own, so a group cap binds the package's candidates alone:
a store is not limited to what writers of the package were. Memories with equal texts become one
candidate where the package has equal texts once, with the larger of their cells. That is why a
store is valued by its own memories alone: in a union, a text may cover more than the store's judge
gave it. Definition 3 of the paper has the union with one store.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import Enclosure, plain, total
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.core_and_rest import CoreAndRest, core_and_rest
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.score.pruning import (
    EVERYTHING_FITS,
    SHUFFLES,
    CutStore,
    Policy,
    keep_within,
    prune,
    random_cuts,
    usable_policies,
)
from memaudit.kernel.score.store_value import StoreValue, StoreValuer
from memaudit.kernel.score.unions import Union, only_as_written, store_alone, union_of
from memaudit.kernel.solvers.solve import PackageSolver

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
class PolicyResult:
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
    kept: PolicyResult
    best: PolicyResult
    best_optimum: Optimum
    policies: tuple[PolicyResult, ...]
    """What every policy that the store allows would keep."""

    @property
    def fits(self) -> bool:
        return self.kept.by == EVERYTHING_FITS


class _Problem:
    """One line of the chain: a package that is solved once per budget, and what stores are worth
    to it."""

    def __init__(
        self,
        union: Union,
        group_cap: int | None,
        seconds: float | None,
        threads: int | None,
    ) -> None:
        self.union, self.package = union, union.package
        self._seconds, self._threads = seconds, threads
        self._solver = PackageSolver(union.package, group_cap)
        self.valuer = StoreValuer(union.package, self._solver.form, union)
        self._optima: dict[Fraction, Optimum] = {}

    def optimum(self, budget: Fraction) -> Optimum:
        if budget not in self._optima:
            self._optima[budget] = self._solver.solve(
                budget, seconds=self._seconds, threads=self._threads
            )
        return self._optima[budget]

    def units(self, budget: Fraction) -> dict[str, Enclosure]:
        """Per unit, what the optimal store is worth."""
        return self.valuer.by_unit(self.optimum(budget).store)


class StoreScorer:
    """Scores stores of one package and of each other.

    Every line of the chain is built when it is first asked for and solved once per budget: scores,
    ratios, losses and intervals ask for the same optima again and again.

    `stores` are judged, with names of their own. `group_cap` replaces the package's; None keeps it.
    `seconds` is the time limit of one solve, None for none: what is not proven by then is a bound.
    `additive`: two halves of a unit make it whole, as in the paper; see core_and_rest.py.
    """

    def __init__(
        self,
        package: Package,
        stores: Sequence[JudgedStore],
        group_cap: int | None = None,
        seconds: float | None = None,
        threads: int | None = None,
        additive: bool = False,
    ) -> None:
        self.package, self.stores = package, tuple(stores)
        self._units = CoreAndRest(package, frozenset()) if additive else core_and_rest(package)
        self.group_cap, self.seconds, self.threads = group_cap, seconds, threads
        names = [store.name for store in self.stores]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise MemAuditError(f"two stores are called {twice[0]!r}; rename one: NAME=PATH")
        self._problems: dict[tuple[str, str], _Problem] = {}

    def _problem(self, line: str, make: Callable[[], Union], store: str = "") -> _Problem:
        if (line, store) not in self._problems:
            self._problems[line, store] = _Problem(
                make(), self.group_cap, self.seconds, self.threads
            )
        return self._problems[line, store]

    # The lines of the chain, from the top.

    @property
    def _common(self) -> _Problem:
        return self._problem("common union", lambda: self._union_of(*self.stores))

    def _union(self, store: JudgedStore) -> _Problem:
        if len(self.stores) == 1:
            return self._common  # the same candidates: nothing to solve twice
        return self._problem("union", lambda: self._union_of(store), store.name)

    def _union_of(self, *stores: JudgedStore) -> Union:
        return union_of(self._units.package, list(map(self._units.store, stores)))

    def _as_written(self, store: JudgedStore, budget: Fraction) -> _Problem:
        """OPT of the union as written, between those of the union and of the store alone (with one
        exception, below). Where these two agree it needs no solve, and no unit changes hands
        between the lines."""
        union, alone = self._union(store), self._alone(store)
        if union.optimum(budget).value == alone.optimum(budget).value:
            return alone
        written = self._problem(
            "union as written",
            lambda: Union(only_as_written(union.union, alone.union, store), {}, {}),
            store.name,
        )
        # The one exception to the order of the chain: where two files share a text, each file kept
        # whole has its units, while the whole store counts the text once. Then the bound that the
        # whole store sets is below what its files reach, and the store alone stands for both lines.
        optimum, least = written.optimum(budget), alone.optimum(budget)
        return alone if optimum.certified and optimum.value < least.value else written

    def _alone(self, store: JudgedStore) -> _Problem:
        units = self._units
        return self._problem(
            "store alone", lambda: store_alone(units.package, units.store(store)), store.name
        )

    @property
    def common(self) -> Package:
        """The package with the memories of all stores."""
        return self._common.package

    def alone(self, store: JudgedStore) -> Package:
        """The package with the memories of one store as its only candidates."""
        return self._alone(store).package

    def package_optimum(self, budget: Fraction) -> Optimum:
        """OPT of the package alone."""
        package = self._units.package
        return self._problem("package", lambda: Union(package, {}, {})).optimum(budget)

    def common_optimum(self, budget: Fraction) -> Optimum:
        """OPT of the package and all stores together."""
        return self._common.optimum(budget)

    def union_optimum(self, store: JudgedStore, budget: Fraction) -> Optimum:
        """OPT of the package and one store."""
        return self._union(store).optimum(budget)

    def as_written_optimum(self, store: JudgedStore, budget: Fraction) -> Optimum:
        """M: what could be kept of what the store wrote, in the best words."""
        return self._as_written(store, budget).optimum(budget)

    def alone_optimum(self, store: JudgedStore, budget: Fraction) -> Optimum:
        """The best that fits of what the store holds: an exact bound on every pruning policy."""
        return self._alone(store).optimum(budget)

    def stages(self, store: JudgedStore, budget: Fraction) -> list[dict[str, Enclosure]]:
        """Per unit, what the optima of the chain are worth, from the common union down."""
        chain = (
            self._common,
            self._union(store),
            self._as_written(store, budget),
            self._alone(store),
        )
        return [self._units.together(problem.units(budget)) for problem in chain]

    def unit_values(self, store: JudgedStore, ids: Sequence[str]) -> dict[str, Enclosure]:
        """Per unit, what some memories of a store are worth."""
        return self._units.together(self._alone(store).valuer.by_unit(store.choice(ids)))

    def worth(self, store: JudgedStore, ids: Sequence[str]) -> StoreValue:
        """The value of some memories of a store, named as candidates."""
        return self._alone(store).valuer.worth(store.choice(ids))

    def complete(self, store: JudgedStore) -> Ratio:
        """What a whole store says of all that could be said: its value over OPT without a budget,
        with the caps of the package."""
        return self._whole(store, total(candidate.cost for candidate in self.common.candidates))

    def for_its_size(self, store: JudgedStore) -> Ratio:
        """The value of a whole store over OPT of what it costs."""
        return self._whole(store, store.cost)

    def _whole(self, store: JudgedStore, budget: Fraction) -> Ratio:
        worth = self.worth(store, store.candidate_ids)
        return self._over_common(budget, worth.value, _highest(worth), NOT_JUDGED)

    def numbers(
        self,
        store: JudgedStore,
        budget: Fraction,
        policy: Policy | None = None,
        asked: str = "",
    ) -> StoreNumbers:
        """All numbers of a store at a budget.

        `policy` cuts the store if it does not fit; None for the first default that it allows.
        `asked` is the budget as it was asked for; empty for the cost itself.
        """
        # Each is paid for; whether it counts again is up to the package (equal_texts_once).
        repeated = store.duplicates
        return StoreNumbers(
            store=store.name,
            budget=budget,
            asked=asked or str(plain(budget)),
            memories=len(store.memories),
            duplicates=len(repeated),
            duplicate_cost=sum((memory.cost for memory in repeated), Fraction(0)),
            written=replace(self.worth(store, store.candidate_ids), cost=store.cost),
            kept=self._result_of_cut(keep_within(store, budget, policy), store, budget),
            best=self._best(store, budget),
            best_optimum=self.alone_optimum(store, budget),
            policies=tuple(
                self._result_of_cut(CutStore(prune(store, budget, name), name), store, budget)
                for name in usable_policies(store)
            ),
        )

    def random_cut(
        self, store: JudgedStore, budget: Fraction, shuffles: int = SHUFFLES
    ) -> Ratio | None:
        """The mean score if the store took its memories in random order: what a policy must beat.

        Of a store that fits it is the score. None where nobody judged some cells."""
        alone = self._alone(store)
        if alone.package.is_open:
            return None
        values = [
            alone.valuer.value(store.choice(ids)) for ids in random_cuts(store, budget, shuffles)
        ]
        return self._over_common(budget, total(values) / len(values), None, NOT_JUDGED)

    def score(self, store: JudgedStore, budget: Fraction, policy: Policy | None = None) -> Ratio:
        """What a store keeps within the budget, over OPT of the common union: the score alone, for
        the many draws of an interval."""
        worth = self._worth_of_cut(keep_within(store, budget, policy), store)
        return self._over_common(budget, worth.value, _highest(worth), NOT_JUDGED)

    def _worth_of_cut(self, cut: CutStore, store: JudgedStore) -> StoreValue:
        chosen = set(cut.ids)
        ids = [memory.id for memory in store.memories if store.candidate_id(memory) in chosen]
        # A store that fits is kept as its files are, which may cost more than their entries do
        # together; of a store that is cut, a file that is kept whole costs the cheaper of the two.
        cost = store.cost if cut.policy is None else store.cost_of(ids)
        return replace(self.worth(store, cut.ids), cost=cost)

    def _result_of_cut(self, cut: CutStore, store: JudgedStore, budget: Fraction) -> PolicyResult:
        worth = self._worth_of_cut(cut, store)
        ratios = self._ratios(store, budget, worth.value, _highest(worth), NOT_JUDGED)
        return PolicyResult(cut.policy or EVERYTHING_FITS, cut.ids, worth, *ratios)

    def _best(self, store: JudgedStore, budget: Fraction) -> PolicyResult:
        optimum = self.alone_optimum(store, budget)
        worth = self.worth(store, optimum.store)
        highest, why_open = None if optimum.certified else optimum.bound, NOT_CERTIFIED
        if highest is None:
            highest, why_open = _highest(worth), NOT_JUDGED
        ratios = self._ratios(store, budget, worth.value, highest, why_open)
        return PolicyResult(BEST, store.memories_of(optimum.store), worth, *ratios)

    def _ratios(
        self,
        store: JudgedStore,
        budget: Fraction,
        value: Fraction,
        highest: Fraction | None,
        why_open: str,
    ) -> tuple[Ratio, Ratio, Ratio]:
        """Over OPT of the common union, of the package, and of the package and the store."""
        return (
            self._over_common(budget, value, highest, why_open),
            Ratio(value, self.package_optimum(budget), "package", highest, why_open),
            Ratio(value, self.union_optimum(store, budget), "union", highest, why_open),
        )

    def _over_common(
        self, budget: Fraction, value: Fraction, highest: Fraction | None, why_open: str
    ) -> Ratio:
        """Over OPT of the common union, which holds the store: no numerator lies above it."""
        optimum = self.common_optimum(budget)
        most = None if highest is None else min(highest, optimum.value)
        return Ratio(value, optimum, "common union", most, why_open)


def _highest(worth: StoreValue) -> Fraction | None:
    """What it may be worth at most, while some cells are not judged; None where all are."""
    return worth.highest if worth.highest > worth.value else None

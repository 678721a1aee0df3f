"""What a store is as it stands, without a budget: how complete, how lean, how true.

    complete  F(Y) / OPT(no budget): the share of everything that could be said which the store says
    lean      b* / c(Y): the words that the same value needs, over the words that the store spends
    true      how many of its memories are false: a count, and no rank

The first two are over the common union. b* is the least budget at which OPT of the union reaches
F(Y). Two things prove it: a store of that cost that is worth as much, and a certificate that one
step less cannot be. A step is the largest number of which every cost of the union is a multiple.

Complete grows when a store says more and falls when it loses something, whatever it costs. Lean
alone says nothing: a store of one good sentence is lean. So it never stands without complete.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from memaudit.kernel.number_text import fixed, percent, short_number
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.score.score import NOT_CERTIFIED, NOT_JUDGED, Ratio, StoreScorer
from memaudit.kernel.score.truth import Falsehoods, Truths
from memaudit.kernel.words.text import visible_text

WORTH_NOTHING = "the store is worth nothing"
COSTS_NOTHING = "the store costs nothing"


@dataclass(frozen=True, slots=True)
class LeastBudget:
    """b*, the least that a store of the common union costs that is worth as much."""

    low: Fraction
    """No cheaper store is worth as much, by the certificate of `below`."""
    high: Fraction
    """What `store` costs, which is worth as much; `low` where every optimum is certified."""
    store: tuple[str, ...]
    below: Optimum | None
    """OPT one step below `low`; None where nothing is cheaper than that."""

    @property
    def exact(self) -> Fraction | None:
        """b*; None where it is known to lie between `low` and `high` only."""
        return self.low if self.low == self.high else None


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """How complete, lean and true a store is."""

    store: str
    memories: int
    cost: Fraction
    measure: str
    """What costs are counted in."""
    complete: Ratio
    """F(Y) over OPT of the common union without a budget."""
    least: LeastBudget | None
    """None where lean is undefined."""
    falsehoods: Falsehoods | None = None
    """Its false memories; None where nobody measured that."""
    for_its_size: Ratio | None = None
    """F(Y) over OPT of what the store costs. A store of one good sentence has 1 here, so it ranks
    nobody; None where it was not asked for."""
    complete_interval: tuple[float, float] | None = None
    """Where complete lies given the error of an offline judge."""
    lean_interval: tuple[float, float] | None = None

    def __repr__(self) -> str:
        return f"{visible_text(self.store)} {self.sentence}"

    @property
    def sentence(self) -> str:
        """What a person would say of the store, without its name."""
        ratio = self.complete
        if ratio.undefined and ratio.between is None:
            return f"has no share of what could be said: {ratio.undefined}"
        said = f"says {share_text(ratio.value, ratio.between, self.complete_interval)}"
        said = f"{said} of everything that could be said"
        if self.least is None or self.lean_between is None:
            return f"{said}; lean is undefined: {self.not_lean}"
        spent = short_number(self.cost)
        if self.lean is None:
            low, high = map(short_number, (self.least.low, self.least.high))
            return f"{said}; the same fits in {low} to {high} of {spent} {self.measure}"
        fits = f"the same fits in {short_number(self.least.high)} of {spent} {self.measure}"
        return f"{said}, in {self.times_text} times the {self.measure} it needs: {fits}"

    @property
    def times_text(self) -> str:
        """`2.6`, or what the judge's error leaves open: `2.1 to 3.4`."""
        if not self.lean or self.lean_interval is None:
            return fixed(self.times, 1)
        most, least = (1 / end if end else math.inf for end in self.lean_interval)
        few, many = fixed(least, 1), fixed(most, 1)
        return few if few == many else f"{few} to {many}"

    @property
    def is_wasteful(self) -> bool:
        """Whether half of what it spends, or less, would say as much."""
        return self.lean_between is not None and self.lean_between[1] < Fraction(1, 2)

    @property
    def times(self) -> Fraction | None:
        """How many times the words that its value needs the store spends."""
        return 1 / self.lean if self.lean else None

    @property
    def lean(self) -> Fraction | None:
        """b* / c(Y); None where it is undefined or not certified."""
        return None if self.lean_between is None or self.not_lean else self.lean_between[0]

    @property
    def lean_between(self) -> tuple[Fraction, Fraction] | None:
        """What lean lies between; None where it is undefined."""
        if self.least is None:
            return None
        return self.least.low / self.cost, self.least.high / self.cost

    @property
    def not_lean(self) -> str:
        """Why there is no lean; empty where there is one."""
        if self.least is not None:
            return "" if self.least.exact is not None else NOT_CERTIFIED
        if not self.cost:
            return COSTS_NOTHING
        return NOT_JUDGED if self.complete.highest is not None else WORTH_NOTHING


def share_text(
    value: Fraction | None,
    between: tuple[Fraction, Fraction] | None,
    interval: tuple[float, float] | None = None,
) -> str:
    """A share in percent, with the interval of the judge's error, or what it lies between."""
    if value is None:
        return "-" if between is None else f"{percent(between[0])} to {percent(between[1])}"
    if interval is None:
        return percent(value)
    return f"{percent(value)} (between {percent(interval[0])} and {percent(interval[1])})"


def verdict(
    scorer: StoreScorer,
    store: JudgedStore,
    truths: Truths | None = None,
    precision: Fraction = Fraction(0),
) -> Verdict:
    """The verdict on one of the stores that are scored together.

    `truths` say which texts are false; None where nobody said. `precision` is a share of the
    store's cost: b* is searched until it is known so far.
    """
    complete = scorer.complete(store)
    least = None
    if store.cost and complete.numerator and complete.highest is None:
        least = least_budget(
            scorer.common_optimum,
            scorer.common,
            complete.numerator,
            (store.cost_of([memory.id for memory in store.memories]), store.candidate_ids),
            precision * store.cost,
        )
    return Verdict(
        store=store.name,
        memories=len(store.memories),
        cost=store.cost,
        measure=measure_of(scorer.package),
        complete=complete,
        least=least,
        falsehoods=None if truths is None else truths.falsehoods(store, scorer.package),
        for_its_size=None if precision else scorer.for_its_size(store),
    )


def measure_of(package: Package) -> str:
    """What the costs of a package are counted in."""
    rule = package.cost_rule.partition(":")[0]
    return rule if rule in ("words", "bytes", "tokens") else "units of cost"


def cost_step(package: Package) -> Fraction:
    """The largest number of which every cost is a multiple; 1 where all costs are 0."""
    costs = [candidate.cost for candidate in package.candidates]
    scale = lcm(1, *(cost.denominator for cost in costs))
    return Fraction(gcd(0, *(int(cost * scale) for cost in costs)), scale) or Fraction(1)


def least_budget(
    optimum: Callable[[Fraction], Optimum],
    union: Package,
    worth: Fraction,
    known: tuple[Fraction, tuple[str, ...]],
    precision: Fraction = Fraction(0),
) -> LeastBudget:
    """The least budget at which the optimum of a union reaches `worth`, which is above 0.

    `optimum` solves the union at a budget. `known` is the cost of a store of the union that is
    worth as much, and that store.
    """
    step = cost_step(union)
    high, best = known
    # In steps. First the cheapest store that is found: none is at `below`, one is at `reached`.
    below, reached = -1, _steps(high, step)
    while reached - below > 1 and (reached - below) * step > precision:
        solved = optimum((below + reached) // 2 * step)
        if solved.value >= worth:
            # An optimal store may cost less than the budget it was found under.
            high, best = solved.cost, solved.store
            reached = _steps(high, step)
        else:
            below = (below + reached) // 2
    # Then what is proven: nothing at `low` is worth as much, `open` is not excluded. Where every
    # optimum is certified, that is known of `below` already, and this solves nothing.
    low, open, place = -1, below + 1, below
    excluded: Optimum | None = None
    while open - low > 1:
        solved = optimum(place * step)
        if solved.bound < worth:
            low, excluded = place, solved
        else:
            open = place
        place = (low + open) // 2
    return LeastBudget((low + 1) * step, high, tuple(best), excluded)


def _steps(cost: Fraction, step: Fraction) -> int:
    return -int(-cost // step)

"""The smallest store that loses nothing: the least budget whose optimum is worth as much.

OPT of a store's own memories rises with the budget. The least budget B* with OPT(B*) = F(store) is
found by bisection. The certificate at B* shows the store, the one just below it that nothing
cheaper keeps as much. The same is done for shares of F(store).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm
from pathlib import Path

from memaudit.kernel.io.atomic import make_folder
from memaudit.kernel.io.certificates import write_certificates
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.optimum import Certificate, Optimum
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.score.unions import store_alone
from memaudit.kernel.solvers.solve import PackageSolver

SHARES = (Fraction(1), Fraction(99, 100), Fraction(95, 100), Fraction(90, 100))


@dataclass(frozen=True, slots=True)
class SmallestStore:
    """The cheapest part of a store that keeps a share of its value."""

    share: Fraction
    value: Fraction
    """What it is worth: at least the share of the whole store's value."""
    cost: Fraction
    memories: tuple[str, ...]
    """Ids of memories; a document that is kept whole as its entries."""
    at_least: Fraction
    """Nothing cheaper than this keeps as much. It is `cost` where that is proven."""
    proof: tuple[Certificate, ...]
    """OPT at the cost, and at the next lower cost, where OPT is worth less."""

    @property
    def certified(self) -> bool:
        return self.at_least == self.cost


@dataclass(frozen=True, slots=True)
class SmallestStores:
    """For every share, the smallest store; and the package of the store alone, to check proofs."""

    package: Package
    value: Fraction
    """F of the whole store."""
    cost: Fraction
    stores: tuple[SmallestStore, ...]

    @property
    def nothing_lost(self) -> SmallestStore:
        return self.stores[0]


class _Budgets:
    """OPT of the store alone, each budget once."""

    def __init__(self, package: Package, seconds: float | None) -> None:
        self._solver = PackageSolver(package)
        self._seconds = seconds
        self.found: dict[Fraction, Optimum] = {}

    def optimum(self, budget: Fraction) -> Optimum:
        if budget not in self.found:
            self.found[budget] = self._solver.solve(budget, seconds=self._seconds)
        return self.found[budget]


def smallest_stores(
    package: Package,
    store: JudgedStore,
    seconds: float | None = None,
    fixed: Fraction = Fraction(0),
    shares: Sequence[Fraction] = SHARES,
    progress: Callable[[str], None] | None = None,
) -> SmallestStores:
    """The cheapest parts of a store that keep all of its value, and shares of it.

    `fixed` is what stays in any case; it is in the costs and not in the budgets of the proofs.
    """
    alone = store_alone(package, store).package
    budgets = _Budgets(alone, seconds)
    # With documents whole or as entries, whichever covers more: both cost at most this.
    everything = max(store.cost, sum((memory.cost for memory in store.memories), Fraction(0)))
    # OPT of this budget is the value of the whole store: everything fits.
    best = budgets.optimum(everything)
    step = _step(alone)
    stores = []
    for share in shares:
        if progress is not None:
            progress(f"{float(share):.0%} of the value")
        found = _smallest(budgets, store, share, best.value * share, step)
        stores.append(replace(found, cost=found.cost + fixed, at_least=found.at_least + fixed))
    return SmallestStores(alone, best.value, store.cost + fixed, tuple(stores))


def _step(package: Package) -> Fraction:
    """Costs of stores are multiples of this."""
    costs = [candidate.cost for candidate in package.candidates if candidate.cost]
    below = lcm(*(cost.denominator for cost in costs)) if costs else 1
    return Fraction(gcd(*(int(cost * below) for cost in costs)) or 1, below)


def _smallest(
    budgets: _Budgets, store: JudgedStore, share: Fraction, target: Fraction, step: Fraction
) -> SmallestStore:
    """Bisection between a budget whose optimum is worth less and one whose optimum is enough."""
    enough = min(
        (optimum for optimum in budgets.found.values() if optimum.value >= target),
        key=lambda optimum: optimum.cost,
    )
    less = max(
        (budget for budget, optimum in budgets.found.items() if optimum.bound < target),
        default=-step,
    )
    # Always OPT(less) < target <= OPT(enough), by a bound and by a store that was found. Where they
    # are one step apart, no store between them exists, since costs are multiples of the step.
    while enough.cost - less > step:
        # At least a step above `less`, and on the grid, so that each round excludes a budget.
        middle = less + step * max(1, (enough.cost - less) // (2 * step))
        found = budgets.optimum(middle)
        if found.value >= target:
            enough = found
        elif found.bound < target:
            less = middle
        else:
            break  # out of time: it lies between the two
    at_cost = budgets.optimum(enough.cost)
    if at_cost.value >= enough.value:  # else it ran out of time
        enough = at_cost
    below = budgets.found.get(less)
    proof = [
        optimum.certificate
        for optimum in (at_cost, below)
        if optimum is not None and optimum.certificate
    ]
    prefix = len(store.candidate_id(""))
    kept = tuple(id[prefix:] for id in store.memories_of(enough.store))
    return SmallestStore(share, enough.value, enough.cost, kept, less + step, tuple(proof))


PROVEN_PACKAGE, PROOFS = "package.json", "certificates.json"


def write_proof(found: SmallestStores, folder: Path) -> None:
    """The store as a package and all certificates, for `memaudit verify`."""
    make_folder(folder)
    proofs = {proof.budget: proof for store in found.stores for proof in store.proof}
    write_package(found.package, folder / PROVEN_PACKAGE)
    write_certificates([proofs[budget] for budget in sorted(proofs)], folder / PROOFS)

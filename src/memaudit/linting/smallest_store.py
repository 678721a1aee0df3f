"""The smallest store that loses nothing: the least budget whose optimum is worth as much.

OPT of a store's own memories rises with the budget. The least budget B* with OPT(B*) = F(store) is
found by bisection. The certificate at B* shows the store, the one just below it that nothing
cheaper keeps as much. The same is done for shares of F(store).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from memaudit.kernel.io.atomic import make_folder
from memaudit.kernel.io.certificates import write_certificates
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.optimum import Certificate, Optimum
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.score.score import StoreScorer
from memaudit.kernel.score.verdict import least_budget

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
    scorer = StoreScorer(package, [store], seconds=seconds)
    # With documents whole or as entries, whichever covers more: both cost at most this.
    everything = max(store.cost, sum((memory.cost for memory in store.memories), Fraction(0)))
    # OPT of this budget is the value of the whole store: everything fits.
    best = scorer.alone_optimum(store, everything)
    stores = []
    for share in shares:
        if progress is not None:
            progress(f"{float(share):.0%} of the value")
        found = _smallest(scorer, store, share, best)
        stores.append(replace(found, cost=found.cost + fixed, at_least=found.at_least + fixed))
    return SmallestStores(scorer.alone(store), best.value, store.cost + fixed, tuple(stores))


def _smallest(
    scorer: StoreScorer, store: JudgedStore, share: Fraction, best: Optimum
) -> SmallestStore:
    def optimum(budget: Fraction) -> Optimum:
        return scorer.alone_optimum(store, budget)

    known = (best.cost, best.store)
    least = least_budget(optimum, scorer.alone(store), best.value * share, known)
    at_cost = optimum(least.high)
    proof = [solved.certificate for solved in (at_cost, least.below) if solved is not None]
    prefix = len(store.candidate_id(""))
    # Of several stores of that cost the one whose value is proven, where it is.
    chosen = at_cost.store if at_cost.value >= best.value * share else least.store
    return SmallestStore(
        share=share,
        value=scorer.worth(store, chosen).value,
        cost=least.high,
        memories=tuple(id[prefix:] for id in store.memories_of(chosen)),
        at_least=least.low,
        proof=tuple(certificate for certificate in proof if certificate is not None),
    )


PROVEN_PACKAGE, PROOFS = "package.json", "certificates.json"


def write_proof(found: SmallestStores, folder: Path) -> None:
    """The store as a package and all certificates, for `memaudit verify`."""
    make_folder(folder)
    proofs = {proof.budget: proof for store in found.stores for proof in store.proof}
    write_package(found.package, folder / PROVEN_PACKAGE)
    write_certificates([proofs[budget] for budget in sorted(proofs)], folder / PROOFS)

"""Brute force: tries every feasible store. The reference for all other backends."""

from itertools import combinations, product
from math import comb

from memaudit.kernel.solvers.form import Form
from memaudit.kernel.solvers.protocol import Limits, Solution

MOST_STORES = 2_000_000


class BruteForce:
    """Enumerates every choice of at most k candidates per group."""

    name = "brute"

    def accepts(self, form: Form) -> str:
        stores = 1
        for group in form.groups:
            most = min(form.group_cap, len(group))
            stores *= sum(comb(len(group), size) for size in range(most + 1))
            if stores > MOST_STORES:
                return f"more than {MOST_STORES:,} stores to try; brute force is for tiny packages"
        return ""

    def solve(self, form: Form, limits: Limits, hint: tuple[int, ...] = ()) -> Solution:
        best, best_value, tried = hint, form.value(hint), 0
        options = [list(_choices(group, form.group_cap)) for group in form.groups]
        for choice in product(*options):
            if tried % 1024 == 0 and limits.expired:
                return Solution(best, best_value, None, closed=False, statistics={"nodes": tried})
            tried += 1
            store = tuple(candidate for part in choice for candidate in part)
            if sum(form.cost[candidate] for candidate in store) > form.budget:
                continue
            value = form.value(store)
            if value > best_value:
                best, best_value = store, value
        return Solution(best, best_value, best_value, closed=True, statistics={"nodes": tried})


def _choices(group: tuple[int, ...], cap: int) -> list[tuple[int, ...]]:
    return [
        choice for size in range(min(cap, len(group)) + 1) for choice in combinations(group, size)
    ]

"""Tie-breaking: which of several stores of equal value comes back, fixed by the package alone.

- Candidates are decided in canonical order: the stream order of their experience, then their id.
- Of two equal candidates of a group, only the first in canonical order is considered.
- A solver replaces its best store only by one that is strictly better. Among options of equal
  density it takes the first (`Tree.densest`, `small_search`, the kernels in compiled/primal.py).
- Candidates that add nothing are removed from the store at the end, the most expensive first.

Two solvers may still return different stores of the same value. The compiled search applies the
second rule in `small.useful`, and the checker, which shares no code with the solvers, in its own
way. docs/solvers.md states the rules for users.
"""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from memaudit.kernel.package.package import Candidate, Package

if TYPE_CHECKING:
    from memaudit.kernel.solvers.form import Form


def canonical_order(package: Package) -> list[Candidate]:
    """The candidates by the stream order of their experience, then by id."""
    position = {experience.id: experience.index for experience in package.experiences}
    return sorted(package.candidates, key=lambda c: (position[c.experience], c.id))


def undominated(form: "Form") -> list[int]:
    """Affordable candidates that cover something; at cap 1, none that its group can better.

    The certificate checker starts from the same set, so proofs may leave the others out. In a
    branch of a proof that was done before.
    """
    rows = [{unit: min(z, form.levels[unit].top) for unit, z in row} for row in form.rows]
    able = [[u for u in group if rows[u] and form.cost[u] <= form.budget] for group in form.groups]
    if form.group_cap > 1 or form.root_grain is not None:
        return [u for group in able for u in group]
    kept: set[int] = set()
    for group in able:
        # Whatever can replace a candidate comes before it, and of equals the first.
        ordered = sorted(group, key=lambda u: (form.cost[u], -sum(rows[u].values()), u))
        better = {u: (1 << at) - 1 for at, u in enumerate(ordered)}  # places, as bits
        levels: dict[int, list[tuple[int, int, int]]] = {}
        for at, u in enumerate(ordered):
            for unit, z in rows[u].items():
                levels.setdefault(unit, []).append((-z, at, u))
        for holders in levels.values():
            # From the highest level down: `at_least` holds the places of all that cover this unit
            # no less. A candidate keeps those that do so on each of its units. Sets of places are
            # the bits of one number, so groups of thousands need no comparison of all pairs.
            at_least = 0
            for _, same in groupby(sorted(holders), key=itemgetter(0)):
                alike = list(same)
                for _, at, _ in alike:
                    at_least |= 1 << at
                for _, _, u in alike:
                    better[u] &= at_least
        kept.update(u for u in ordered if not better[u])
    return [u for group in able for u in group if u in kept]


def without_waste(form: "Form", chosen: Sequence[int]) -> tuple[int, ...]:
    """The store less the candidates that add nothing: the most expensive first, then the last."""
    kept, amounts = set(chosen), form.cover(chosen)
    # The dearest first, so that the store that is left costs as little as this can give.
    for candidate in sorted(kept, key=lambda c: (-form.cost[c], -c)):
        row = form.rows[candidate]
        values = [(form.levels[unit].value, amounts[unit], amount) for unit, amount in row]
        # h never falls, so a store's value stays only where every unit's value stays.
        if all(value(covered - amount) == value(covered) for value, covered, amount in values):
            kept.remove(candidate)
            for unit, amount in row:
                amounts[unit] -= amount
    return tuple(sorted(kept))

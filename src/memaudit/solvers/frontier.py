"""`frontier`: OPT(B) for every whole budget up to a largest one."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.core.objective import assumed_share
from memaudit.core.package import Package
from memaudit.solvers.auto import Auto
from memaudit.solvers.fast import SMALL
from memaudit.solvers.form import Form, check_budget, integer_form
from memaudit.solvers.packed import pack
from memaudit.solvers.parts import solve_with_parts
from memaudit.solvers.protocol import Limits
from memaudit.solvers.tie_breaking import without_waste

COMPONENTS = "components"
BUDGET_BY_BUDGET = "budget by budget"
MOST_BUDGETS = 10_000_000
PATIENCE = 10
"""Blocks may be this many times as large as in a single solve: one pass gives all budgets."""

Progress = Callable[[int, int], None]
"""Called with the budgets done and the budgets in all."""


@dataclass(frozen=True, slots=True)
class Frontier:
    """`values[B]` is OPT(B), exact in integers; `solve` certifies any single point of it.

    Where some h is irrational the values are the upper ends of their enclosures.
    """

    package: str
    digest: str
    group_cap: int
    values: tuple[Fraction, ...]
    method: str
    assumed: Fraction = Fraction(0)
    """Of all that the candidates are worth together, the share that rests on assumed cells."""

    def steps(self) -> list[tuple[int, Fraction]]:
        """The budgets at which OPT rises, with its value from there on."""
        return [
            (budget, value)
            for budget, value in enumerate(self.values)
            if budget == 0 or value > self.values[budget - 1]
        ]


def frontier(
    package: Package,
    max_budget: Any,
    group_cap: int | None = None,
    progress: Progress | None = None,
) -> Frontier:
    """OPT(B) for B = 0, 1, ... up to `max_budget`.

    Where the package splits into small components, one dynamic programme gives all budgets.
    Otherwise every budget at which the optimum changes is solved, from the largest down.
    """
    if package.is_open:
        raise MemAuditError(
            f"{package.name!r} has cells that nobody judged, so its frontier is not known; "
            "memaudit solve gives the interval at a budget"
        )
    cap = package.group_cap if group_cap is None else group_cap
    largest = exact(max_budget)
    check_budget(largest, cap)
    if largest > MOST_BUDGETS:
        raise MemAuditError(f"a frontier of more than {MOST_BUDGETS:,} budgets is not computed")
    last = int(largest)
    form = integer_form(package).at(Fraction(last), cap)
    scaled, method = _components(form), COMPONENTS
    if scaled is None:
        scaled, method = _one_by_one(form, last, progress), BUDGET_BY_BUDGET
    values = tuple(Fraction(value, form.value_scale) for value in scaled)
    assumed = assumed_share(package, package.candidate)
    return Frontier(package.name, digest(package), cap, values, method, assumed)


def _components(form: Form) -> list[int] | None:
    """All budgets by one programme; None if components are too large or candidates have parts."""
    packed = pack(form) if len(form.cost) > SMALL else None
    if packed is None or form.parts or form.group_cap != 1 or form.budget > MOST_BUDGETS:
        return None
    import numpy as np

    from memaudit.solvers.compiled.block_frontier import component_frontier
    from memaudit.solvers.compiled.kernel_cache import ensure_compiled
    from memaudit.solvers.compiled.layout import choose_layout
    from memaudit.solvers.compiled.problem import prepare
    from memaudit.solvers.compiled.types import seal
    from memaudit.solvers.packed import SCALE

    ensure_compiled("large")
    core = prepare(packed, SCALE, np.zeros(len(form.levels), np.int64)).core
    if not len(core.cost):
        return [0] * (form.budget // form.cost_scale + 1)
    layout = choose_layout(core, patience=PATIENCE).layout
    if layout.dense or not layout.inside.all():
        return None
    best = component_frontier(seal(core), seal(layout), form.budget)
    return best[:: form.cost_scale].tolist() if len(best) else None


def _one_by_one(form: Form, last: int, progress: Progress | None) -> list[int]:
    """Solve the largest budget, then the largest one its store does not fit, and so on."""
    values = [0] * (last + 1)
    budget = last
    while budget >= 0:
        solution = solve_with_parts(Auto(), form.at(Fraction(budget), form.group_cap), Limits())
        if not solution.closed:
            raise MemAuditError(f"frontier stopped at budget {budget}: its optimum is not proven")
        chosen = without_waste(form, solution.chosen)
        cost = Fraction(sum(form.cost[u] for u in chosen), form.cost_scale)
        lowest = -(-cost.numerator // cost.denominator)
        for fits in range(lowest, budget + 1):
            values[fits] = solution.value
        budget = lowest - 1
        if progress is not None:
            progress(last - budget, last + 1)
    return values

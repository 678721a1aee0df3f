"""`frontier`: OPT(B) for every whole budget up to a largest one.

Budgets are worked on in parts, the same ones whatever the number of threads.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.notebook import html_text, step_line
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.objective import assumed_share
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.fast import SMALL
from memaudit.kernel.solvers.form import Form, check_budget, integer_form
from memaudit.kernel.solvers.packed import FINE, SCALE, Packed, clean, pack
from memaudit.kernel.solvers.parts import solve_with_parts
from memaudit.kernel.solvers.protocol import Limits
from memaudit.kernel.solvers.registry import Auto
from memaudit.kernel.solvers.solve import STOP, usual_threads
from memaudit.kernel.solvers.tie_breaking import without_waste
from memaudit.kernel.words.text import counted

if TYPE_CHECKING:
    from memaudit.kernel.solvers.compiled.problem import OpenProblem

COMPONENTS = "components"
SWEEP = "one linear programme"
BUDGET_BY_BUDGET = "budget by budget"
MOST_BUDGETS = 10_000_000
PATIENCE = 10
"""Blocks may be this many times as large as in a single solve: one pass gives all budgets."""

TOGETHER = 50
"""Budgets of a part."""

MOST_NODES = 4000
"""Of a budget in a sweep, before it is solved on its own."""

Progress = Callable[[int, int], None]
"""Called with the budgets done and the budgets in all."""


@dataclass(frozen=True, slots=True)
class Part:
    """The optima of some budgets: where they rise, the value from there on, and a store of it.

    Values and candidates are numbers of the package's integer form.
    """

    first: int
    last: int
    steps: tuple[tuple[int, int, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True, repr=False)
class Frontier:
    """`values[B]` is OPT(B), exact in integers; `solve` certifies any single point of it.

    Where some h is irrational the values are the upper ends of their enclosures. `stores` has a
    best store for each budget at which OPT rises, and is empty for the method "components".
    """

    package: str
    digest: str
    group_cap: int
    values: tuple[Fraction, ...]
    method: str
    assumed: Fraction = Fraction(0)
    """Of all that the candidates are worth together, the share that rests on assumed cells."""
    stores: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def __repr__(self) -> str:
        steps = counted(len(self.steps()), "step")
        return (
            f"Frontier({self.package!r}, budgets 0 to {len(self.values) - 1:,}, {steps} up to "
            f"{float(self.values[-1]):g})"
        )

    def _repr_html_(self) -> str:
        points = [(float(budget), float(value)) for budget, value in self.steps()]
        points.append((float(len(self.values) - 1), float(self.values[-1])))
        return html_text(repr(self)) + step_line(points, "budget", "OPT")

    def store_at(self, budget: int) -> tuple[str, ...]:
        """A best store of a budget; nothing for the method "components"."""
        return self.stores.get(max((b for b in self.stores if b <= budget), default=-1), ())

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
    *,
    threads: int | None = None,
    known: Sequence[Part] = (),
    keep: Callable[[Part], None] | None = None,
) -> Frontier:
    """OPT(B) for B = 0, 1, ... up to `max_budget`.

    Where the package splits into small components, one dynamic programme gives all budgets. Where
    units have at most two coverage levels, the budget of a linear programme is lowered step by
    step. Otherwise every budget at which the optimum changes is solved.

    `keep` gets every part when it is done; given back as `known`, it is not computed again.
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
    scaled, method, stores = _components(form), COMPONENTS, dict[int, tuple[str, ...]]()
    if scaled is None:
        solver = _sweeper(form) or _OneByOne(form)
        method = solver.method
        parts = list(_parts(solver, last, usual_threads(threads), known, keep, progress))
        scaled, stores = _joined(form, parts, last)
    values = tuple(Fraction(value, form.value_scale) for value in scaled)
    assumed = assumed_share(package, package.candidate)
    return Frontier(package.name, digest(package), cap, values, method, assumed, stores)


def _components(form: Form) -> list[int] | None:
    """All budgets by one programme; None if components are too large or candidates have parts."""
    packed = pack(form) if len(form.cost) > SMALL else None
    if packed is None or form.parts or form.group_cap != 1 or form.budget > MOST_BUDGETS:
        return None
    import numpy as np

    from memaudit.kernel.solvers.compiled.blocks import choose_layout
    from memaudit.kernel.solvers.compiled.frontiers import component_frontier
    from memaudit.kernel.solvers.compiled.kernel_cache import ensure_compiled
    from memaudit.kernel.solvers.compiled.problem import prepare
    from memaudit.kernel.solvers.compiled.types import seal

    ensure_compiled("large")
    core = prepare(packed, SCALE, np.zeros(len(form.levels), np.int64)).core
    if not len(core.cost):
        return [0] * (form.budget // form.cost_scale + 1)
    layout = choose_layout(core, patience=PATIENCE).layout
    # A group between blocks would tie their budgets together: blocks could not be merged.
    if layout.dense or not layout.inside.all():
        return None
    best = component_frontier(seal(core), seal(layout), form.budget)
    return best[:: form.cost_scale].tolist() if len(best) else None


def _parts(
    solver: "_Sweep | _OneByOne",
    last: int,
    threads: int,
    known: Sequence[Part],
    keep: Callable[[Part], None] | None,
    progress: Progress | None,
) -> Iterator[Part]:
    """The last budget and those that its store reaches down to; then all below, part by part."""
    earlier = {(part.first, part.last): part for part in known}

    def done(part: Part) -> Part:
        if keep is not None and (part.first, part.last) not in earlier:
            keep(part)
        return part

    def solve(end: int) -> Part:
        first = max(0, end - TOGETHER + 1)
        return earlier.get((first, end)) or solver.solve(first, end)

    tops = [part for part in known if part.last == last]
    top = done(tops[0] if tops else solver.solve(last, last))
    # The same parts whatever is known already, or those that were kept would not fit.
    lasts = range(top.first - 1, -1, -TOGETHER)
    if progress is not None:
        progress(last + 1 - top.first, last + 1)
    yield top
    # Parts depend on no other part, so they may be solved at the same time and kept one by one.
    pool = ThreadPoolExecutor(threads)
    try:
        for part in pool.map(solve, lasts):
            yield done(part)
            if progress is not None:
                progress(last + 1 - part.first, last + 1)
    finally:
        pool.shutdown(cancel_futures=True)


def _joined(
    form: Form, parts: Iterable[Part], last: int
) -> tuple[list[int], dict[int, tuple[str, ...]]]:
    """The value of every budget, and the stores of those at which it rises."""
    values, stores = [0] * (last + 1), dict[int, tuple[str, ...]]()
    for part in parts:
        ends = [start for start, _, _ in part.steps[1:]] + [part.last + 1]
        for (start, value, store), end in zip(part.steps, ends, strict=True):
            values[start:end] = [value] * (end - start)
            stores[start] = tuple(sorted(form.candidate_ids[u] for u in store))
    # Parts begin with a step of their own that need not be a rise.
    rises = [b for b in sorted(stores) if b == 0 or values[b] > values[b - 1]]
    return values, {budget: stores[budget] for budget in rises}


class _OneByOne:
    """Solves the last budget of a part, then the largest one its store does not fit, and so on."""

    method = BUDGET_BY_BUDGET

    def __init__(self, form: Form) -> None:
        self.form = form

    def solve(self, first: int, last: int) -> Part:
        form, budget = self.form, last
        steps: list[tuple[int, int, tuple[int, ...]]] = []
        while budget >= first:
            limits = Limits(stop=STOP)
            solution = solve_with_parts(Auto(), form.at(Fraction(budget), form.group_cap), limits)
            if not solution.closed:
                raise _not_proven(budget, limits)
            chosen = without_waste(form, solution.chosen)
            # The store fits every budget from its cost on, and OPT never rises with less budget
            # than that: down to there OPT is the same, so these budgets need no solve.
            lowest = -(-sum(form.cost[u] for u in chosen) // form.cost_scale)
            # A part of one budget (the last) may reach below itself; others end at their first.
            lowest = min(first, lowest) if first == last else max(first, lowest)
            steps.append((lowest, solution.value, chosen))
            budget = lowest - 1
        return Part(steps[-1][0], last, tuple(reversed(steps)))


def _sweeper(form: Form) -> "_Sweep | None":
    """The sweep of a linear programme, where it can be done."""
    packed = pack(form) if len(form.cost) > SMALL and not form.parts and form.rational else None
    if packed is None:
        return None
    import numpy as np

    from memaudit.kernel.solvers.compiled.hull import fits, has_hulls
    from memaudit.kernel.solvers.compiled.kernel_cache import ensure_compiled
    from memaudit.kernel.solvers.compiled.problem import prepare

    ensure_compiled("large")
    packed = clean(packed)
    scale, slack = FINE if packed.has_room else SCALE, np.zeros(len(form.levels), np.int64)
    if not has_hulls(packed, slack):
        return None
    state = prepare(packed, scale, slack, across=True)
    return _Sweep(form, packed, state) if fits(state.core) and len(state.core.cost) else None


class _Sweep:
    """Lowers the budget of a linear programme (compiled/frontiers.py)."""

    method = SWEEP

    def __init__(self, form: Form, packed: Packed, state: "OpenProblem") -> None:
        self.form, self.groups, self.state = form, packed.group, state

    def solve(self, first: int, last: int) -> Part:
        """By sweeps; a budget that one cannot settle is solved on its own."""
        from memaudit.kernel.solvers.compiled.frontiers import Point, sweep

        form, best, end = self.form, dict[int, Point](), last
        while end >= first:
            budgets = [budget * form.cost_scale for budget in range(first, end + 1)]
            limits = Limits(nodes=MOST_NODES, stop=STOP)
            points = sweep(self.state, budgets, self.groups, limits)
            end -= len(points)
            best.update(enumerate(points, start=end + 1))
            # The sweep's trees are limited; a single budget is solved with everything there is.
            if end >= first:
                if limits.expired:
                    raise KeyboardInterrupt
                part = _OneByOne(form).solve(end, end)
                ((_, value, store),) = part.steps
                lowest = max(first, part.first)
                best.update(dict.fromkeys(range(lowest, end + 1), Point(value, store)))
                end = lowest - 1
        if first == last:
            cost = sum(form.cost[u] for u in best[last].store)
            first = -(-cost // form.cost_scale)
            return Part(first, last, ((first, best[last].value, best[last].store),))
        steps = [
            (budget, best[budget].value, best[budget].store)
            for budget in range(first, last + 1)
            if budget == first or best[budget].value > best[budget - 1].value
        ]
        return Part(first, last, tuple(steps))


def _not_proven(budget: int, limits: Limits) -> BaseException:
    if limits.expired:
        return KeyboardInterrupt()
    return MemAuditError(f"frontier stopped at budget {budget}: its optimum is not proven")

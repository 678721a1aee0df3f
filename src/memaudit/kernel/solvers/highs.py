"""HiGHS: the paper's MILP (section 3) at gap 0, in floating point, so never a proof by itself.

Binary x_u per candidate, continuous y_r per unit in [0, 1], one row per segment of the unit's h.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from memaudit.kernel.package.response import Capped, Piecewise
from memaudit.kernel.solvers.form import Form, Level, granularity
from memaudit.kernel.solvers.protocol import Limits, Solution
from memaudit.kernel.solvers.tie_breaking import without_waste

if TYPE_CHECKING:
    import highspy

MOST_LEVELS = 1 << 10
"""An irrational h is cut at each of its coverage levels; with more of them the model is too big."""

LARGEST_NUMBER = 10**6
"""Costs and values above this are scaled down to it: HiGHS's tolerances are absolute."""

Point = tuple[Fraction, Fraction]


class Highs:
    """Mixed-integer programming; every store it returns is evaluated again in integers."""

    name = "highs"

    def accepts(self, form: Form) -> str:
        for unit, level in zip(form.unit_ids, form.levels, strict=True):
            if not level.response.is_rational and level.top > MOST_LEVELS:
                return f"unit {unit!r} has an irrational h on more than {MOST_LEVELS} levels"
        return ""

    def solve(self, form: Form, limits: Limits, hint: tuple[int, ...] = ()) -> Solution:
        hint = hint if form.feasible(hint) else ()
        if not form.rows:
            return Solution((), 0, None, closed=True)
        highs = _start(_model(form), limits)
        if hint:
            kept = set(hint)
            every = range(len(form.rows))
            highs.setSolution(len(every), list(every), [float(c in kept) for c in every])
        highs.run()
        repaired, dropped = _repaired(form, _store(highs, form))
        claimed = highs.modelStatusToString(highs.getModelStatus())
        value = form.value(repaired)
        closed = claimed == "Optimal" and not dropped and value >= form.value(hint)
        best = repaired if value >= form.value(hint) else hint
        statistics: dict[str, int | float | str] = {
            "nodes": max(0, int(highs.getInfo().mip_node_count)),
            "status": claimed,
            "dropped": dropped,
        }
        return Solution(
            without_waste(form, best), form.value(best), None, closed, statistics=statistics
        )


@dataclass(slots=True)
class _Model:
    """A maximisation: columns with 0 <= value <= upper, rows with sum <= limit."""

    objective: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    binaries: int = 0
    limits: list[float] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])
    columns: list[int] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)

    def column(self, objective: float, upper: float) -> int:
        """Add a column and return its number."""
        self.objective.append(objective)
        self.upper.append(upper)
        return len(self.upper) - 1

    def row(self, entries: list[tuple[int, float]], limit: float) -> None:
        """Add the row sum(number * column) <= limit."""
        self.limits.append(limit)
        self.columns += [column for column, _ in entries]
        self.numbers += [number for _, number in entries]
        self.starts.append(len(self.columns))


def _model(form: Form) -> _Model:
    model = _Model()
    for cost in form.cost:
        model.column(0.0, float(cost <= form.budget))
    model.binaries = len(form.cost)
    # Absolute tolerances of 1e-9 mean nothing to costs of 1e12, so large numbers are scaled down.
    scale = _shrink(max(form.cost), 1)
    model.row(
        [(c, float(cost * scale)) for c, cost in enumerate(form.cost) if 0 < cost <= form.budget],
        float(form.budget * scale),
    )
    for group in form.groups:
        if len(group) > form.group_cap:
            model.row([(c, 1.0) for c in group], float(form.group_cap))
    _add_units(form, model)
    return model


def _add_units(form: Form, model: _Model) -> None:
    """Per unit the share y of its highest value, bounded by every segment of h."""
    entries: list[list[tuple[int, int]]] = [[] for _ in form.levels]
    for candidate, row in enumerate(form.rows):
        for unit, amount in row:
            entries[unit].append((candidate, amount))
    corners = [_corners(level) for level in form.levels]
    highest = max((points[-1][1] for points in corners), default=Fraction(0))
    scale = _shrink(highest, granularity(form))
    for points, covering in zip(corners, entries, strict=True):
        most = points[-1][1]
        if not covering or not most:
            continue
        share = model.column(float(most * scale), 1.0)
        for slope, rest in _segments(points):
            below = [(c, -float(slope * amount / most)) for c, amount in covering]
            model.row([*below, (share, 1.0)], float(rest / most))


def _shrink(largest: Fraction | int, step: int) -> Fraction:
    """A factor that makes multiples of `step` whole, or scales `largest` down to LARGEST_NUMBER."""
    if largest <= LARGEST_NUMBER * step:
        return Fraction(1, step)
    return LARGEST_NUMBER / Fraction(largest)


def _corners(level: Level) -> list[Point]:
    """The corners of the unit's concave value after (0, 0), in levels and scaled values."""
    if isinstance(level.response, Capped):
        points = [(level.response.cap, level.response.cap)]
    elif isinstance(level.response, Piecewise):
        points = list(level.response.points)
    else:
        return _envelope(level)
    corners = [
        (x * level.steps - level.base, y * level.factor - level.base_value)
        for x, y in points
        if x * level.steps > level.base
    ]
    return corners or [(Fraction(0), Fraction(0))]


def _envelope(level: Level) -> list[Point]:
    """The upper concave envelope of a rounded table: rounding up may dent it by a grid step."""
    hull: list[Point] = [(Fraction(0), Fraction(0))]
    for amount in range(1, level.top + 1):
        point = (Fraction(amount), Fraction(level.value(amount)))
        # The usual scan for an upper hull: a point goes while it lies below the line past it.
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) <= _slope(hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull[1:] or hull


def _slope(left: Point, right: Point) -> Fraction:
    return (right[1] - left[1]) / (right[0] - left[0])


def _segments(corners: list[Point]) -> list[Point]:
    """Slope and intercept of each rising segment from (0, 0) through the corners."""
    slopes = [
        (_slope(left, right), left)
        for left, right in pairwise([(Fraction(0), Fraction(0)), *corners])
    ]
    return [(slope, y - slope * x) for slope, (x, y) in slopes if slope > 0]


def _start(model: _Model, limits: Limits) -> "highspy.Highs":
    """HiGHS with the model loaded, silent, with gaps of 0 and tight tolerances."""
    import highspy

    options: dict[str, bool | int | float | str] = {
        "output_flag": False,
        "parallel": "off",
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.0,
        "mip_feasibility_tolerance": 1e-9,
        "primal_feasibility_tolerance": 1e-9,
        "dual_feasibility_tolerance": 1e-9,
    }
    if limits.left is not None:
        options["time_limit"] = limits.left
    if limits.nodes is not None:
        options["mip_max_nodes"] = limits.nodes
    highs = highspy.Highs()  # type: ignore[no-untyped-call] # highspy leaves it unannotated
    for name, setting in options.items():
        highs.setOptionValue(name, setting)
    highs.passModel(_linear_program(model))
    return highs


def _linear_program(model: _Model) -> "highspy.HighsLp":
    """The model in HiGHS's own structure, rows first."""
    import highspy

    # Rows, not columns: the model is built row by row. Variables after the binaries are shares of
    # units, which h makes concave, so they need no integrality.
    lp = highspy.HighsLp()
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.num_col_ = len(model.upper)
    lp.num_row_ = len(model.limits)
    lp.col_cost_ = model.objective
    lp.col_lower_ = [0.0] * lp.num_col_
    lp.col_upper_ = model.upper
    lp.row_lower_ = [-highspy.kHighsInf] * lp.num_row_
    lp.row_upper_ = model.limits
    kinds = highspy.HighsVarType
    lp.integrality_ = [
        kinds.kInteger if column < model.binaries else kinds.kContinuous
        for column in range(lp.num_col_)
    ]
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = model.starts
    lp.a_matrix_.index_ = model.columns
    lp.a_matrix_.value_ = model.numbers
    return lp


def _store(highs: "highspy.Highs", form: Form) -> list[int]:
    """The candidates HiGHS keeps; none where it has no store."""
    values = list(highs.getSolution().col_value)[: len(form.rows)]
    return [candidate for candidate, value in enumerate(values) if value > 0.5]


def _repaired(form: Form, store: list[int]) -> tuple[tuple[int, ...], int]:
    """The store without what makes it infeasible in integers, and how many candidates that were."""
    kept = list(store)
    while not form.feasible(kept):
        # Rounded at 1e-9 a store may break the budget by a hair. Drop what costs least value.
        kept.remove(max(kept, key=lambda c: form.value([o for o in kept if o != c])))
    return tuple(kept), len(store) - len(kept)

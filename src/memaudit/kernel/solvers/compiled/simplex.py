"""A bounded dual simplex on a dense tableau: the engine that finds prices (hull.py).

    maximise the sum of y   subject to   row . (x, y) <= right,   low <= (x, y) <= high

The tableau is condensed: basic = beta - cells * nonbasic, counted from the nonbasic variables'
bounds. Variables are the candidates' x, the units' y, and one slack a row. A row's name is never
used again, and a row whose slack is basic may be dropped. Changed bounds and added rows leave the
basis dual feasible, so one tableau serves a whole search.

Nothing here is trusted: prices are rounded to integers, and what they prove is computed exactly
elsewhere. No `fastmath`: a fresh compile and a cached one would search different trees.
"""

from numba import njit

from memaudit.kernel.solvers.compiled.types import Floats, Ints, Tableau

FEASIBLE = 1e-7
LEAST_PIVOT = 1e-7
NOTHING = 1e-13
"""Smaller cells are rounding errors."""

DENSE = 4
"""A row with one in so many cells filled is treated as full."""

WEIGHTS_UP_TO = 1e6
UNBOUNDED = 1e300
OPTIMAL, BELOW, EMPTY, GIVEN_UP = range(4)
"""How a run of the simplex ends: at the optimum, below the cutoff, infeasible, out of time."""

LOOK_EVERY = 8
"""Pivots after which the value is compared with the cutoff."""


@njit(cache=True)
def bound_of(lp: Tableau, variable: int) -> float:
    """The bound at which a nonbasic variable stands."""
    return lp.high[variable] if lp.at_high[variable] else lp.low[variable]


@njit(cache=True)
def objective(lp: Tableau) -> float:
    """The sum of y."""
    total = 0.0
    for row in range(lp.counts[0]):
        if lp.candidates <= lp.basic[row] < lp.columns:
            total += lp.beta[row]
    for column in range(lp.columns):
        variable = lp.nonbasic[column]
        if lp.candidates <= variable < lp.columns:
            total += bound_of(lp, variable)
    return total


@njit(cache=True)
def _pivot(lp: Tableau, row: int, column: int, to_high: bool) -> None:
    """A row's basic variable leaves to one of its bounds, a column's variable enters."""
    cells, beta, reduced, nonzero = lp.cells, lp.beta, lp.reduced, lp.nonzero
    size = cells[row, column]
    leaves, enters = lp.basic[row], lp.nonbasic[column]
    bound = lp.high[leaves] if to_high else lp.low[leaves]
    # The entering variable moves by what brings the leaving one to its bound.
    move = (beta[row] - bound) / size
    before = bound_of(lp, enters)
    inverse = 1.0 / size
    count = 0
    for k in range(lp.columns):
        cell = cells[row, k]
        if cell == 0.0:
            continue
        # Rounding errors are cleared while they are looked at: rows stay sparse, and a tiny cell
        # never becomes a pivot.
        if abs(cell) < NOTHING:
            cells[row, k] = 0.0
        elif k != column:
            cells[row, k] = cell * inverse
            nonzero[count] = k
            count += 1
    for other in range(lp.counts[0]):
        factor = cells[other, column]
        if other == row or factor == 0.0:
            continue
        if abs(factor) < NOTHING:
            cells[other, column] = 0.0
            continue
        beta[other] -= factor * move
        # In order, and so vectorised: that beats looking up where, even if three cells of four are
        # 0.
        if count * DENSE > lp.columns:  # in order, without looking up where
            for k in range(lp.columns):
                cells[other, k] -= factor * cells[row, k]
        else:
            for at in range(count):
                k = nonzero[at]
                cells[other, k] -= factor * cells[row, k]
        cells[other, column] = -factor * inverse
    factor = reduced[column]
    if factor != 0.0:
        for at in range(count):
            k = nonzero[at]
            reduced[k] -= factor * cells[row, k]
        reduced[column] = -factor * inverse
    cells[row, column] = inverse
    beta[row] = before + move
    lp.basic[row], lp.nonbasic[column] = enters, leaves
    # A row's variable has place -1 - row, a column's its column: one array for both.
    lp.place[enters], lp.place[leaves] = -1 - row, column
    lp.at_high[leaves] = to_high


@njit(cache=True)
def _leaving(lp: Tableau) -> tuple[int, bool]:
    """The row whose variable is farthest outside its bounds by Devex weights, and its side."""
    best, row, to_high = 0.0, -1, False
    for i in range(lp.counts[0]):
        variable, value = lp.basic[i], lp.beta[i]
        gap, above = lp.low[variable] - value, False
        if value - lp.high[variable] > gap:
            gap, above = value - lp.high[variable], True
        # Compared without a division in the common case. Without Devex weights a root took 1,700
        # pivots instead of 400.
        if gap > FEASIBLE and gap * gap > best * lp.weight[i]:
            best, row, to_high = gap * gap / lp.weight[i], i, above
    return row, to_high


@njit(cache=True)
def _entering(lp: Tableau, row: int, to_high: bool) -> int:
    """The column that keeps the basis dual feasible; -1 where there is none.

    While the row stays outside its bounds, columns on the way go to their other bound instead.
    """
    cells, reduced = lp.cells, lp.reduced
    variable = lp.basic[row]
    slope = lp.low[variable] - lp.beta[row]
    sign = 1.0
    if to_high:
        slope, sign = lp.beta[row] - lp.high[variable], -1.0
    while True:
        best, least, size = -1, UNBOUNDED, 0.0
        for column in range(lp.columns):
            cell = cells[row, column] * sign
            k = lp.nonbasic[column]
            # Fixed variables may have any reduced value, so they never limit the step.
            if lp.high[k] - lp.low[k] < 1e-12:
                continue
            # Only columns that move the row towards its bound, each in the one direction it has.
            if (cell <= LEAST_PIVOT) if lp.at_high[k] else (cell >= -LEAST_PIVOT):
                continue
            # Of nearly equal ratios the largest pivot: it is the most exact, and ties are frequent
            # here.
            ratio = max(0.0, reduced[column] / cell)
            if ratio < least - 1e-10 or (ratio < least + 1e-10 and abs(cell) > size):
                best, least, size = column, ratio, abs(cell)
        if best < 0:
            return -1
        k = lp.nonbasic[best]
        # Flipping x or y to its other bound may not yet bring the row inside. Then the dual goes on
        # rising beyond this ratio, and a pivot is saved: most x have a range of 1, so this is
        # frequent.
        fall = size * (lp.high[k] - lp.low[k])
        if slope - fall <= 1e-9 or lp.high[k] >= UNBOUNDED:
            return best
        _flip(lp, best)
        slope -= fall


@njit(cache=True)
def _flip(lp: Tableau, column: int) -> None:
    """Put a nonbasic variable on its other bound."""
    k = lp.nonbasic[column]
    before = bound_of(lp, k)
    lp.at_high[k] = not lp.at_high[k]
    _shift(lp, column, bound_of(lp, k) - before)


@njit(cache=True)
def _shift(lp: Tableau, column: int, move: float) -> None:
    """A nonbasic variable moves, and the basic ones with it."""
    if move != 0.0:
        for row in range(lp.counts[0]):
            lp.beta[row] -= lp.cells[row, column] * move


@njit(cache=True)
def _reweigh(lp: Tableau, row: int, column: int) -> None:
    """Devex weights of the rows, before a pivot."""
    weight, size = lp.weight, lp.cells[row, column]
    own = weight[row]
    for other in range(lp.counts[0]):
        factor = lp.cells[other, column] / size
        # The reference weights of Devex: a lower bound on how long the row of the inverse has
        # become. A row counts as far outside relative to that.
        if other != row and factor * factor * own > weight[other]:
            weight[other] = factor * factor * own
    weight[row] = max(own / (size * size), 1.0)
    # Weights only grow; far from the framework they began with they say nothing, so it begins anew.
    if own > WEIGHTS_UP_TO:
        for other in range(lp.counts[0]):
            weight[other] = 1.0


@njit(cache=True)
def dual_simplex(lp: Tableau, cutoff: float, most_pivots: int) -> int:
    """Restore feasibility; ends early once the value is below the cutoff."""
    for pivots in range(most_pivots):
        row, to_high = _leaving(lp)
        if row < 0:
            return OPTIMAL
        if pivots % LOOK_EVERY == LOOK_EVERY - 1:
            if lp.stop[0]:
                return GIVEN_UP
            # Along a dual simplex the value only falls, so it can stop as soon as it is below the
            # cutoff. Asked every few pivots, because the sum takes time, too.
            if objective(lp) < cutoff:
                return BELOW
        column = _entering(lp, row, to_high)
        if column < 0:
            # No column can bring the row inside: its variable's bound contradicts the others'.
            return EMPTY
        _reweigh(lp, row, column)
        _pivot(lp, row, column, to_high)
        lp.counts[2] += 1
    return GIVEN_UP


@njit(cache=True)
def set_bounds(lp: Tableau, variable: int, low: float, high: float) -> None:
    """New bounds; a nonbasic variable goes to the side that its reduced value wants."""
    column = lp.place[variable]
    if column < 0:
        lp.low[variable], lp.high[variable] = low, high
        return
    before = bound_of(lp, variable)
    lp.low[variable], lp.high[variable] = low, high
    # That keeps the basis dual feasible, so the next run needs no first phase either.
    lp.at_high[variable] = lp.reduced[column] > 0.0
    _shift(lp, column, bound_of(lp, variable) - before)


@njit(cache=True)
def add_row(lp: Tableau, index: Ints, factor: Floats, length: int, right: float) -> int:
    """Append a row, whose slack is basic; returns its name."""
    row, name = lp.counts[0], lp.counts[1]
    cells, left = lp.cells, right
    for k in range(lp.columns):
        cells[row, k] = 0.0
    for at in range(length):
        variable, f = index[at], factor[at]
        column = lp.place[variable]
        if column >= 0:
            cells[row, column] += f
            left -= f * bound_of(lp, variable)
        else:
            # A basic variable is written out by its row, since the tableau holds nonbasic ones
            # only.
            other = -1 - column
            left -= f * lp.beta[other]
            for k in range(lp.columns):
                cells[row, k] -= f * cells[other, k]
    slack = lp.columns + name
    lp.beta[row], lp.basic[row], lp.weight[row] = left, slack, 1.0
    lp.place[slack], lp.low[slack], lp.high[slack] = -1 - row, 0.0, UNBOUNDED
    lp.at_high[slack] = False
    lp.counts[0] += 1
    lp.counts[1] += 1
    return name


@njit(cache=True)
def drop_row(lp: Tableau, row: int) -> None:
    """Remove a row whose slack is basic; the last row takes its place."""
    # A basic slack has a dual of 0: without its row all other duals stay as they are.
    last = lp.counts[0] - 1
    if row != last:
        for k in range(lp.columns):
            lp.cells[row, k] = lp.cells[last, k]
        lp.beta[row], lp.basic[row] = lp.beta[last], lp.basic[last]
        lp.weight[row] = lp.weight[last]
        lp.place[lp.basic[row]] = -1 - row
    lp.counts[0] -= 1

"""The relaxation by the hulls of the units, and prices from its duals.

Where a unit has at most two coverage levels, its value y is bounded by

    y <= H(S) + sum over candidates u outside S of (H(S + u) - H(S)) x_u

for every set S of candidates that cover it, and these cuts are the whole hull of the unit. So a
linear programme with a few rounds of cuts reaches the bound that price ascent approaches slowly. A
unit's price for a candidate is the sum, over its rows, of dual times coefficient; the dual of the
budget is mu. Rounded to integers they are multipliers like any others.
"""

import numpy as np
from numba import njit

from memaudit.kernel.solvers.compiled.simplex import (
    EMPTY,
    OPTIMAL,
    UNBOUNDED,
    add_row,
    bound_of,
    drop_row,
    dual_simplex,
    objective,
)
from memaudit.kernel.solvers.compiled.types import Core, Floats, Ints, Tableau, seal
from memaudit.kernel.solvers.packed import Packed

MOST_NAMES = 20_000
"""Rows that may be added in the life of a tableau."""

MOST_PIVOTS = 20_000
MOST_CELLS = 60_000_000
"""Of a tableau: larger problems are left to price ascent."""

TIE = 1e-5
"""A small cost of every x against ties; exact bounds are taken elsewhere."""

ROUNDS, LEAST = 30, 0.01
"""Rounds of cuts at a root; one that lowers the bound by less does not count as progress."""

VIOLATED = 1e-4
FLAT = 3
"""Rounds of cuts that may bring nothing before they end."""

STARTS = 4
"""Candidates, by x, from which a set for a cut may begin."""


def rows_needed(core: Core) -> int:
    """Rows a tableau has room for: budget, units, groups that may be too full, and cuts."""
    groups = np.count_nonzero(np.diff(core.group_start) > core.room)
    return 51 + 2 * len(core.top) + int(groups)


def has_hulls(packed: Packed, slack: Ints) -> bool:
    """Whether units have at most two levels, so that the cuts are all there is to them."""
    return not slack.any() and int(packed.tops.max(initial=0)) <= 2


def fits(core: Core) -> bool:
    """Whether the tableau of a problem with hulls stays small."""
    return rows_needed(core) * (len(core.cost) + len(core.top)) <= MOST_CELLS


def new_tableau(core: Core, budget: int, stop: Ints) -> Tableau:
    """The programme without cuts: the budget and one row a unit."""
    candidates, units, entries = len(core.cost), len(core.top), len(core.unit)
    columns, rows = candidates + units, rows_needed(core)
    variables = columns + rows + MOST_NAMES
    first = core.table_start[:-1]
    low, high = np.zeros(variables), np.ones(variables)
    # y counts from the value at level 0, and starts at its top: costs are 1, so the basis of slacks
    # is dual feasible from the first pivot on and no first phase is needed.
    high[candidates:columns] = core.table[first + core.top] - core.table[first]
    at_high = np.zeros(variables, np.bool_)
    at_high[candidates:columns] = True
    reduced = np.ones(columns)
    # Without perturbed costs the simplex needed 1,700 pivots instead of 400, or did not end: with x
    # free of cost nearly every basis is dual degenerate. The seed is fixed, so the run is as well.
    reduced[:candidates] = -TIE * (1.0 + np.random.default_rng(1).random(candidates))
    place = np.full(variables, -1, np.int64)
    place[:columns] = np.arange(columns)
    unit_start = np.zeros(units + 1, np.int64)
    np.cumsum(np.bincount(core.unit, minlength=units), out=unit_start[1:])
    tableau = Tableau(
        counts=np.zeros(3, np.int64),
        cells=np.zeros((rows, columns)),
        reduced=reduced,
        beta=np.zeros(rows),
        basic=np.full(rows, -1),
        nonbasic=np.arange(columns),
        place=place,
        low=low,
        high=high,
        at_high=at_high,
        nonzero=np.zeros(columns, np.int64),
        weight=np.ones(rows),
        cut_start=np.zeros(rows + MOST_NAMES + 1, np.int64),
        # Room for 16 cuts of every unit on average; where it is full, no more cuts are added and
        # the bound is a little weaker.
        cut_entry=np.zeros(64 + 16 * entries, np.int64),
        cut_gain=np.zeros(64 + 16 * entries),
        owner=np.repeat(np.arange(candidates), np.diff(core.row_start)),
        unit_start=unit_start,
        unit_entry=np.argsort(core.unit, kind="stable"),
        stop=stop,
        candidates=candidates,
        columns=columns,
    )
    _first_rows(seal(tableau), seal(core), float(budget))
    return tableau


@njit(cache=True)
def move_budget(lp: Tableau, by: float) -> None:
    """Raise the right side of the first row, the budget's."""
    # The name 0 is the budget's slack: raising the right side moves the slack the other way.
    column = lp.place[lp.columns]
    if column < 0:
        lp.beta[-1 - column] += by
        return
    for row in range(lp.counts[0]):
        lp.beta[row] += lp.cells[row, column] * by


@njit(cache=True)
def _first_rows(lp: Tableau, core: Core, budget: float) -> None:
    index, factor = np.empty(lp.columns + 1, np.int64), np.empty(lp.columns + 1)
    for u in range(lp.candidates):
        index[u], factor[u] = u, float(core.cost[u])
    add_row(lp, index, factor, lp.candidates, budget)
    # S empty: y is at most the sum of what each candidate gives alone.
    for r in range(core.top.shape[0]):
        _add_cut(lp, core, r, index, factor, index, 0, 0)


@njit(cache=True)
def _gain(lp: Tableau, core: Core, entry: int, chosen: Ints, count: int, level: int) -> int:
    """What an entry adds to its unit at a level that chosen entries give, or takes a place among
    them: a group keeps one."""
    r, own = core.unit[entry], 0
    for at in range(count):
        # Groups keep one, so an entry of S's own group replaces its member there. That is tighter
        # than adding it, and holds for every store that a cap of 1 allows.
        if core.group[lp.owner[chosen[at]]] == core.group[lp.owner[entry]]:
            own = core.level[chosen[at]]
    at = core.table_start[r]
    high = min(core.top[r], level - own + core.level[entry])
    return core.table[at + high] - core.table[at + level]


@njit(cache=True)
def _add_cut(
    lp: Tableau,
    core: Core,
    r: int,
    index: Ints,
    factor: Floats,
    chosen: Ints,
    count: int,
    level: int,
) -> bool:
    """The row of a unit and a set of entries that gives a level; False where there is no room."""
    begin, end = lp.unit_start[r], lp.unit_start[r + 1]
    filled = lp.cut_start[lp.counts[1]]
    if lp.counts[0] >= lp.cells.shape[0] or lp.counts[1] + 2 >= lp.cut_start.shape[0]:
        return False
    if filled + end - begin > lp.cut_entry.shape[0]:
        return False
    length = 0
    for at in range(begin, end):
        entry = lp.unit_entry[at]
        gain = _gain(lp, core, entry, chosen, count, level)
        # A gain below 0 (a group's smaller member) counts as 0: the cut gets weaker, and stays
        # valid.
        if gain > 0:
            lp.cut_entry[filled], lp.cut_gain[filled] = entry, float(gain)
            filled += 1
            index[length], factor[length] = lp.owner[entry], -float(gain)
            length += 1
    index[length], factor[length] = lp.candidates + r, 1.0
    at = core.table_start[r]
    name = add_row(lp, index, factor, length + 1, float(core.table[at + level] - core.table[at]))
    lp.cut_start[name + 1] = filled
    return True


@njit(cache=True)
def read_values(lp: Tableau, values: Floats) -> None:
    """The values of all x and y."""
    for k in range(lp.columns):
        values[k] = bound_of(lp, k)
    for row in range(lp.counts[0]):
        if lp.basic[row] < lp.columns:
            values[lp.basic[row]] = lp.beta[row]


@njit(cache=True)
def _cut_groups(lp: Tableau, core: Core, values: Floats, index: Ints, factor: Floats) -> int:
    """A row for every group that is chosen beyond its room."""
    added = 0
    for g in range(core.room.shape[0]):
        first, last = core.group_start[g], core.group_start[g + 1]
        if last - first <= core.room[g]:
            continue
        total = 0.0
        for u in range(first, last):
            total += values[u]
        # Group rows are added when they are violated: most never are.
        if total <= core.room[g] + 1e-6 or lp.counts[0] >= lp.cells.shape[0]:
            continue
        if lp.counts[1] + 2 >= lp.cut_start.shape[0]:
            continue
        for u in range(first, last):
            index[u - first], factor[u - first] = u, 1.0
        name = add_row(lp, index, factor, last - first, float(core.room[g]))
        lp.cut_start[name + 1] = lp.cut_start[name]
        added += 1
    return added


@njit(cache=True)
def _by_value(lp: Tableau, values: Floats, r: int, order: Ints) -> int:
    """The entries of a unit that are chosen at least in part, the largest x first."""
    count = 0
    for at in range(lp.unit_start[r], lp.unit_start[r + 1]):
        entry = lp.unit_entry[at]
        x = values[lp.owner[entry]]
        # Entries with x = 0 add nothing to the right side at this point, so S need not hold them.
        if x <= 1e-9:
            continue
        place = count
        while place > 0 and values[lp.owner[order[place - 1]]] < x:
            order[place] = order[place - 1]
            place -= 1
        order[place] = entry
        count += 1
    return count


@njit(cache=True)
def _cut_unit(
    lp: Tableau, core: Core, r: int, values: Floats, order: Ints, index: Ints, factor: Floats
) -> bool:
    """The most violated cut of a unit, if any is: sets of entries in order of x."""
    y = values[lp.candidates + r]
    if y < 1e-9:
        return False
    count = _by_value(lp, values, r, order)
    at = core.table_start[r]
    # Values are concave, so prefixes by x are the sets most violated. Other starts than the largest
    # x are for units that this candidate alone would fill.
    least, best_first, best_size, best_level = y - VIOLATED, -1, 0, 0
    for first in range(min(count, STARTS)):
        level = 0
        for last in range(first, count):
            entry = order[last]
            for other in range(first, last):
                if core.group[lp.owner[order[other]]] == core.group[lp.owner[entry]]:
                    # Two of a group in S: no store has that level, so the set ends here.
                    level = core.top[r]
            level += core.level[entry]
            # At the top nothing is gained outside S: the cut is y <= top, which is a bound already.
            if level >= core.top[r]:
                break
            total = float(core.table[at + level] - core.table[at])
            for other in range(count):
                gain = _gain(lp, core, order[other], order[first:], last - first + 1, level)
                if gain > 0:
                    total += gain * values[lp.owner[order[other]]]
            if total < least:
                least, best_first, best_size, best_level = total, first, last - first + 1, level
    if best_first < 0:
        return False
    return _add_cut(lp, core, r, index, factor, order[best_first:], best_size, best_level)


@njit(cache=True)
def _drop_slack_cuts(lp: Tableau, first_name: int) -> None:
    """Drop the rows added later that do not bind."""
    for row in range(lp.counts[0] - 1, -1, -1):
        # From the last row up, since the row that is dropped takes the last one's content. The
        # first rows (budget and one a unit) stay: their names are counted on.
        if lp.basic[row] >= lp.columns + first_name and lp.beta[row] > 1e-6:
            drop_row(lp, row)


@njit(cache=True, nogil=True)
def bound_by_hulls(
    lp: Tableau, core: Core, values: Floats, cutoff: float, rounds: int, least: float
) -> float:
    """The value with up to `rounds` rounds of cuts, or where it falls below the cutoff.

    Fills in the values of x and y. -UNBOUNDED where nothing is feasible.
    """
    units = core.top.shape[0]
    index, factor = np.empty(lp.columns + 1, np.int64), np.empty(lp.columns + 1)
    order = np.empty(lp.candidates + 1, np.int64)
    before, flat = UNBOUNDED, 0
    for turn in range(rounds + 1):
        state = dual_simplex(lp, cutoff, MOST_PIVOTS)
        if state == EMPTY:
            return -UNBOUNDED
        value = objective(lp)
        read_values(lp, values)
        # The bound may stand still for some rounds and then fall, while many x change (seen where
        # nearly everything is covered); so a few flat rounds are allowed.
        flat = flat + 1 if before - value < least else 0
        if state != OPTIMAL or value < cutoff or turn == rounds or flat > FLAT:
            break
        before = value
        # Every unit may add a row in a round, so that many are kept free.
        if lp.counts[0] > lp.cells.shape[0] - units:
            _drop_slack_cuts(lp, units + 1)
        added = _cut_groups(lp, core, values, index, factor)
        for r in range(units):
            if _cut_unit(lp, core, r, values, order, index, factor):
                added += 1
        if added == 0:
            break
    return value


@njit(cache=True)
def multipliers(lp: Tableau, scale: int, prices: Ints) -> int:
    """The duals as integers of 1/scale: prices by row entry, and mu."""
    real = np.zeros(prices.shape[0])
    mu = 0
    for column in range(lp.columns):
        name = lp.nonbasic[column] - lp.columns
        dual = -lp.reduced[column]
        # Only rows have prices. A row's dual is what the value gains by unit of its right side;
        # below 0 it can only be a rounding error.
        if name < 0 or dual <= 1e-12:
            continue
        if name == 0:
            mu = round(dual * scale)
        for at in range(lp.cut_start[name], lp.cut_start[name + 1]):
            # A unit's price for a candidate: over the unit's rows, dual times coefficient.
            real[lp.cut_entry[at]] += dual * lp.cut_gain[at]
    for entry in range(prices.shape[0]):
        # Rounding is harmless: any integers >= 0 are multipliers, only the bound may get weaker. At
        # 1/1024 some 5,000 prices lost 0.15 to 0.4, more than the next grain; hence packed.FINE.
        prices[entry] = round(real[entry] * scale)
    return mu

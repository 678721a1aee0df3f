"""The group side of the bound: linking groups sell their candidates and pay the budget's price."""

from numba import njit

from memaudit.kernel.solvers.compiled.types import NEVER, Core, Ints, Layout, Work


@njit(cache=True)
def gross_profits(layout: Layout, work: Work, prices: Ints) -> None:
    """What each active candidate of a linking group earns in all blocks together."""
    active, profit, pair_start = work.active, work.profit, layout.pair_start
    for at in range(work.counts[0]):
        u = active[at]
        earned = 0
        for pair in range(pair_start[u], pair_start[u + 1]):
            earned += prices[pair]
        profit[u] = earned


@njit(cache=True)
def at_price(core: Core, layout: Layout, work: Work, mu: int) -> tuple[int, int, int]:
    """The groups' total net profit at budget price mu, from the gross profits in `work.profit`."""
    active, gross, rooms = work.active, work.profit, work.room
    owner, costs, inside = core.group, core.cost, layout.inside
    total, most_cost, least_cost = 0, 0, 0
    at, count = 0, work.counts[0]
    while at < count:
        group = owner[active[at]]
        # Groups inside a block pay mu there, as part of its path.
        if inside[group]:
            while at < count and owner[active[at]] == group:
                at += 1
            continue
        room = rooms[group]
        if room == 1:
            best, high, low = 0, 0, 0
            while at < count and owner[active[at]] == group:
                u = active[at]
                cost = costs[u]
                net = gross[u] - mu * cost
                if net > best:
                    best, high, low = net, cost, cost
                elif net == best:
                    # Ties: the least and the most that the best picks may cost. The budget left
                    # lies between the two at the best mu, and `pick` mixes them.
                    high = max(high, cost)
                    low = min(low, cost)
                at += 1
            total += best
            most_cost += high
            least_cost += low
        else:
            begin = at
            while at < count and owner[active[at]] == group:
                at += 1
            # The sum of the largest `room` profits without sorting: what exceeds the smallest of
            # them, and that smallest for every place. Ties need no care then.
            limit = _nth_net(core, work, begin, at, room, mu)
            for i in range(begin, at):
                u = active[i]
                net = gross[u] - mu * costs[u]
                if net > 0 and net > limit:
                    total += net - limit
                    most_cost += costs[u]
                    least_cost += costs[u]
            if limit > 0:
                total += limit * room
    return total, most_cost, least_cost


@njit(cache=True)
def _nth_net(core: Core, work: Work, begin: int, end: int, nth: int, mu: int) -> int:
    """The nth largest positive net profit among active[begin:end], or 0."""
    if end - begin < nth:
        return 0
    # Room is small, so some passes beat a sort that would need an array.
    last = NEVER
    seen = 0
    while seen < nth:
        top, times = 0, 0
        for i in range(begin, end):
            u = work.active[i]
            net = work.profit[u] - mu * core.cost[u]
            if net < last and net > top:
                top, times = net, 1
            elif net == top and net > 0:
                times += 1
        if times == 0:
            return 0
        seen += times
        last = top
    return last


@njit(cache=True)
def best_mu(core: Core, layout: Layout, work: Work, mu: int, left: int) -> tuple[int, int]:
    """The whole mu that minimises mu * left + the groups' profit (all groups linking).

    The function is convex: from a point on either side, the next try is where the two tangents
    meet.
    """
    low, low_value, low_slope = -1, 0, 0
    high, high_value, high_slope = -1, 0, 0
    best, best_value = -1, 0
    step = max(1, mu >> 6)
    for _ in range(64):
        total, most_cost, least_cost = at_price(core, layout, work, mu)
        value = total + mu * left
        if best < 0 or value < best_value:
            best, best_value = mu, value
        # The slope at mu is budget left minus what is spent. If even the cheapest of tied picks
        # spend more than is left, mu is too low; if even the dearest spend less, too high; else it
        # is best.
        if least_cost > left:
            low, low_value, low_slope = mu, value, left - least_cost
        elif most_cost < left:
            high, high_value, high_slope = mu, value, left - most_cost
        else:
            break
        if low >= 0 and high >= 0:
            # Where the tangents of the two sides meet, kept strictly between them: whole numbers,
            # so the search ends.
            rise = low_value - high_value - low_slope * low + high_slope * high
            mu = min(high - 1, max(low + 1, rise // (high_slope - low_slope)))
            if mu <= low:
                break
        elif low >= 0:
            # No upper side yet: steps grow fourfold, since mu may be off by orders of magnitude.
            mu = low + step
            step *= 4
        elif high > 0:
            mu = max(0, high - step)
            step *= 4
        else:
            break
    return best, best_value


@njit(cache=True)
def pick(
    core: Core, layout: Layout, work: Work, mu: int, left: int, most_cost: int, least_cost: int
) -> None:
    """What each linking group sells; ties are mixed so that the budget is just used up."""
    active, gross, picked, rooms = work.active, work.profit, work.picked, work.room
    owner, costs, inside = core.group, core.cost, layout.inside
    # A convex mix of tied picks that spends exactly the budget left is a subgradient of 0 in mu,
    # and the best guess at the relaxation's x.
    mix = 0.0
    if most_cost > least_cost:
        mix = min(1.0, max(0.0, (left - least_cost) / (most_cost - least_cost)))
    at, count = 0, work.counts[0]
    while at < count:
        group = owner[active[at]]
        begin = at
        while at < count and owner[active[at]] == group:
            picked[active[at]] = 0.0
            at += 1
        if inside[group]:
            continue
        room = rooms[group]
        if room == 1:
            best, high, low = 0, -1, -1
            for i in range(begin, at):
                u = active[i]
                net = gross[u] - mu * costs[u]
                if net > best:
                    best, high, low = net, u, u
                elif net == best:
                    if high < 0 or costs[u] > costs[high]:
                        high = u
                    if low >= 0 and costs[u] < costs[low]:
                        low = u
            if high >= 0:
                picked[high] += mix
            if low >= 0:
                picked[low] += 1.0 - mix
        else:
            limit = _nth_net(core, work, begin, at, room, mu)
            taken = 0
            for i in range(begin, at):
                u = active[i]
                net = gross[u] - mu * costs[u]
                if net > 0 and net >= limit and taken < room:
                    picked[u] = 1.0
                    taken += 1


@njit(cache=True)
def group_losses(core: Core, layout: Layout, work: Work, mu: int) -> None:
    """Sets each active candidate's loss on the group side."""
    active, gross = work.active, work.profit
    at, count = 0, work.counts[0]
    while at < count:
        group = core.group[active[at]]
        begin = at
        while at < count and core.group[active[at]] == group:
            work.loss_in[active[at]] = 0
            work.loss_out[active[at]] = 0
            at += 1
        if layout.inside[group]:
            continue
        room = work.room[group]
        # To come in, a candidate displaces the last that has room; when it goes, the next one fills
        # its place, or nobody.
        limit = _nth_net(core, work, begin, at, room, mu)
        after = _nth_net(core, work, begin, at, room + 1, mu)
        for i in range(begin, at):
            u = active[i]
            net = gross[u] - mu * core.cost[u]
            work.loss_in[u] = max(0, limit - net)
            if net > 0 and net >= limit:
                work.loss_out[u] = net - after

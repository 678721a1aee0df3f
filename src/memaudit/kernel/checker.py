"""Checks a certificate: that no feasible store of a package is worth more than it claims.

Integers and exact fractions, no solver code. It knows only the package, its objective and weak
duality.

The claim. Values are counted in units of 1/scale, `scale` being what makes them all whole; budgets
and costs in whole units of their common denominator, a unit's coverage in whole levels. H[r][z] is
what unit r at level z is worth (rounded up where h is irrational). The store is re-evaluated; the
proof must show that every other store stays below the next multiple of `grain`, which divides the
value of every store. Where nobody judged a cell, the store is worth no more than its value, and
the proof holds for its upper bound: the optimum is the same whatever a judge will say.

The proof is a tree, written in preorder as whole numbers. A node has decided to *keep* some
candidates and to *ban* others. Any mu >= 0 and prices >= 0 give an upper bound for it:

    q * F(kept) + mu * budget left
      + over linking groups: the best total profit of the candidates they may still add,
        where a candidate earns its prices in all blocks and pays mu * cost; of a candidate and
        its parts, only the better side
      + over blocks of units: the best the block can do by buying candidates of linking groups at
        their prices, and by adding candidates of groups inside the block at mu * cost

because giving each block its own copy of the linking candidates, and paying instead of obeying the
budget, can only help. A price is never above what the candidate can add to the block at this node;
at that ceiling (the default) the block gains nothing and the candidate is left out there.

No store keeps a candidate together with one of its parts. Only the better side of the two and word
7 use that. All other steps let such stores in, which can only raise a bound. Candidates that have
or are parts are alone in their groups (checked in package_problems.py). So a kept group says that
its candidate is kept, and none of them is left out because its group has a better one (`useful`).

Words of the proof (u: candidate, b: block; numbers refer to canonical order, see `_Problem`):

    0              leaf: the bound must be below the target
    1 u            branch: the subtree where u is kept follows, then the one where it is banned
    2 mu           from here on in this subtree, the budget's price
    3 n (u b p)*n  ... prices
    4 n u*n m u*m  ban n candidates and keep m: deciding otherwise puts the bound below the target
    5              ... the default price is 0
    6 i            ... use layout i; all prices are back at their default
    7              leaf: what is kept breaks the budget or a cap, or holds a candidate and its part
    8              first word only: leave out what other groups can replace (`_Problem.useful`)

Units outside all blocks of a layout are blocks of their own, numbered after the declared ones. A
block lists its units and its groups in the order they are decided: g inside it, ~g any other.

Loops that a proof can make long are counted in steps, five to ten million per second, before they
run: a hostile proof ends within minutes. The others are linear in the size of the package.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, groupby
from math import gcd, lcm
from operator import itemgetter

from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.objective import value as worth
from memaudit.kernel.package.objective import violations
from memaudit.kernel.package.optimum import Certificate, Layout
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.response import Capped, Response

Q, FINEST = 1024, 1 << 20
"""Multipliers are whole numbers of 1/q. A certificate may name q, its fineness, up to FINEST; else
it is Q."""

LEAF, BRANCH, MU, PRICE, FIX, ZERO, LAYOUT, BROKEN, ACROSS = range(9)
LONGEST_TABLE = 1 << 16
HIGHEST, MOST_FINE = 1 << 60, 1 << 12
"""Numbers from the first on may share a hash, so at most so many of them are looked up together."""

MOST_STEPS, MOST_IN_BLOCK = 4_000_000_000, 1 << 26
WINDOW = 1 << 12
"""Candidates compared with all others at a time, each of them a bit."""

MOST_PENDING = 1 << 24
"""Decisions and prices of all nodes still to be visited, together."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a certificate holds; if not, the step that fails."""

    valid: bool
    reason: str = ""
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)
    leaves: int = 0


class _Fails(Exception):
    """The step that fails."""


class _Table(dict[int, int]):
    """H[r], computed on demand."""

    def __init__(self, problem: "_Problem", response: Response, weight: int, steps: int) -> None:
        self.spend, self.at, self.weight, self.steps = problem.spend, response.at, weight, steps

    def __missing__(self, level: int) -> int:
        self.spend(400)
        # Python hashes integers modulo 2^61 - 1, so a file may hold many numbers of one hash, and
        # looking them up would take the square of their number.
        if level >= HIGHEST and len(self) > MOST_FINE:
            raise _Fails("coverage is too fine to be checked")
        high = self.at(Fraction(level, self.steps)).high
        value, rest = divmod(high.numerator * self.weight, high.denominator)
        if rest:
            raise _Fails("the scale does not make every value whole")
        self[level] = value
        return value


class _Problem:
    """The package in whole numbers: candidates in stream order then by id, units by id."""

    def __init__(self, package: Package) -> None:
        ranked = sorted(package.experiences, key=lambda experience: experience.index)
        rank = {experience.id: place for place, experience in enumerate(ranked)}
        candidates = sorted(package.candidates, key=lambda c: (rank[c.experience], c.id))
        units = sorted((u for u in package.units if package.weights[u.id] > 0), key=lambda u: u.id)
        number = {unit.id: place for place, unit in enumerate(units)}
        place = {candidate.id: u for u, candidate in enumerate(candidates)}
        cells: list[list[tuple[int, Fraction]]] = [[] for _ in candidates]
        steps = [1] * len(units)
        for cell in package.coverage:
            if cell.most and cell.unit in number:
                r = number[cell.unit]
                cells[place[cell.candidate]].append((r, cell.most))
                # Both denominators: the store is worth its values, the proof holds for the upper
                # bounds.
                steps[r] = lcm(steps[r], cell.most.denominator, cell.value.denominator)
        self.known = {
            (place[cell.candidate], number[cell.unit]): cell.value * steps[number[cell.unit]] // 1
            for cell in package.coverage
            if cell.most != cell.value and cell.unit in number
        }
        costs = [candidate.cost.as_integer_ratio() for candidate in candidates]
        cost_scale = lcm(1, *{denominator for _, denominator in costs})
        self.ids, self.place = list(place), place
        self.group = [rank[candidate.experience] for candidate in candidates]
        # By the group of a candidate with parts, the groups of its parts; and the other way round,
        # where a part counts with the first candidate that has it.
        self.parts: dict[int, set[int]] = {}
        self.whole: dict[int, int] = {}
        for candidate in candidates:
            group = rank[candidate.experience]
            for part in candidate.parts:
                inner = rank[package.candidate[part].experience]
                self.parts.setdefault(group, set()).add(inner)
                self.whole.setdefault(inner, group)
        self.cost = [numerator * (cost_scale // denominator) for numerator, denominator in costs]
        self.cost_scale, self.steps = cost_scale, 0
        self.budget, self.cap = 0, 1
        self.rows = [
            sorted((r, value.numerator * (steps[r] // value.denominator)) for r, value in row)
            if row
            else []
            for row in cells
        ]
        levels: list[list[int]] = [[] for _ in units]
        for row in self.rows:
            for r, level in row:
                levels[r].append(level)
        fine = [unit.response.grain(Fraction(1, steps[r])) for r, unit in enumerate(units)]
        weights = [package.weights[unit.id] for unit in units]
        self.scale = lcm(1, *(f * w.denominator for f, w in zip(fine, weights, strict=True)))
        self.width = 1 + (self.scale.bit_length() + cost_scale.bit_length()) // 512
        self.top, self.worth, self.slack, self.grain, self.fine = [], [], [], 0, False
        for r, unit in enumerate(units):
            flat = unit.response.saturates_at
            top = sum(levels[r]) if flat is None else min(sum(levels[r]), -(-flat * steps[r] // 1))
            self.fine = self.fine or top >= HIGHEST
            weight = int(weights[r] * self.scale)
            table = _Table(self, unit.response, weight, steps[r])
            step = gcd(*levels[r]) if levels[r] else 1
            # 1 divides everything; to look for more would take too long.
            if top // step > LONGEST_TABLE:
                self.grain = 1
            else:
                # min(cap, z) is a multiple of its first step until it is flat.
                linear = isinstance(unit.response, Capped)
                levels_below = (min(step, top),) if linear else range(0, top, step)
                self.grain = gcd(self.grain, table[top], *(table[z] for z in levels_below))
            self.top.append(top)
            self.worth.append(table)
            # H may miss h by a grid step, so a later gain may exceed an earlier one by two of them.
            coarsest = unit.response.grain(Fraction(top, steps[r]))
            self.slack.append(0 if unit.response.is_rational else 2 * weight // coarsest)
        # Every level that a store can reach is a multiple of the unit's step or cut off at the top,
        # so `grain` divides the value of every store.
        self.grain = max(1, self.grain)
        self.capped = [{r: min(z, self.top[r]) for r, z in row} for row in self.rows]

    def at(self, budget: Fraction, cap: int, longest: int = 0) -> "_Problem":
        """Itself at a budget and a cap, with the count of steps back at 0.

        Work with long numbers counts several times; the longest of a proof is given in bits.
        """
        self.budget, self.cap, self.steps = budget * self.cost_scale // 1, cap, 0
        lengths = (longest, self.scale.bit_length(), self.cost_scale.bit_length())
        self.width = 1 + sum(lengths) // 512
        return self

    def spend(self, steps: int) -> None:
        """Count work, which is limited."""
        self.steps += steps * self.width
        if self.steps > MOST_STEPS:
            raise _Fails("the proof asks for too much work")

    def useful(self, across: bool) -> tuple[int, ...]:
        """Candidates of which some best store consists: none that others can replace.

        v can replace u if it costs no more, covers no less of what u covers, and may enter when u
        leaves: at cap 1 if it shares u's group, `across` groups if it is alone in its own and has
        nothing to do with parts. Of equals, the first replaces the others. u is left out if one of
        its group can replace it, or if all that can cover each of its units to the top together.

        Why that loses nothing: take a best store without what covers nothing. As long as it holds
        a candidate that is left out, exchange it for one that can replace it and is not in the
        store. If all of them are in it, the candidate adds nothing: drop it. The store stays
        feasible and is worth no less. Each exchange moves to an earlier candidate of the order in
        which the loop goes, so they end.
        """
        rows = self.capped
        able = [u for u, row in enumerate(rows) if row and self.cost[u] <= self.budget]
        # The order of the argument: whatever can replace u comes before it.
        able.sort(key=lambda u: (self.cost[u], -sum(rows[u].values()), u))
        groups: dict[int, list[int]] = {}
        for u in able:
            groups.setdefault(self.group[u], []).append(u)
        gone: set[int] = set()
        # Only at a cap of 1 is there room for v in the group once u has left.
        if self.cap == 1:
            for members in groups.values():
                gone.update(u for u, better in self._as_good(members) if better)
        if across:
            # A candidate that enters must not clash with what is there already: it is alone in its
            # group, and neither has parts nor is one.
            related = self.whole.keys() | self.parts.keys()
            alone = {us[0] for g, us in groups.items() if len(us) == 1 and g not in related}
            gone |= self._covered_by(alone, able)
        return tuple(sorted(set(able) - gone))

    def _covered_by(self, alone: set[int], able: list[int]) -> set[int]:
        """Candidates that those `alone` which can replace them cover to the top together."""
        rows, gone = self.capped, set()
        holders: dict[int, list[int]] = {}
        for u in able:
            for r in rows[u] if u in alone else ():
                holders.setdefault(r, []).append(u)
        asked: dict[int, set[int]] = {}
        for u in able:  # all that can replace u hold its scarcest unit
            r = min(rows[u], key=lambda r: len(holders.get(r, ())))
            if r in holders:
                asked.setdefault(r, set()).add(u)
        place = {u: at for at, u in enumerate(able)}
        for r, asking in asked.items():
            members = sorted({*holders[r], *asking}, key=place.__getitem__)
            allowed = sum(1 << at for at, u in enumerate(members) if u in alone)
            self.spend(len(members) * (1 + (len(members) >> 10)))
            for u, better in self._as_good(members):
                missing = {r: self.top[r] for r in rows[u]}
                others = better & allowed if u in asking else 0
                # All of them cover at least z of each unit: if so many times z is enough, nobody
                # need be counted.
                if all(others.bit_count() * z >= self.top[r] for r, z in rows[u].items()):
                    gone.add(u)
                    continue
                while others and any(z > 0 for z in missing.values()):
                    self.spend(8 + 4 * len(missing) + (len(members) >> 10))
                    v = members[others.bit_length() - 1]
                    others ^= 1 << (others.bit_length() - 1)
                    missing = {r: z - rows[v][r] for r, z in missing.items()}
                if not any(z > 0 for z in missing.values()):
                    gone.add(u)
        return gone

    def _as_good(self, members: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Each member and, as bits, the earlier members that cover no less of what it covers."""
        holders: dict[int, list[tuple[int, int]]] = {}
        for at, u in enumerate(members):
            for r, z in self.capped[u].items():
                holders.setdefault(r, []).append((z, at))
        for found in holders.values():
            found.sort(reverse=True)
        # Bits are worked on many at a time, so work grows by words of the numbers.
        each = 4 + (len(members) >> 8)
        for start in range(0, len(members), WINDOW):
            bits = {at: (1 << at) - 1 for at in range(start, min(start + WINDOW, len(members)))}
            for found in holders.values():
                self.spend(each * len(found))
                # From the highest level down, `seen` has all that cover this unit no less; what is
                # left after all units covers no less anywhere. Equal ones are seen together, and
                # the earlier counts.
                seen = 0
                for _, level in groupby(found, key=itemgetter(0)):
                    same = [at for _, at in level]
                    for at in same:
                        seen |= 1 << at
                    for at in same:
                        if at in bits:
                            bits[at] &= seen
            yield from ((members[at], better) for at, better in bits.items())


class _Layout:
    """Units split into blocks, checked: no unit, and no group inside a block, is in two of them."""

    def __init__(self, problem: _Problem, layout: Layout) -> None:
        self.block: dict[int, int] = {}
        self.inside: dict[int, int] = {}
        self.order: list[tuple[int, ...]] = []
        for b, (units, groups) in enumerate(layout):
            for r in units:
                if not 0 <= r < len(problem.top) or self.block.setdefault(r, b) != b:
                    raise _Fails(f"unit {r} of block {b} is unknown or in two blocks")
            for g in groups:
                # A group inside a block is decided there in whole: at a cap above 1 a layer would
                # have to offer pairs of candidates, so groups then only link.
                if _number(g) >= 0 and (problem.cap > 1 or self.inside.setdefault(g, b) != b):
                    raise _Fails(f"group {g} cannot be inside block {b}")
            self.order.append(tuple(max(g, ~g) for g in groups))


@dataclass(slots=True)
class _Node:
    """What a node of the proof has decided, and the multipliers in force."""

    open: tuple[int, ...]
    left: int
    layout: _Layout
    base: dict[int, int] = field(default_factory=dict)
    kept: dict[int, int] = field(default_factory=dict)
    mu: int = 0
    prices: dict[tuple[int, int], int] = field(default_factory=dict)
    free: bool = False

    @property
    def size(self) -> int:
        return len(self.open) + len(self.base) + len(self.prices) + len(self.kept)


@dataclass(slots=True)
class _Bound:
    """An upper bound, and how far it falls if a candidate is forced in or out."""

    total: int
    fall_in: dict[int, int] = field(default_factory=dict)
    fall_out: dict[int, int] = field(default_factory=dict)


Option = tuple[int, Sequence[tuple[int, int]], int]
"""A candidate (-1: none), the levels it adds to the block's units, and what it costs the block."""


class _Checker:
    def __init__(self, problem: _Problem, target: int, q: int = Q) -> None:
        self.p, self.target, self.q, self.leaves = problem, target, q, 0
        self.spend = problem.spend

    def bound(self, node: _Node, *, falls: bool = False) -> _Bound:
        """The upper bound of a node at its multipliers."""
        p, mu = self.p, node.mu
        block, order, inside = node.layout.block, node.layout.order, node.layout.inside
        self.spend(sum(40 + 8 * len(p.rows[u]) for u in node.open))
        # What is kept is worth F(kept), and a store within the budget pays no more than mu times
        # what is left. That is the first line of the bound.
        result = _Bound(self.q * sum(p.worth[r][z] for r, z in node.base.items()) + mu * node.left)
        profits: dict[int, list[tuple[int, int]]] = {}
        offers: dict[int, dict[int, list[Option]]] = {}
        alive = []
        for u in node.open:
            group = p.group[u]
            # It can be in no store of this node. Leaving it out of the bound needs no proof.
            if p.cost[u] > node.left or node.kept.get(group, 0) >= p.cap:
                continue
            parts: dict[int, tuple[int, list[tuple[int, int]]]] = {}
            for r, level in p.rows[u]:
                z = node.base.get(r, 0)
                more = p.worth[r][min(p.top[r], z + level)] - p.worth[r][z]
                # h is concave, so at no node below does u add more to this unit than it does here,
                # apart from the slack of rounded tables.
                if more or (p.slack[r] and z < p.top[r]):
                    b = block.get(r, len(order) + r)
                    ceiling, row = parts.setdefault(b, (0, []))
                    row.append((r, level))
                    parts[b] = (ceiling + self.q * (more + p.slack[r]), row)
            if not parts:
                continue
            alive.append(u)
            if group in inside:
                # Else it would sell to blocks that never charge it for its cost.
                if parts.keys() != {inside[group]}:
                    raise _Fails(f"group {group} is not inside block {inside[group]}")
                row = parts[inside[group]][1]
                offers.setdefault(inside[group], {}).setdefault(group, []).append(
                    (u, row, mu * p.cost[u])
                )
                continue
            profit = -mu * p.cost[u]
            for b, (ceiling, row) in parts.items():
                # At the ceiling the block gains nothing by buying, so the candidate is sold there
                # for all it can add, and left out of the block: most candidates are nowhere in a
                # block.
                price = min(ceiling, node.prices.get((u, b), 0 if node.free else ceiling))
                profit += price
                if price < ceiling:
                    offers.setdefault(b, {}).setdefault(group, []).append((u, row, price))
            # A part is sold with the candidate that has it: a store keeps only one side.
            profits.setdefault(p.whole.get(group, group), []).append((profit, u))
        node.open = tuple(alive)
        for group, offered in profits.items():
            if group in p.parts:
                self._sell_whole_or_parts(group, offered, result)
            else:
                self._sell(offered, p.cap - node.kept.get(group, 0), result)
        for b, groups in offers.items():
            self._buy(node, order[b] if b < len(order) else (), groups, result, falls)
        return result

    def _sell(self, offered: list[tuple[int, int]], room: int, result: _Bound) -> None:
        """The group side: its best `room` profits, and what forcing a candidate in or out costs."""
        room = min(room, len(offered))
        # At most `room` of the group are in a store, and nobody has to be: the largest profits, or
        # 0.
        best = [*sorted((max(0, profit) for profit, _ in offered), reverse=True), 0]
        result.total += sum(best[:room])
        for profit, u in offered:
            # Forced in, u takes the place of the last that had room. Forced out, the next takes its
            # own.
            result.fall_in[u] = max(0, best[room - 1] - profit)
            chosen = profit > 0 and profit >= best[room - 1]
            result.fall_out[u] = profit - best[room] if chosen else 0

    def _sell_whole_or_parts(
        self, group: int, offered: list[tuple[int, int]], result: _Bound
    ) -> None:
        """The group side of a candidate and its parts: its profit, or all of theirs."""
        sides = {True: 0, False: 0}
        for profit, u in offered:
            # Parts are in different groups, so a store may keep all of them.
            sides[self.p.group[u] == group] += max(0, profit)
        best = max(sides.values())
        result.total += best
        for profit, u in offered:
            is_whole = self.p.group[u] == group
            without = sides[is_whole] - max(0, profit)
            result.fall_in[u] = best - without - profit
            result.fall_out[u] = best - max(without, sides[not is_whole])

    def _buy(
        self,
        node: _Node,
        order: Sequence[int],
        groups: dict[int, list[Option]],
        result: _Bound,
        falls: bool,
    ) -> None:
        """The block side: the best path over its groups, the state being its open units' levels."""
        p = self.p
        self.spend(len(order))
        # Each group once: what forcing a candidate costs is added up over layers.
        # Any order of groups is right; the declared one keeps the states few. Groups that it leaves
        # out follow.
        layers = [groups[g] for g in dict.fromkeys((*order, *sorted(groups))) if g in groups]
        # Each candidate by itself: the block may then buy more of a group than it can have, which
        # only raises the bound.
        if p.cap > 1:
            layers = [[option] for layer in layers for option in layer]
        last = {r: at for at, layer in enumerate(layers) for _, row, _ in layer for r, _ in row}
        units = sorted(last)
        seat = {r: i for i, r in enumerate(units)}
        states = {tuple(node.base.get(r, 0) for r in units): 0}
        history = []
        asked = 0
        for at, layer in enumerate(layers):
            steps = len(states) * (len(layer) + 1) * (16 + len(units))
            self.spend(steps)
            asked += steps * p.width  # what is remembered grows with the length of its numbers
            if asked > MOST_IN_BLOCK or (p.fine and len(states) > MOST_FINE):
                raise _Fails("a block asks for too much work")
            # After its last layer a unit's level changes nothing, so states that differ in it are
            # one.
            closing = [seat[r] for r in units if last[r] == at]
            ahead: dict[tuple[int, ...], int] = {}
            edges = []
            for key, value in states.items():
                # Buy nothing of this group, or one of its candidates: at a cap of 1 no store has
                # two.
                for u, row, price in ((-1, (), 0), *layer):
                    levels, net = list(key), value - price
                    for r, level in row:
                        z = levels[seat[r]]
                        levels[seat[r]] = new = min(p.top[r], z + level)
                        net += self.q * (p.worth[r][new] - p.worth[r][z])
                    for i in closing:
                        levels[i] = -1
                    state = tuple(levels)
                    # Of all ways to a state only the best can be part of the best path.
                    if net > ahead.get(state, net - 1):
                        ahead[state] = net
                    if falls:
                        edges.append((u, key, state, net))
            if falls:
                history.append((states, edges))
            states = ahead
        # All units are closed: one state is left.
        (best,) = states.values()
        result.total += best
        # Backwards, `after[state]` is the best that can still be added from a state on. The best
        # path through an option is what it falls to if the option is forced; without an option, the
        # layer's next best remains.
        after = dict.fromkeys(states, 0)
        for before, edges in reversed(history):
            through: dict[int, int] = {}
            back: dict[tuple[int, ...], int] = {}
            for u, key, state, net in edges:
                rest = after[state]
                through[u] = max(through.get(u, net + rest), net + rest)
                tail = net - before[key] + rest
                back[key] = max(back.get(key, tail), tail)
            first, second = sorted(through.values(), reverse=True)[:2]
            for u in through.keys() - {-1}:
                other = second if through[u] == first else first
                result.fall_in[u] = result.fall_in.get(u, 0) + best - through[u]
                result.fall_out[u] = result.fall_out.get(u, 0) + best - other
            after = back

    def keep(self, node: _Node, chosen: Sequence[int]) -> None:
        """Keep candidates: they use up budget and room and raise their units' levels."""
        node.base, node.kept = dict(node.base), dict(node.kept)
        for u in chosen:
            group = self.p.group[u]
            node.left -= self.p.cost[u]
            node.kept[group] = node.kept.get(group, 0) + 1
            for r, level in self.p.rows[u]:
                node.base[r] = min(self.p.top[r], node.base.get(r, 0) + level)

    def broken(self, node: _Node) -> bool:
        """Whether no store keeps all that the node keeps."""
        wholes = self.p.parts.keys() & node.kept.keys()
        self.spend(len(node.kept) * (1 + len(wholes)))
        together = any(self.p.parts[g] & node.kept.keys() for g in wholes)
        return together or node.left < 0 or max(node.kept.values(), default=0) > self.p.cap

    def fix(self, node: _Node, banned: Sequence[int], kept: Sequence[int]) -> None:
        """Decide candidates whose other choice is below the target."""
        bound = self.bound(node, falls=True)
        for u in banned:
            # A candidate that the bound has left out is in no store of this node, so it may be
            # banned. Else: with u kept, no store reaches the target. The falls of sides and blocks
            # add up, since the bound is the sum of them, each of which can only be less with u
            # forced in.
            if u in bound.fall_in and bound.total - bound.fall_in[u] >= self.target:
                raise _Fails(f"banning candidate {u} is not justified")
        for u in kept:
            # Without u no store reaches the target, so every store that does keeps it. Each
            # candidate is judged by itself from the same bound, and a store that reaches the target
            # passes every one of these tests: so all may be decided together.
            if u not in bound.fall_out or bound.total - bound.fall_out[u] >= self.target:
                raise _Fails(f"keeping candidate {u} is not justified")
        # Kept twice, a candidate would be paid for and counted twice.
        decided = {*banned, *kept}
        if len(decided) != len(set(banned)) + len(kept):
            raise _Fails("a candidate is fixed twice")
        node.open = tuple(u for u in node.open if u not in decided)
        self.keep(node, kept)

    def run(self, proof: Sequence[int], layouts: Sequence[_Layout], root: _Node) -> None:
        """Follow the proof; raises `_Fails` at the first step that does not hold."""
        words = iter(proof)
        # Preorder: a branch puts its banned side, then its kept side on top of what waits. When
        # nothing waits any more every side of every branch has ended in a leaf that holds.
        waiting = [root]
        while waiting:
            node = waiting.pop()
            while True:
                word = next(words)
                self.spend(1 + node.size)
                if word in (LEAF, BRANCH, BROKEN):
                    break
                self._change(node, word, words, layouts)
            if word == BRANCH:
                self._branch(node, next(words), waiting)
            else:
                self._close(node, word)
        if next(words, None) is not None:
            raise _Fails("the proof continues after its last leaf")

    def _change(
        self, node: _Node, word: int, words: Iterator[int], layouts: Sequence[_Layout]
    ) -> None:
        """New multipliers or decisions, which hold in the whole subtree.

        Multipliers prove nothing by themselves: any that are not negative give a bound. So they
        need no check but that, and only the words that use a bound can be refused for what it says.
        """
        if word == MU:
            node.mu = _at_least_0(next(words))
        elif word == PRICE:
            node.prices = dict(node.prices)
            for _ in range(_at_least_0(next(words))):
                pair = (_number(next(words)), _number(next(words)))
                node.prices[pair] = _at_least_0(next(words))
        elif word == FIX:
            banned = [_number(next(words)) for _ in range(_at_least_0(next(words)))]
            kept = [_number(next(words)) for _ in range(_at_least_0(next(words)))]
            self.fix(node, banned, kept)
        elif word == ZERO:
            node.free = True
        elif word == LAYOUT:
            # Blocks are numbered anew, so prices of the old ones would go to the wrong blocks.
            node.layout, node.prices = layouts[_at_least_0(next(words))], {}
        else:
            raise _Fails(f"unknown word {_shown(Fraction(word))}")

    def _branch(self, node: _Node, u: int, waiting: list[_Node]) -> None:
        """Every store of the node keeps u or does not: both sides have to be proven."""
        if u not in node.open:
            raise _Fails(f"branch on candidate {_number(u)}, which is not open")
        node.open = tuple(v for v in node.open if v != u)
        waiting.append(replace(node))
        self.keep(node, [u])
        waiting.append(node)
        self.spend(len(waiting))
        if sum(pending.size for pending in waiting) > MOST_PENDING:
            raise _Fails("the proof asks for too much memory")

    def _close(self, node: _Node, word: int) -> None:
        """A leaf: no store is in it at all, or none of them reaches the target."""
        self.leaves += 1
        if word == BROKEN:
            if not self.broken(node):
                raise _Fails(f"leaf {self.leaves}: what is kept breaks no constraint")
        elif self.bound(node).total >= self.target:
            raise _Fails(f"leaf {self.leaves}: the bound does not exclude a better store")


def _at_least_0(word: int) -> int:
    if word < 0:
        raise _Fails(f"{_shown(Fraction(word))} where a number of at least 0 is expected")
    return word


def _number(word: int) -> int:
    """The number of a candidate, block or group."""
    if not -HIGHEST < word < HIGHEST:
        raise _Fails("a number that is too large for a candidate, block or group")
    return word


def verify(package: Package, certificate: Certificate) -> Verdict:
    """Whether a certificate proves the optimum of this package; if not, which step fails."""
    return PackageChecker(package).verify(certificate)


class PackageChecker:
    """Checks certificates of one package; its digest and whole numbers are computed once."""

    def __init__(self, package: Package) -> None:
        self.package, self.digest = package, digest(package)
        self._problem: _Problem | None = None

    def verify(self, certificate: Certificate) -> Verdict:
        try:
            return self._verify(certificate)
        except _Fails as failure:
            return Verdict(False, str(failure))
        except StopIteration:
            return Verdict(False, "the proof ends too early")
        except IndexError:
            return Verdict(False, "the proof names a layout that does not exist")

    def _verify(self, certificate: Certificate) -> Verdict:
        if certificate.package != self.digest:
            return Verdict(False, "the certificate is for another package")
        parts = chain.from_iterable(block for layout in certificate.layouts for block in layout)
        whole = (certificate.group_cap, certificate.fineness)
        words = chain(whole, certificate.proof, chain.from_iterable(parts))
        if any(type(word) is not int for word in words):
            return Verdict(False, "the certificate holds something other than whole numbers")
        budget, cap, store = certificate.budget, certificate.group_cap, certificate.store
        if not (isinstance(budget, Fraction) and isinstance(certificate.value, Fraction)):
            return Verdict(False, "the budget or the value is not a fraction")
        if certificate.fineness.bit_count() != 1 or not Q <= certificate.fineness <= FINEST:
            return Verdict(False, f"the fineness is not a power of 2 from {Q} to {FINEST}")
        if cap < 1 or budget < 0:
            return Verdict(False, "the group cap must be at least 1 and the budget at least 0")
        try:
            wrong = violations(self.package, store, budget, cap)
        except ValueError:  # Python does not write numbers of more than 4300 digits
            wrong = ["its numbers are too long to be shown"]
        if wrong:
            return Verdict(False, f"the store is not feasible: {wrong[0]}")
        if self._problem is None:
            self._problem = _Problem(self.package)
        longest = max((word.bit_length() for word in certificate.proof), default=0)
        problem = self._problem.at(budget, cap, longest)
        if certificate.scale != problem.scale:
            return Verdict(False, f"the scale of this package is {_shown(Fraction(problem.scale))}")
        covered: dict[int, int] = {}
        for u in (problem.place[id] for id in store):
            for r, level in problem.rows[u]:
                covered[r] = covered.get(r, 0) + problem.known.get((u, r), level)
        reached = sum(problem.worth[r][min(problem.top[r], z)] for r, z in covered.items())
        value = Fraction(reached, problem.scale)
        if value != certificate.value:
            claimed = _shown(certificate.value)
            return Verdict(False, f"the store is worth {_shown(value)}, not {claimed}")
        # No store under the upper bounds is worth a number between multiples of the grain.
        q = certificate.fineness
        checker = _Checker(problem, q * (reached // problem.grain + 1) * problem.grain, q)
        across = certificate.proof[:1] == (ACROSS,)
        root = _Node(problem.useful(across), problem.budget, _Layout(problem, ()))
        layouts = [_Layout(problem, layout) for layout in certificate.layouts]
        checker.run(certificate.proof[across:], layouts, root)
        low = worth(self.package, store).low if any(problem.slack) else value
        return Verdict(True, "", low, value, checker.leaves)


def _shown(number: Fraction) -> str:
    """The number, unless Python refuses to write so many digits."""
    long = max(abs(number.numerator), number.denominator) >= 10**1000
    return "a number of more than 1000 digits" if long else str(number)

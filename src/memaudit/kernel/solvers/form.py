"""The exact integer form of a package: what every solver works on.

Costs, coverage and values are scaled by common denominators, so all arithmetic is in integers and
nothing is rounded. Where h is irrational its values are rounded up to a declared grid (`value`)
and down to it (`low`); a solver then maximises the upper form, which bounds the true optimum.
Where nobody judged a cell, its upper bound counts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.package.package import Candidate, Package
from memaudit.kernel.package.response import Capped, Response
from memaudit.kernel.solvers.tie_breaking import canonical_order

FINEST_TABLE = 1 << 16
"""Units with more coverage levels than this get no table; only the Python solvers take them."""


@dataclass(frozen=True, slots=True)
class Level:
    """One unit's value as a function of its integer coverage level.

    Levels and values count from `base`, which is 0 unless some coverage is given (`after`).
    """

    response: Response
    steps: int
    top: int
    factor: Fraction
    table: tuple[int, ...] | None
    base: int = 0

    def value(self, level: int) -> int:
        """The scaled value of this coverage, rounded up where h is irrational."""
        level = min(level, self.top)
        if self.table is not None:
            return self.table[level]
        return self._high(self.base + level) - self.base_value

    def low(self, level: int) -> int:
        """The scaled value of this coverage, rounded down where h is irrational."""
        if self.response.is_rational:
            return self.value(level)
        low = self.response.at(Fraction(self.base + min(level, self.top), self.steps)).low
        return int(low * self.factor) - self.base_value

    @property
    def base_value(self) -> int:
        """What the given coverage is worth, rounded up where h is irrational."""
        return self._high(self.base) if self.base else 0

    def _high(self, level: int) -> int:
        return int(self.response.at(Fraction(level, self.steps)).high * self.factor)

    def after(self, level: int) -> "Level":
        """The unit once this coverage is given."""
        # Counted from there: gains and the top stay those of the checker at this node.
        given = min(level, self.top)
        table = self.table and tuple(value - self.table[given] for value in self.table[given:])
        return replace(self, top=self.top - given, table=table, base=self.base + given)

    @property
    def slack(self) -> int:
        """How far a later gain may exceed an earlier one: two steps of the coarsest grid that
        irrational values are rounded to."""
        if self.response.is_rational:
            return 0
        return 2 * int(
            self.factor / self.response.grain(Fraction(self.base + self.top, self.steps))
        )


def _ceiling(number: Fraction) -> int:
    return -((-number.numerator) // number.denominator)


def _floor(number: Fraction) -> int:
    return number.numerator // number.denominator


@dataclass(frozen=True, slots=True)
class Form:
    """A package in integers, at one budget and group cap.

    Candidates are in canonical order (tie_breaking.py), groups in stream order, units in id order.
    Unweighted units and zero cells are left out of `rows`. `parts` has those of each candidate, or
    is empty where nobody has any. Backends ignore it: `solve_with_parts` calls them.

    `root_grain` is set if the form is a branch of a proof (parts.py): the granularity at the root.
    The checker looks for dominated candidates at the root only, so a branch looks for none.
    """

    candidate_ids: tuple[str, ...]
    unit_ids: tuple[str, ...]
    group: tuple[int, ...]
    cost: tuple[int, ...]
    rows: tuple[tuple[tuple[int, int], ...], ...]
    levels: tuple[Level, ...]
    groups: tuple[tuple[int, ...], ...]
    cost_scale: int
    value_scale: int
    rational: bool
    budget: int
    group_cap: int
    parts: tuple[tuple[int, ...], ...] = ()
    root_grain: int | None = None

    def at(self, budget: Fraction, group_cap: int) -> "Form":
        """The same form at another budget and cap."""
        return replace(self, budget=_floor(budget * self.cost_scale), group_cap=group_cap)

    def cover(self, chosen: Iterable[int]) -> dict[int, int]:
        """Per touched unit, the summed coverage levels of the chosen candidates."""
        amounts: dict[int, int] = {}
        for candidate in chosen:
            for unit, level in self.rows[candidate]:
                amounts[unit] = amounts.get(unit, 0) + level
        return amounts

    def value(self, chosen: Iterable[int]) -> int:
        """The scaled value of a store, rounded up where h is irrational."""
        return sum(self.levels[unit].value(z) for unit, z in self.cover(chosen).items())

    def low(self, chosen: Iterable[int]) -> int:
        """The scaled value of a store, rounded down where h is irrational."""
        return sum(self.levels[unit].low(z) for unit, z in self.cover(chosen).items())

    def feasible(self, chosen: Sequence[int]) -> bool:
        """Whether a store respects budget and cap, and keeps no candidate beside its parts."""
        kept: dict[int, int] = {}
        distinct = set(chosen)
        for candidate in chosen:
            kept[self.group[candidate]] = kept.get(self.group[candidate], 0) + 1
        return (
            len(distinct) == len(chosen)
            and sum(self.cost[candidate] for candidate in chosen) <= self.budget
            and all(count <= self.group_cap for count in kept.values())
            and not (self.parts and any(not distinct.isdisjoint(self.parts[u]) for u in chosen))
        )


def check_budget(budget: Fraction, group_cap: int) -> None:
    """Refuse budgets and caps that mean nothing."""
    if budget < 0:
        raise MemAuditError(f"budget {plain(budget)} is negative; budgets are 0 or more")
    if group_cap < 1:
        raise MemAuditError(f"the group cap must be at least 1, not {group_cap}")


def integer_form(package: Package) -> Form:
    """The package in integers, with a budget that allows everything."""
    position = {
        experience.id: rank
        for rank, experience in enumerate(sorted(package.experiences, key=lambda e: e.index))
    }
    candidates = canonical_order(package)
    weights = package.weights
    units = sorted((unit for unit in package.units if weights[unit.id] > 0), key=lambda u: u.id)
    unit_index = {unit.id: index for index, unit in enumerate(units)}
    cells: dict[str, list[tuple[int, Fraction]]] = {candidate.id: [] for candidate in candidates}
    steps = [1] * len(units)
    for cell in package.coverage:
        unit = unit_index.get(cell.unit)
        if unit is not None and cell.most:
            cells[cell.candidate].append((unit, cell.most))
            # Both denominators, so that values and upper bounds are counted in the same levels.
            steps[unit] = lcm(steps[unit], cell.value.denominator, cell.most.denominator)
    rows = tuple(
        tuple(sorted((unit, int(value * steps[unit])) for unit, value in row)) if row else ()
        for row in cells.values()
    )
    reach = [0] * len(units)
    for row in rows:
        for unit, level in row:
            reach[unit] += level
    # Every h at every level becomes whole: its own grain at steps of 1/steps, times the weight's
    # denominator. The checker derives the same number.
    scale = lcm(
        1,
        *(
            unit.response.grain(Fraction(1, steps[index])) * weights[unit.id].denominator
            for index, unit in enumerate(units)
        ),
    )
    levels = tuple(
        _level(unit.response, weights[unit.id], steps[index], reach[index], scale)
        for index, unit in enumerate(units)
    )
    costs = [candidate.cost.as_integer_ratio() for candidate in candidates]
    cost_scale = lcm(1, *{denominator for _, denominator in costs})
    # Also groups without candidates have a number: the proof names groups as the checker does.
    group = tuple(position[candidate.experience] for candidate in candidates)
    members: list[list[int]] = [[] for _ in position]
    for index, owner in enumerate(group):
        members[owner].append(index)
    cost = tuple(numerator * (cost_scale // denominator) for numerator, denominator in costs)
    return Form(
        candidate_ids=tuple(candidate.id for candidate in candidates),
        unit_ids=tuple(unit.id for unit in units),
        group=group,
        cost=cost,
        rows=rows,
        levels=levels,
        groups=tuple(tuple(group) for group in members),
        cost_scale=cost_scale,
        value_scale=scale,
        rational=all(unit.response.is_rational for unit in units),
        budget=sum(cost),
        group_cap=package.group_cap,
        parts=_parts(candidates),
    )


def _parts(candidates: Sequence[Candidate]) -> tuple[tuple[int, ...], ...]:
    if not any(candidate.parts for candidate in candidates):
        return ()
    place = {candidate.id: index for index, candidate in enumerate(candidates)}
    return tuple(tuple(sorted(place[part] for part in candidate.parts)) for candidate in candidates)


def _level(response: Response, weight: Fraction, steps: int, reach: int, scale: int) -> Level:
    saturation = response.saturates_at
    top = reach if saturation is None else min(reach, _ceiling(saturation * steps))
    bare = Level(response, steps, top, weight * scale, None)
    # The value is computed on demand then; such forms are for Python integers.
    if top > FINEST_TABLE:
        return bare
    if isinstance(response, Capped):  # a straight line, then flat: no fractions needed
        rise = int(bare.factor / steps)
        return replace(bare, table=(*range(0, rise * top, rise), bare.value(top)))
    return replace(bare, table=tuple(bare.value(level) for level in range(top + 1)))


def granularity(form: Form) -> int:
    """A number of which every store's scaled value is a multiple; 1 where nothing is known."""
    if form.root_grain is not None:
        return form.root_grain
    # A gcd over more levels than a table holds would take longer than it can save.
    if any(level.table is None for level in form.levels):
        return 1
    strides = [0] * len(form.levels)
    for row in form.rows:
        for unit, amount in row:
            strides[unit] = gcd(strides[unit], amount)
    step = 0
    for level, stride in zip(form.levels, strides, strict=True):
        # A sum of amounts is a multiple of their gcd, or it is cut off at the top.
        reached = (level.table or ())[:: stride or 1]
        step = gcd(step, *reached, level.value(level.top))
    return step or 1

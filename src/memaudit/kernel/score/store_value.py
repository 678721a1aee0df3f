"""What memories are worth to a package and what they cost, whoever chose them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

from memaudit.kernel.exact import Enclosure, total
from memaudit.kernel.package.objective import assumed_share
from memaudit.kernel.package.package import CURRENT, INVALIDATION_KINDS, STALE, Package
from memaudit.kernel.score.unions import Union
from memaudit.kernel.solvers.form import Form


@dataclass(frozen=True, slots=True)
class StoreValue:
    """What memories are worth, what they cost, and their make-up.

    Coverage of a unit kind is the sum of min(1, covered); of the parts of a unit, by their shares.

    `highest` is what the value may be at most where nobody judged some cells, `assumed` the share
    of it that rests on assumed cells. Where
    equal texts count once, copies are worth nothing more and cost each.
    """

    value: Fraction
    highest: Fraction
    assumed: Fraction
    cost: Fraction
    kinds: dict[str, int]
    unit_values: dict[str, Fraction]
    unit_coverage: dict[str, Fraction]

    @property
    def invalidation(self) -> Fraction:
        """How many units that say an older statement no longer holds are covered."""
        return sum(
            (self.unit_coverage.get(kind, Fraction(0)) for kind in INVALIDATION_KINDS), Fraction(0)
        )

    @property
    def current(self) -> Fraction:
        """How many units of current truth are covered."""
        return self.unit_coverage.get(CURRENT, Fraction(0))

    @property
    def stale(self) -> Fraction:
        """How many units that are no longer true are covered."""
        return self.unit_coverage.get(STALE, Fraction(0))


class StoreValuer:
    """Values stores of one package, in whole numbers wherever that is exact.

    With a union, stores name copies of a text by their own ids.
    """

    def __init__(self, package: Package, form: Form, union: Union | None = None) -> None:
        self.package, self.form = package, form
        self._union = union or Union(package, {}, {})
        self._place = {id: u for u, id in enumerate(form.candidate_ids)}
        self._kind = {unit.id: unit.kind for unit in package.units}
        self._share = {unit.id: unit.share for unit in package.units}

    @cached_property
    def _known_rows(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The form's rows, with cells that nobody judged at their value."""
        # The form takes every cell at the most it could be, so that its optimum bounds the true
        # one; a value counts only what was judged.
        if not self.package.is_open:
            return self.form.rows
        unit_place = {id: r for r, id in enumerate(self.form.unit_ids)}
        known = {
            (self._place[cell.candidate], unit_place[cell.unit]): cell.value / cell.most
            for cell in self.package.coverage
            if cell.most != cell.value and cell.unit in unit_place
        }
        return tuple(
            tuple((r, int(level * known.get((u, r), 1))) for r, level in row)
            for u, row in enumerate(self.form.rows)
        )

    def cost(self, store: Iterable[str]) -> Fraction:
        """What a store costs; every copy is paid for."""
        known, copies = self.package.candidate, self._union.copies
        return total((known[id] if id in known else copies[id]).cost for id in store)

    def _levels(self, chosen: Sequence[int]) -> dict[int, int]:
        """Per touched unit, the summed levels that are known."""
        amounts: dict[int, int] = {}
        for u in chosen:
            for r, level in self._known_rows[u]:
                amounts[r] = amounts.get(r, 0) + level
        return amounts

    @cached_property
    def _cells(self) -> tuple[int, dict[str, list[tuple[str, int]]]]:
        """Every candidate's coverage in multiples of one number's inverse, and that number."""
        # Whole multiples of one step: whole numbers add up much faster than fractions.
        steps = lcm(1, *(cell.value.denominator for cell in self.package.coverage))
        rows: dict[str, list[tuple[str, int]]] = {id: [] for id in self._place}
        for cell in self.package.coverage:
            rows[cell.candidate].append((cell.unit, int(cell.value * steps)))
        return steps, rows

    def value(self, store: Sequence[str]) -> Fraction:
        """The value alone, for the many stores of a random cut."""
        levels = self._levels([self._place[id] for id in self._union.candidates(store)])
        worth = sum(self.form.levels[unit].low(level) for unit, level in levels.items())
        return Fraction(worth, self.form.value_scale)

    def worth(self, store: Sequence[str]) -> StoreValue:
        """The value of a store of known candidates."""
        form, (steps, rows) = self.form, self._cells
        ids = self._union.candidates(store)
        chosen = [self._place[id] for id in ids]
        worth: Counter[str] = Counter()
        for unit, level in self._levels(chosen).items():
            worth[self._kind[form.unit_ids[unit]]] += form.levels[unit].low(level)
        amounts: Counter[str] = Counter()
        for id in ids:
            for name, amount in rows[id]:
                amounts[name] += amount
        covered: dict[str, Fraction] = {}
        for name, amount in amounts.items():
            kind = self._kind[name]
            share = self._share[name] * Fraction(min(steps, amount), steps)
            covered[kind] = covered.get(kind, Fraction(0)) + share
        candidate = self.package.candidate
        value = Fraction(sum(worth.values()), form.value_scale)
        return StoreValue(
            value=value,
            highest=Fraction(form.low(chosen), form.value_scale) if self.package.is_open else value,
            assumed=assumed_share(self.package, ids),
            cost=self.cost(store),
            kinds=dict(sorted(Counter(candidate[id].kind for id in ids).items())),
            unit_values={k: Fraction(v, form.value_scale) for k, v in sorted(worth.items())},
            unit_coverage=dict(sorted(covered.items())),
        )

    def by_unit(self, store: Sequence[str]) -> dict[str, Enclosure]:
        """The value of each covered unit; a point unless its h is irrational."""
        form = self.form
        levels = self._levels([self._place[id] for id in self._union.candidates(store)])
        return {
            form.unit_ids[unit]: Enclosure(
                Fraction(form.levels[unit].low(level), form.value_scale),
                Fraction(form.levels[unit].value(level), form.value_scale),
            )
            for unit, level in levels.items()
        }

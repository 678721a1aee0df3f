"""What a store is worth and costs, and its ratio to a certified optimum."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Literal

from memaudit.core.exact import Enclosure
from memaudit.core.optimum import Optimum
from memaudit.core.package import CURRENT, INVALIDATION_KINDS, STALE, Package
from memaudit.solvers.form import Form


@dataclass(frozen=True, slots=True)
class Score:
    """A store's value and its make-up. Coverage of a unit kind is the sum of min(1, covered)."""

    value: Fraction
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


class Scorer:
    """Scores stores of one package, in whole numbers wherever that is exact."""

    def __init__(self, package: Package, form: Form) -> None:
        self.package, self.form = package, form
        self._place = {id: u for u, id in enumerate(form.candidate_ids)}
        self._kind = {unit.id: unit.kind for unit in package.units}

    @cached_property
    def _cells(self) -> tuple[int, dict[str, list[tuple[str, int]]]]:
        """Every candidate's coverage in multiples of one number's inverse, and that number."""
        steps = lcm(1, *(cell.value.denominator for cell in self.package.coverage))
        rows: dict[str, list[tuple[str, int]]] = {id: [] for id in self._place}
        for cell in self.package.coverage:
            rows[cell.candidate].append((cell.unit, int(cell.value * steps)))
        return steps, rows

    def score(self, store: Sequence[str]) -> Score:
        """The score of a store of known candidates."""
        form, (steps, rows) = self.form, self._cells
        chosen = [self._place[id] for id in store]
        worth: Counter[str] = Counter()
        for unit, level in form.cover(chosen).items():
            worth[self._kind[form.unit_ids[unit]]] += form.levels[unit].low(level)
        amounts: Counter[str] = Counter()
        for id in store:
            for name, amount in rows[id]:
                amounts[name] += amount
        covered: Counter[str] = Counter()
        for name, amount in amounts.items():
            covered[self._kind[name]] += min(steps, amount)
        candidate = self.package.candidate
        return Score(
            value=Fraction(sum(worth.values()), form.value_scale),
            cost=Fraction(sum(form.cost[u] for u in chosen), form.cost_scale),
            kinds=dict(sorted(Counter(candidate[id].kind for id in store).items())),
            unit_values={k: Fraction(v, form.value_scale) for k, v in sorted(worth.items())},
            unit_coverage={k: Fraction(v, steps) for k, v in sorted(covered.items())},
        )

    def by_unit(self, store: Sequence[str]) -> dict[str, Enclosure]:
        """The value of each covered unit; a point unless its h is irrational."""
        form = self.form
        levels = form.cover([self._place[id] for id in store])
        return {
            form.unit_ids[unit]: Enclosure(
                Fraction(form.levels[unit].low(level), form.value_scale),
                Fraction(form.levels[unit].value(level), form.value_scale),
            )
            for unit, level in levels.items()
        }


Basis = Literal["package", "union", "common union"]

NOT_CERTIFIED = "optimum not certified"
OPTIMUM_IS_ZERO = "optimum is 0"


def bound_text(optimum: Optimum) -> str:
    """How far an optimum is known that is not certified, in words."""
    low, high = f"{float(optimum.value):.7g}", f"{float(optimum.bound):.7g}"
    if not optimum.gap:
        return f"is {low} by its bound, but its certificate is not finished"
    return f"is not certified, it lies between {low} and {high}"


@dataclass(frozen=True, slots=True)
class Ratio:
    """Undefined where the optimum is 0 or not certified: counted, never taken as 0 or 1.

    `highest` is what the numerator may be at most, where it is itself an optimum that is not
    certified.
    """

    numerator: Fraction
    optimum: Optimum
    basis: Basis = "package"
    highest: Fraction | None = None

    @property
    def undefined(self) -> str:
        """Why there is no ratio; empty where there is one."""
        if not self.optimum.certified or self.highest is not None:
            return NOT_CERTIFIED
        return OPTIMUM_IS_ZERO if self.optimum.value == 0 else ""

    @property
    def value(self) -> Fraction | None:
        """The ratio; below it by at most the width of the enclosure where some h is irrational."""
        if self.undefined:
            return None
        high = self.optimum.value_high
        return self.numerator / (self.optimum.value if high is None else high)

    @property
    def slack(self) -> Fraction:
        """What the width of the optimum's enclosure takes from `value`, as a factor: 1 unless some
        h is irrational. A store that is optimal itself has a value of 1 divided by it."""
        high = self.optimum.value_high
        return Fraction(1) if high is None or not self.optimum.value else high / self.optimum.value

    @property
    def between(self) -> tuple[Fraction, Fraction] | None:
        """Where the ratio lies while the optimum is known only to lie between what was found and
        its bound; None where the ratio is known, or nothing is."""
        if self.undefined != NOT_CERTIFIED or not self.optimum.value:
            return None
        low = self.numerator / self.optimum.bound
        if self.highest is None:
            return low, self.numerator / self.optimum.value
        return low, min(Fraction(1), self.highest / self.optimum.value)  # a part of the optimum

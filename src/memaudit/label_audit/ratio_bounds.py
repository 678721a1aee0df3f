"""Certified bounds of a ratio when open cells may each have any of the labels they were given.

Let every open cell lie between its lowest and its highest label, S be a store, F(S) its value and
OPT the optimum. F and OPT never fall when a label rises, so for every labelling of the box

    F(S), all low / OPT, all high   <=   F(S) / OPT   <=   min(1, F(S), all high / OPT, all low).

The 1 holds because S is feasible, so OPT >= F(S) under the same labels. Labels of candidates that S
does not keep move OPT alone. Those of S move both, and not always in favour of S: a label may be
worth more to the best store than to S, which has the unit already. The lower bound is the better of
the one above and of `lowest_ratio`, which takes both into account.

Four labellings of the box are tried: all low, all high, and the labels of S at one end with all
others at the other. Their ratios are reached. If the lowest or the highest of them equals its
bound, the bound is exact.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.exact import Enclosure
from memaudit.core.package import Package
from memaudit.core.response import Capped, Piecewise, Response
from memaudit.label_audit.audited_package import NOT_COVERED, CellLabels, own_values, relabelled
from memaudit.label_audit.fixed_stores import FixedStores, StoreKey
from memaudit.label_audit.relabelled_optima import (
    OptimumSummary,
    RelabelledScorer,
    RelabelledScores,
    Relabelling,
)
from memaudit.natural.label_passes import CellKey
from memaudit.scoring.score import NOT_CERTIFIED, OPTIMUM_IS_ZERO


@dataclass(frozen=True, slots=True)
class LabelBox:
    """Open cells with the lowest and the highest label that each of them was given."""

    low: CellLabels
    high: CellLabels


def label_box(labellings: Iterable[CellLabels], own: CellLabels) -> LabelBox:
    """The cells on which labellings differ from each other or from the package's own labels.

    A cell that a labelling leaves out has the package's own label there.
    """
    given: dict[CellKey, set[Fraction]] = {}
    for labels in labellings:
        for at, value in labels.items():
            given.setdefault(at, {own.get(at, NOT_COVERED)}).add(value)
    wide = {at: values for at, values in sorted(given.items()) if len(values) > 1}
    return LabelBox(
        {at: min(values) for at, values in wide.items()},
        {at: max(values) for at, values in wide.items()},
    )


@dataclass(frozen=True, slots=True)
class BoundsTask:
    """A package, its stores, the labellings already solved, and those of single units."""

    package: Package
    box: LabelBox
    fixed: FixedStores
    budgets: tuple[Fraction, ...]
    known: tuple[tuple[Relabelling, RelabelledScores], ...]
    units: tuple[Relabelling, ...]
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class BoundsResult:
    """The bounds, or why there are none, and the scores under single units' labels."""

    bounds: Mapping[StoreKey, "RatioBounds | str"]
    units: Mapping[Relabelling, RelabelledScores]


def bounds_of_package(task: BoundsTask) -> BoundsResult:
    """Both ends of the box come first: they decide most of what is between them."""
    optima = BoxOptima(task.package, task.box, task.seconds)
    for labelling, scores in task.known:
        optima.learn(dict(labelling), scores)
    for budget in task.budgets:
        for end in (task.box.high, task.box.low):
            optima.optimum(end, budget)
    stores = task.fixed.stores
    return BoundsResult(
        {at: ratio_bounds(optima, store, at[1]) for at, store in stores.items()},
        {unit: optima.scores(dict(unit), task.fixed, task.budgets) for unit in task.units},
    )


@dataclass(frozen=True, slots=True)
class RatioBounds:
    """No labelling gives a ratio outside [low, high]; `reached_` ratios are of tried labellings.

    With `sometimes_undefined`, OPT is 0 under some labellings: the bounds hold where it is not.
    """

    low: Fraction
    high: Fraction
    reached_low: Fraction | None
    reached_high: Fraction | None
    sometimes_undefined: bool

    @property
    def exact(self) -> bool:
        """Whether both bounds are reached."""
        return (self.low, self.high) == (self.reached_low, self.reached_high)


def ratio_bounds(optima: "BoxOptima", store: Sequence[str], budget: Fraction) -> RatioBounds | str:
    """The bounds of a feasible store's ratio, or why there are none."""
    box = optima.box
    lowest, best = optima.optimum(box.low, budget), optima.optimum(box.high, budget)
    if NOT_CERTIFIED in (lowest.undefined, best.undefined):
        return NOT_CERTIFIED
    if best.highest == 0:
        return OPTIMUM_IS_ZERO
    low = optima.values(box.low)
    at_least, at_most = low.worth(store).low, optima.values(box.high).worth(store).high
    # Where OPT may be 0 so may F, and a store of some value can be all there is.
    ceiling = at_most / lowest.value if lowest.value else Fraction(at_most > 0)
    kept = set(store)
    own = {at for at in box.low if at[0] in kept}
    low_own_high_others = _mixed(box.low, box.high, own)
    tried = (box.low, box.high, low_own_high_others, _mixed(box.high, box.low, own))
    reached = [
        optima.values(labels).worth(store).low / optimum.highest
        for labels in tried
        if not (optimum := optima.optimum(labels, budget)).undefined
    ]
    start = optima.optimum(low_own_high_others, budget)
    floor = at_least / best.highest
    if start.certified:
        gains = unit_gains(low, box, own, store)
        floor = max(floor, lowest_ratio(at_least, start.highest, gains))
    return RatioBounds(
        low=floor,
        high=min(Fraction(1), ceiling),
        reached_low=min(reached, default=None),
        reached_high=max(reached, default=None),
        sometimes_undefined=lowest.value == 0,
    )


def _mixed(own: CellLabels, others: CellLabels, mine: set[CellKey]) -> dict[CellKey, Fraction]:
    """One end's labels for the store's own cells, the other end's for all others."""
    return {at: own[at] if at in mine else others[at] for at in own}


Gain = tuple[Fraction, Fraction]
"""What S gains, and at most what any store gains."""


def lowest_ratio(value: Fraction, optimum: Fraction, gains: Sequence[Sequence[Gain]]) -> Fraction:
    """How far a ratio can fall when labels of the store itself are open.

    Others' labels are worst for S where they are highest, as they move OPT alone. Start there, with
    the labels of S lowest, and raise those of S in unit u by d in all. F(S) grows by

        a(d) = w (h(z + d) - h(z)),   z being how far S covers u already,

    and every other store grows by no more than b(d) = w h(d), since h is concave with h(0) = 0. So

        F(S) / OPT  >=  min over d of (F(S) + sum of a(d)) / (OPT + sum of b(d)),

    with F(S) and OPT as at the start. a and b are straight between corners of h, so corners are
    tried (`unit_gains`). If S has nothing else for the unit, a = b: then raising its labels never
    lowers the ratio. The minimum, with one gain per unit, is found by Dinkelbach's rule: take what
    lowers the ratio until nothing does.
    """
    if not optimum:  # then value is 0 too, and no sum of gains is below its lowest part
        return min((a / b for unit in gains for a, b in unit if b), default=Fraction(0))
    ratio = value / optimum
    while True:
        chosen = [min(unit, key=lambda gain: gain[0] - ratio * gain[1]) for unit in gains]
        top, bottom = sum(a for a, _ in chosen), sum(b for _, b in chosen)
        next_ratio = (value + top) / (optimum + bottom)
        if next_ratio >= ratio:
            return ratio
        ratio = next_ratio


def unit_gains(
    low: "StoreValues", box: LabelBox, own: Iterable[CellKey], store: Iterable[str]
) -> list[list[Gain]]:
    """For each unit that the store's own cells leave open, the gains of raising them so far."""
    room: dict[str, Fraction] = defaultdict(Fraction)
    for at in own:
        if at[1] in low.units:
            room[at[1]] += box.high[at] - box.low[at]
    covered = low.amounts(store)
    return [
        _gains(*low.units[unit], covered.get(unit, Fraction(0)), most)
        for unit, most in sorted(room.items())
    ]


def _gains(weight: Fraction, response: Response, covered: Fraction, most: Fraction) -> list[Gain]:
    corners = _corners(response)
    if corners is None:  # an irrational h bends everywhere: S may gain nothing, others all
        return [(Fraction(0), Fraction(0)), (Fraction(0), weight * response.at(most).high)]
    steps = {Fraction(0), most}
    steps |= {at for corner in corners for at in (corner, corner - covered) if 0 < at < most}
    start = response.at(covered).low
    return [
        (weight * (response.at(covered + step).low - start), weight * response.at(step).low)
        for step in sorted(steps)
    ]


def _corners(response: Response) -> tuple[Fraction, ...] | None:
    """Where h bends; None if it bends everywhere."""
    if isinstance(response, Capped):
        return (response.cap,)
    if isinstance(response, Piecewise):
        return tuple(at for at, _ in response.points)
    return None


class StoreValues:
    """F of stores under one labelling. `units` are those with a weight, with their response."""

    def __init__(self, package: Package) -> None:
        weights = package.weights
        self.units = {
            unit.id: (weights[unit.id], unit.response) for unit in package.units if weights[unit.id]
        }
        self._cells: dict[str, dict[str, Fraction]] = {
            candidate.id: {} for candidate in package.candidates
        }
        for row in package.coverage:
            if row.unit in self.units:
                self._cells[row.candidate][row.unit] = row.value

    def changed(self, labels: CellLabels) -> "StoreValues":
        """The same with other labels for some cells."""
        other = StoreValues.__new__(StoreValues)
        other.units, other._cells = self.units, dict(self._cells)
        own: dict[str, dict[str, Fraction]] = defaultdict(dict)
        for (candidate, unit), value in labels.items():
            if unit in self.units:
                own[candidate][unit] = value
        for candidate, cells in own.items():
            other._cells[candidate] = {**self._cells[candidate], **cells}
        return other

    def amounts(self, store: Iterable[str]) -> dict[str, Fraction]:
        """How far a store covers each unit that has a weight."""
        amounts: dict[str, Fraction] = defaultdict(Fraction)
        for candidate in store:
            for unit, value in self._cells[candidate].items():
                amounts[unit] += value
        return amounts

    def worth(self, store: Iterable[str]) -> Enclosure:
        """F of a store; a point unless some h is irrational."""
        total = Enclosure(Fraction(0), Fraction(0))
        for unit, amount in self.amounts(store).items():
            weight, response = self.units[unit]
            total += response.at(amount).times(weight)
        return total


_BoxLabels = tuple[Fraction, ...]
"""The labels of all open cells, in their order."""


class BoxOptima:
    """Optima of labellings of a box, solved only if those already proven leave them open.

    OPT never falls when a label rises. So the optimum of a labelling is at most that of any
    labelling that is nowhere lower, and at least what any known store is worth under it. If the two
    meet, the optimum is known: the other labelling's certificate and the store prove it.
    Labellings name no cells outside the box.
    """

    def __init__(self, package: Package, box: LabelBox, seconds: float | None = None) -> None:
        self.package, self.box, self.seconds = package, box, seconds
        own = own_values(package)
        self._own = {at: own.get(at, NOT_COVERED) for at in box.low}
        self._values = StoreValues(package)
        self._proven: dict[Fraction, list[tuple[_BoxLabels, OptimumSummary]]] = {}
        self._optima: dict[tuple[_BoxLabels, Fraction], OptimumSummary] = {}
        self._by_labels: dict[_BoxLabels, StoreValues] = {}
        self._scorers: dict[_BoxLabels, RelabelledScorer] = {}

    def learn(self, changed: CellLabels, scores: RelabelledScores) -> None:
        """Take over optima that are already solved; labels not given are the package's own."""
        for budget, best in scores.optima.items():
            self._add(self._all(changed), budget, best)

    def scores(
        self, changed: CellLabels, fixed: FixedStores, budgets: Iterable[Fraction]
    ) -> RelabelledScores:
        """All stores under a labelling; no package is built, so there is no digest."""
        values = self.values(changed)
        optima = {budget: self.optimum(changed, budget) for budget in budgets}
        worths = {at: values.worth(store).low for at, store in fixed.stores.items()}
        ratios = {
            at: None if optima[at[1]].undefined else worth / optima[at[1]].highest
            for at, worth in worths.items()
        }
        return RelabelledScores("", optima, worths, ratios)

    def optimum(self, changed: CellLabels, budget: Fraction) -> OptimumSummary:
        """The optimum of a labelling."""
        labels = self._all(changed)
        if (labels, budget) not in self._optima:
            best = self._implied(changed, budget)
            if best is None:
                if labels not in self._scorers:
                    package = relabelled(self.package, changed, "inside the box")
                    self._scorers[labels] = RelabelledScorer(package, self.seconds)
                best = self._scorers[labels].summary(budget)
                self._add(labels, budget, best)
            self._optima[labels, budget] = best
        return self._optima[labels, budget]

    def _implied(self, changed: CellLabels, budget: Fraction) -> OptimumSummary | None:
        """The optimum if it follows from known ones."""
        labels, proven = self._all(changed), self._proven.get(budget, [])
        above = [best.highest for known, best in proven if _nowhere_lower(known, labels)]
        if not above:
            return None
        bound, values = min(above), self.values(changed)
        for store in dict.fromkeys(best.store for _, best in proven):
            worth = values.worth(store)
            if worth.high == bound:
                undefined = "" if worth.low else OPTIMUM_IS_ZERO
                return OptimumSummary(worth.low, bound, True, undefined, store)
        return None

    def values(self, changed: CellLabels) -> StoreValues:
        """What stores are worth under a labelling."""
        labels = self._all(changed)
        if labels not in self._by_labels:
            self._by_labels[labels] = self._values.changed(changed)
        return self._by_labels[labels]

    def _all(self, changed: CellLabels) -> _BoxLabels:
        return tuple(changed.get(at, own) for at, own in self._own.items())

    def _add(self, labels: _BoxLabels, budget: Fraction, best: OptimumSummary) -> None:
        if best.undefined != NOT_CERTIFIED:
            self._proven.setdefault(budget, []).append((labels, best))


def _nowhere_lower(labels: _BoxLabels, others: _BoxLabels) -> bool:
    return all(label >= other for label, other in zip(labels, others, strict=True))


@dataclass(frozen=True, slots=True)
class MeanBounds:
    """Bounds of a mean over packages; `exact` if every package's are, and all always count."""

    low: Fraction
    high: Fraction
    exact: bool
    packages: int


def mean_bounds(bounds: Sequence[RatioBounds]) -> MeanBounds | None:
    """The range of the mean over packages with a ratio, whatever the labels of open cells.

    Packages whose OPT may be 0 may drop out of the mean: the worst choice of them counts.
    """
    if not bounds:
        return None
    always = [package for package in bounds if not package.sometimes_undefined]
    maybe = [package for package in bounds if package.sometimes_undefined]
    lows = sorted(package.low for package in maybe)
    highs = sorted((package.high for package in maybe), reverse=True)
    return MeanBounds(
        low=min(_means([package.low for package in always], lows)),
        high=max(_means([package.high for package in always], highs)),
        exact=not maybe and all(package.exact for package in bounds),
        packages=len(bounds),
    )


def _means(always: Sequence[Fraction], more: Sequence[Fraction]) -> list[Fraction]:
    """The means of the first numbers and an increasing part of the others."""
    total, count, means = sum(always, Fraction(0)), len(always), []
    if count:
        means.append(total / count)
    for number in more:
        total, count = total + number, count + 1
        means.append(total / count)
    return means

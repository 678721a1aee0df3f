"""Certified bounds of a ratio when open cells may have any of the labels they were given."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.response import Capped, Piecewise, Response
from memaudit.label_audit.audited_package import Cell, Labels
from memaudit.label_audit.label_box import Inside, Values
from memaudit.scoring.ratio import NOT_CERTIFIED, ZERO

Gain = tuple[Fraction, Fraction]
"""What S gains, and at most what any store gains."""


def gains(
    low: Values, low_labels: Labels, high_labels: Labels, mine: Iterable[Cell], store: Iterable[str]
) -> list[list[Gain]]:
    """For each unit that the store's own cells leave open, the gains of raising them so far."""
    room: dict[str, Fraction] = defaultdict(Fraction)
    for at in mine:
        if at[1] in low.units:
            room[at[1]] += high_labels[at] - low_labels[at]
    covered = low.amounts(store)
    return [_gains(*low.units[unit], covered.get(unit, Fraction(0)), most)
            for unit, most in sorted(room.items())]  # fmt: skip


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
    """Where h bends; None where it bends everywhere."""
    if isinstance(response, Capped):
        return (response.cap,)
    if isinstance(response, Piecewise):
        return tuple(at for at, _ in response.points)
    return None


def lowest_share(value: Fraction, optimum: Fraction, found: Sequence[Sequence[Gain]]) -> Fraction:
    """The least (value + sum of a) / (optimum + sum of b), one gain a unit, by Dinkelbach's rule:
    take what lowers the share so far until nothing does."""
    if not optimum:  # then value is 0 too, and no sum of gains is below its lowest part
        return min((a / b for unit in found for a, b in unit if b), default=Fraction(0))
    share = value / optimum
    while True:
        chosen = [min(unit, key=lambda gain: gain[0] - share * gain[1]) for unit in found]
        top, bottom = sum(a for a, _ in chosen), sum(b for _, b in chosen)
        next_share = (value + top) / (optimum + bottom)
        if next_share >= share:
            return share
        share = next_share


@dataclass(frozen=True, slots=True)
class Bounds:
    """No labelling gives a ratio outside [low, high]; `reached_` ratios are of labellings inside.

    `sometimes_undefined` says that OPT is 0 under some labellings: the bounds hold where it is not.
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


def bounds(inside: Inside, store: Sequence[str], budget: Fraction) -> Bounds | str:
    """The bounds of a feasible store's ratio, or why there are none."""
    box = inside.box
    lowest, best = inside.optimum(box.low, budget), inside.optimum(box.high, budget)
    if NOT_CERTIFIED in (lowest.undefined, best.undefined):
        return NOT_CERTIFIED
    if best.highest == 0:
        return ZERO
    low = inside.values(box.low)
    at_least, at_most = low.worth(store).low, inside.values(box.high).worth(store).high
    # Where OPT may be 0 so may F, and a store of some value can be all there is.
    ceiling = at_most / lowest.value if lowest.value else Fraction(at_most > 0)
    kept = set(store)
    mine = {at for at in box.low if at[0] in kept}
    reached = _reached(inside, mine, store, budget)
    start = inside.optimum(_mixed(box.low, box.high, mine), budget)
    floor = at_least / best.highest
    if start.certified:
        found = gains(low, box.low, box.high, mine, store)
        floor = max(floor, lowest_share(at_least, start.highest, found))
    return Bounds(
        low=floor,
        high=min(Fraction(1), ceiling),
        reached_low=min(reached, default=None),
        reached_high=max(reached, default=None),
        sometimes_undefined=lowest.value == 0,
    )


def _reached(
    inside: Inside, mine: set[Cell], store: Sequence[str], budget: Fraction
) -> list[Fraction]:
    """The ratios of four labellings of the box, those that are defined."""
    low, high = inside.box.low, inside.box.high
    tried = (low, high, _mixed(low, high, mine), _mixed(high, low, mine))
    ratios = (_ratio(inside, labels, store, budget) for labels in tried)
    return [ratio for ratio in ratios if ratio is not None]


def _mixed(own: Labels, others: Labels, mine: set[Cell]) -> dict[Cell, Fraction]:
    """One end's labels for the store's own cells, the other end's for all others."""
    return {at: own[at] if at in mine else others[at] for at in own}


def _ratio(
    inside: Inside, labels: Labels, store: Sequence[str], budget: Fraction
) -> Fraction | None:
    best = inside.optimum(labels, budget)
    return None if best.undefined else inside.values(labels).worth(store).low / best.highest


@dataclass(frozen=True, slots=True)
class MeanBounds:
    """Bounds of a mean over packages; `exact` where every package's are, and all always count."""

    low: Fraction
    high: Fraction
    exact: bool
    packages: int


def mean_bounds(found: Sequence[Bounds]) -> MeanBounds | None:
    """What the mean over packages with a ratio can be, whatever the labels of open cells.

    Packages whose OPT may be 0 may drop out of the mean: the worst choice of them counts.
    """
    if not found:
        return None
    always = [one for one in found if not one.sometimes_undefined]
    maybe = [one for one in found if one.sometimes_undefined]
    return MeanBounds(
        low=min(_means([one.low for one in always], sorted(one.low for one in maybe))),
        high=max(
            _means([one.high for one in always], sorted((one.high for one in maybe), reverse=True))
        ),
        exact=not maybe and all(one.exact for one in found),
        packages=len(found),
    )


def _means(always: Sequence[Fraction], more: Sequence[Fraction]) -> list[Fraction]:
    """The means of the first numbers and ever more of the others."""
    total, count, means = sum(always, Fraction(0)), len(always), []
    if count:
        means.append(total / count)
    for number in more:
        total, count = total + number, count + 1
        means.append(total / count)
    return means

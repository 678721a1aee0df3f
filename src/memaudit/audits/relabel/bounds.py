"""Certified bounds of a ratio when open cells may each have any of the labels they were given.

Let every open cell lie between its lowest and its highest label, S be a store, F(S) its value and
OPT the optimum. F and OPT never fall when a label rises, so for every labelling of the box

    F(S), all low / OPT, all high   <=   F(S) / OPT   <=   min(1, F(S), all high / OPT, all low).

The 1 holds because S is feasible, so OPT >= F(S) under the same labels. Labels of candidates that S
does not keep move OPT alone; those of S move both, and not always in favour of S: a label may be
worth more to the best store than to S, which has the unit already. The lower bound is the better of
the one above and of `floor`, which takes both into account.

Four labellings of the box are tried: all low, all high, and the labels of S at one end with all
others at the other. Their ratios are reached. Where the lowest or the highest of them equals its
bound, the bound is exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.audits.ratio import NOT_CERTIFIED, ZERO
from memaudit.audits.relabel.floor import gains, lowest_share
from memaudit.audits.relabel.inside import Inside
from memaudit.audits.relabel.labels import Cell, Labels


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

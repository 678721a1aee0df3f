"""How far a ratio can fall when labels of the store itself are open.

Others' labels are worst for S where they are highest, as they move OPT alone. Start there, with the
labels of S lowest, and raise those of S in unit u by d in all. F(S) grows by

    a(d) = w (h(z + d) - h(z)),   z being how far S covers u already,

and every other store grows by no more than b(d) = w h(d), since h is concave with h(0) = 0. So

    F(S) / OPT  >=  min over d of (F(S) + sum of a(d)) / (OPT + sum of b(d)),

with F(S) and OPT as at the start. a and b are straight between corners of h, so corners are tried.
Where S has nothing else for the unit a = b: then raising its labels never lowers the ratio.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction

from memaudit.audits.relabel.labels import Cell, Labels
from memaudit.audits.relabel.values import Values
from memaudit.core.response import Capped, Piecewise, Response

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

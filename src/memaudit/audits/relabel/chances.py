"""How a label may turn out with another annotator: odds by label and stratum.

In a group of cells, the share of y among the labels y that were seen in place of x is taken with
each cell counting as often as the cells of the packages that it stands for. Groups go from wide to
narrow: all cells, those of one candidate kind, also of one session or not, also of one unit kind:
the strata of a frame. Among the cells that the package labels alike, all of a stratum weigh the
same; wider groups mix weights.

Strata are small, so the odds of a group g lean on those of the next wider one, as if LEAN of its
labels had been seen in g too:

    odds(g) = (n share(g) + LEAN odds(wider)) / (n + LEAN),   odds(all) = share(all),

with n = (sum of weights)^2 / sum of squared weights: the number of labels where all weigh the same.
What nobody ever said in place of x is never drawn.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from memaudit.audits.frames.cell import SESSIONS
from memaudit.audits.frames.population import Stratum

LEAN = 10

Odds = Mapping[Fraction, Fraction]
"""Shares by label, in order of labels; they sum to 1, or there are none."""

_Group = tuple[str, ...]
_At = tuple[Fraction, _Group]


class Seen(NamedTuple):
    """Somebody said `other` of a cell that is labelled `label`."""

    stratum: Stratum
    label: Fraction
    other: Fraction
    weight: Fraction


class Chances:
    """What was seen, and the odds that follow; equal sights are counted."""

    def __init__(self, seen: Mapping[Seen, int]) -> None:
        self.counts: Counter[tuple[Fraction, Fraction]] = Counter()
        self._weights: dict[_At, dict[Fraction, Fraction]] = {}
        self._squares: dict[_At, Fraction] = defaultdict(Fraction)
        for one, count in seen.items():
            self.counts[one.label, one.other] += count
            path = _path(one.stratum)
            for length in range(len(path) + 1):
                at = one.label, path[:length]
                weights = self._weights.setdefault(at, defaultdict(Fraction))
                weights[one.other] += one.weight * count
                self._squares[at] += one.weight**2 * count
        self._found: dict[_At, Odds] = {}

    @property
    def labels(self) -> list[Fraction]:
        """The labels that odds are known for."""
        return sorted({label for label, _ in self.counts})

    def shares(self, label: Fraction) -> Odds:
        """The odds over all cells; empty where nothing was seen."""
        return self._odds(label, ())

    def odds(self, label: Fraction, stratum: Stratum) -> Odds:
        """The odds of a label in a stratum; empty where nothing was seen of the label."""
        return self._odds(label, _path(stratum))

    def _odds(self, label: Fraction, group: _Group) -> Odds:
        at = label, group
        if at not in self._found:
            wider = self._odds(label, group[:-1]) if group else {}
            self._found[at] = self._leaned(at, wider)
        return self._found[at]

    def _leaned(self, at: _At, wider: Odds) -> Odds:
        weights = self._weights.get(at)
        if weights is None:
            return wider
        total = sum(weights.values(), Fraction(0))
        number = total**2 / self._squares[at]
        lean, never = LEAN if wider else 0, Fraction(0)
        shares = {
            other: number * weights.get(other, never) / total + lean * wider.get(other, never)
            for other in sorted(weights.keys() | wider.keys())
        }
        return {other: share / (number + lean) for other, share in shares.items()}


def _path(stratum: Stratum) -> _Group:
    kind, unit_kind, same_session = stratum
    return kind, SESSIONS[same_session], unit_kind

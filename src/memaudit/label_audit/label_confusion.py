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
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Literal, NamedTuple, get_args

from memaudit.core.errors import MemAuditError
from memaudit.label_audit.audited_package import Labels, changes
from memaudit.label_audit.cells import SESSIONS
from memaudit.label_audit.population import Strata, Stratum
from memaudit.label_audit.readings import Reading, annotators, consensus

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


Confusion = Literal["package", "annotators"]
CONFUSIONS: tuple[Confusion, ...] = get_args(Confusion)


def named_confusion(name: str) -> Confusion:
    """The confusion of a name; an error that lists them where there is none."""
    for known in CONFUSIONS:
        if name == known:
            return known
    raise MemAuditError(f"unknown confusion {name!r}; choose one of: {', '.join(CONFUSIONS)}")


def readers(readings: Sequence[Reading], own: Reading, confusion: Confusion) -> list[Reading]:
    """The label sets that the chances are measured with."""
    found = annotators(readings) or list(readings)
    if confusion == "package":
        return [one for one in found if _differs(one, own)] or found
    if len(found) < 2:
        raise MemAuditError(
            "--confusion annotators needs label sets of two annotators; give a second --labels"
        )
    return found


def measured_chances(
    readings: Sequence[Reading], own: Reading, strata: Mapping[str, Strata],
    confusion: Confusion = "package",
) -> Chances:  # fmt: skip
    """The chances, from the labels of all readers together."""
    found = readers(readings, own, confusion)
    seen = Counter(
        _with_package(found, own, strata)
        if confusion == "package"
        else _among_themselves(found, strata)
    )
    if not seen:
        raise MemAuditError(
            "the annotators share no cell, so nothing is known of their confusion; leave out "
            "--confusion annotators"
        )
    return Chances(seen)


def starting_labels(
    readings: Sequence[Reading], own: Reading, confusion: Confusion
) -> Mapping[str, Labels]:
    """The labels of the cells asked about that draws start from."""
    if confusion == "package":
        return own.labels
    agreed = consensus(readings)
    settled = {} if agreed is None else agreed.labels
    return {name: {**labels, **settled.get(name, {})} for name, labels in own.labels.items()}


def _with_package(
    found: Sequence[Reading], own: Reading, strata: Mapping[str, Strata]
) -> Iterator[Seen]:
    for reading in found:
        for package, labels in reading.labels.items():
            held, places = own.labels[package], strata[package]
            for at, label in labels.items():
                yield Seen(places.of(*at), held[at], label, reading.weight(package, at))


def _among_themselves(found: Sequence[Reading], strata: Mapping[str, Strata]) -> Iterator[Seen]:
    for one, other in permutations(found, 2):
        for package, labels in one.labels.items():
            theirs, places = other.labels.get(package, {}), strata[package]
            for at in labels.keys() & theirs.keys():
                weight = max(one.weight(package, at), other.weight(package, at))
                yield Seen(places.of(*at), labels[at], theirs[at], weight)


def _differs(reading: Reading, own: Reading) -> bool:
    return any(changes(own.labels[name], labels) for name, labels in reading.labels.items())

"""Labels drawn again: which cells are in doubt, and how likely each other label is.

Every cell in doubt is drawn by itself, with the odds of its label and stratum. Nothing ties cells
together in a draw: an annotator who is strict throughout, or misreads a unit in all its cells,
moves ratios further than such draws do. The odds are taken as measured.

The confusion is between the package and the annotators: given that the package labels a cell x, an
annotator says y. Draws start from the package's labels and show where its ratios might lie if any
of these annotators had labelled instead. Frames are drawn by the package's label, so these odds do
not depend on how many cells of which label a frame holds. One annotator is enough, and it shows if
all annotators contradict the package, which no confusion among annotators does.

Annotators are the sources that are not models; with models only, these. A source equal to the
package's labels would be compared with itself: it is left out, unless it is the only one.

Odds in a group of cells are the share of y among the labels y seen in place of x, with each cell
counting as often as the package cells that it stands for. Groups go from wide to narrow: all cells,
those of one candidate kind, also of one session or not, also of one unit kind: the strata of a
frame. Strata are small, so the odds of a group g lean on those of the next wider one, as if LEAN of
its labels had been seen in g too:

    odds(g) = (n share(g) + LEAN odds(wider)) / (n + LEAN),   odds(all) = share(all),

with n = (sum of weights)^2 / sum of squared weights: the number of labels if all weigh the same.
A label that was never given in place of x is never drawn.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from memaudit.building.label_passes import CellKey
from memaudit.kernel.stats.bootstrap import Floats, Indices
from memaudit.lab.labels.audited_package import NOT_COVERED, AuditedPackage, CellLabels, changes
from memaudit.lab.labels.frame import SESSIONS, Frame, by_part
from memaudit.lab.labels.label_sources import LabelSource, annotator_sources
from memaudit.lab.labels.package_cells import Strata, Stratum, cells_of, judged_cells

LEAN = 10


@dataclass(frozen=True, slots=True)
class LabelSamples:
    """All draws of labels. Tuples are by package, in the order of the audit.

    `sources` are the names of the label sets that `odds` are measured with, `represented` the cells
    in doubt beyond those asked about.
    """

    sources: tuple[str, ...]
    odds: "LabelOdds"
    strata: Mapping[str, Strata]
    represented: "RepresentedCells"
    by_package: tuple["PackageSamples", ...]

    def labels(self, place: int, seed: int, draw: int) -> dict[CellKey, Fraction]:
        """A draw for one package: the labels that differ from the package's."""
        return self.by_package[place].drawn(seed, draw)

    @property
    def expected_changes(self) -> float:
        """How many labels differ from the start in a draw, on average."""
        return sum(package.expected_changes for package in self.by_package)


def label_samples(
    packages: Sequence[AuditedPackage],
    sources: Sequence[LabelSource],
    own: LabelSource,
    frame: Frame | None,
) -> LabelSamples:
    """The cells in doubt and their odds."""
    strata = {audited.name: Strata(audited.scored) for audited in packages}
    odds = measured_odds(sources, own, strata)
    represented = represented_cells(packages, own, frame, strata)
    return LabelSamples(
        tuple(source.name for source in compared_sources(sources, own)),
        odds,
        strata,
        represented,
        tuple(
            PackageSamples(
                audited.name,
                {
                    **own.labels[audited.name],
                    **dict.fromkeys(represented.cells[audited.name], NOT_COVERED),
                },
                strata[audited.name],
                odds,
            )
            for audited in packages
        ),
    )


def compared_sources(sources: Sequence[LabelSource], own: LabelSource) -> list[LabelSource]:
    """The label sets that the odds are measured with."""
    # People decide where there are any: a model that errs otherwise would blur their odds.
    people = annotator_sources(sources) or list(sources)
    # A pass that gave the package its labels agrees with it by construction and would halve all
    # odds of a change.
    return [source for source in people if _differs(source, own)] or people


def _differs(source: LabelSource, own: LabelSource) -> bool:
    return any(changes(own.labels[name], labels) for name, labels in source.labels.items())


class LabelPair(NamedTuple):
    """A source gave `other` to a cell that is labelled `label`."""

    stratum: Stratum
    label: Fraction
    other: Fraction
    weight: Fraction


def measured_odds(
    sources: Sequence[LabelSource], own: LabelSource, strata: Mapping[str, Strata]
) -> "LabelOdds":
    """The odds, from the labels of all compared sources together."""
    pairs: Counter[LabelPair] = Counter()
    for source in compared_sources(sources, own):
        for package, labels in source.labels.items():
            own_labels, places = own.labels[package], strata[package]
            pairs.update(
                LabelPair(places.of(*at), own_labels[at], label, source.weight(package, at))
                for at, label in labels.items()
            )
    return LabelOdds(pairs)


Odds = Mapping[Fraction, Fraction]
"""Shares by label, in order of labels; they sum to 1, or there are none."""

_Group = tuple[str, ...]
_LabelInGroup = tuple[Fraction, _Group]


class LabelOdds:
    """The odds that follow from label pairs, each with its count."""

    def __init__(self, pairs: Mapping[LabelPair, int]) -> None:
        self.counts: Counter[tuple[Fraction, Fraction]] = Counter()
        self._weights: dict[_LabelInGroup, dict[Fraction, Fraction]] = {}
        self._squares: dict[_LabelInGroup, Fraction] = defaultdict(Fraction)
        for pair, count in pairs.items():
            self.counts[pair.label, pair.other] += count
            path = _groups(pair.stratum)
            for length in range(len(path) + 1):
                at = pair.label, path[:length]
                weights = self._weights.setdefault(at, defaultdict(Fraction))
                weights[pair.other] += pair.weight * count
                self._squares[at] += pair.weight**2 * count
        self._cache: dict[_LabelInGroup, Odds] = {}

    @property
    def labels(self) -> list[Fraction]:
        """The labels with known odds."""
        return sorted({label for label, _ in self.counts})

    def shares(self, label: Fraction) -> Odds:
        """The odds over all cells; empty if nothing was seen."""
        return self._odds(label, ())

    def odds(self, label: Fraction, stratum: Stratum) -> Odds:
        """The odds of a label in a stratum; empty if nothing was seen of the label."""
        return self._odds(label, _groups(stratum))

    def _odds(self, label: Fraction, group: _Group) -> Odds:
        at = label, group
        if at not in self._cache:
            wider = self._odds(label, group[:-1]) if group else {}
            self._cache[at] = self._leaned(at, wider)
        return self._cache[at]

    def _leaned(self, at: _LabelInGroup, wider: Odds) -> Odds:
        weights = self._weights.get(at)
        if weights is None:
            return wider
        total = sum(weights.values(), Fraction(0))
        # Kish's effective number: labels of unequal weight tell less than as many equal ones.
        number = total**2 / self._squares[at]
        # The widest group has nothing to lean on; its odds are what was seen.
        lean, never = LEAN if wider else 0, Fraction(0)
        shares = {
            other: number * weights.get(other, never) / total + lean * wider.get(other, never)
            for other in sorted(weights.keys() | wider.keys())
        }
        return {other: share / (number + lean) for other, share in shares.items()}


def _groups(stratum: Stratum) -> _Group:
    kind, unit_kind, same_session = stratum
    return kind, SESSIONS[same_session], unit_kind


class PackageSamples:
    """The cells of one package whose labels are drawn, with the labels they start from."""

    def __init__(self, package: str, start: CellLabels, strata: Strata, odds: LabelOdds) -> None:
        self.package = package
        self._cells: list[CellKey] = sorted(start)
        self._labels = sorted({other for label in odds.labels for other in odds.shares(label)})
        # Cells of one label and stratum share their odds. A package has some ten thousand cells and
        # a few dozen such kinds, so the table is by kind and cells hold a row of it.
        kinds = [(start[at], strata.of(*at)) for at in self._cells]
        place = {kind: row for row, kind in enumerate(dict.fromkeys(kinds))}
        self._rows: Indices = np.array([place[kind] for kind in kinds], np.int64)
        table = np.zeros((len(place), len(self._labels)))
        for (label, stratum), row in place.items():
            shares = odds.odds(label, stratum)
            table[row] = [
                0.0 if other == label else float(shares.get(other, 0)) for other in self._labels
            ]
        # Running sums: a number below the last step changes the label, to the first label whose
        # step is above it. What is left up to 1 is the chance that the label stays.
        self._steps: Floats = np.cumsum(table, axis=1)

    @property
    def expected_changes(self) -> float:
        """How many cells change their label in a draw, on average."""
        return float(self._steps[self._rows, -1].sum()) if self._cells else 0.0

    def drawn(self, seed: int, draw: int) -> dict[CellKey, Fraction]:
        """The cells whose label changes in this draw.

        Every draw of every package has its own random stream, so the result depends neither on the
        order of packages nor on which others are drawn.
        """
        if not self._cells:
            return {}
        numbers = _dice(seed, draw, self.package).random(len(self._cells))
        changed = np.flatnonzero(numbers < self._steps[self._rows, -1])
        passed = self._steps[self._rows[changed]] <= numbers[changed, None]
        return {
            self._cells[at]: self._labels[label]
            for at, label in zip(changed.tolist(), passed.sum(axis=1).tolist(), strict=True)
        }


def _dice(seed: int, draw: int, package: str) -> np.random.Generator:
    # Names may hold lone surrogates, as JSON allows; they are hashed as they are.
    name = f"{seed} {draw} {package}".encode("utf-8", "surrogatepass")
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name).digest()[:16], "big"))


@dataclass(frozen=True, slots=True)
class RepresentedCells:
    """Uncovered cells outside a frame that its drawn cells stand for, by package.

    A frame holds a share of the uncovered cells of each stratum. A drawn cell that weighs more than
    1 stands for others of its stratum, and what is doubtful about it is doubtful about them.

    `expected` is their number by the key; None if some packages of the frame are not audited.
    `available` counts those in the packages. `untouched` counts the other uncovered cells that
    nobody was asked about: they are not in doubt.
    """

    cells: Mapping[str, Sequence[CellKey]] = field(default_factory=dict)
    expected: Fraction | None = None
    available: int = 0
    untouched: int = 0

    @property
    def number(self) -> int:
        """The number of cells in doubt."""
        return sum(map(len, self.cells.values()))


def represented_cells(
    packages: Sequence[AuditedPackage],
    own: LabelSource,
    frame: Frame | None,
    strata: Mapping[str, Strata],
) -> RepresentedCells:
    """The cells that a frame's cells stand for; none without weights in its key."""
    # Without a frame nothing is represented: passes of packages judged each cell themselves.
    sample = _FrameSample(frame or Frame(()), packages, strata)
    cells: dict[str, list[CellKey]] = {}
    available = uncovered = 0
    for audited in packages:
        asked, package = own.labels[audited.name], audited.package
        outside = sample.outside(audited)
        available += len(outside)
        cells[audited.name] = [at for at in outside if at not in asked]
        # Counted by subtraction: a list of all uncovered cells of a long package would be large.
        uncovered += len(package.candidates) * len(package.units)
        uncovered -= sum(bool(row.value) for row in package.coverage)
        uncovered -= sum(not label and at[0] in package.candidate for at, label in asked.items())
    number = sum(map(len, cells.values()))
    return RepresentedCells(cells, sample.expected, available, uncovered - number)


class _FrameSample:
    """The strata that a frame holds a sample of, in the audited packages."""

    def __init__(
        self, frame: Frame, packages: Sequence[AuditedPackage], strata: Mapping[str, Strata]
    ) -> None:
        # Strata and labels are by part, a frame shows statements whole.
        frame, _ = by_part(frame)
        self.origin = frame.drawn_from
        self.cells: dict[str, set[CellKey]] = {audited.name: set() for audited in packages}
        self.strata: set[Stratum] = set()
        known = {audited.name: audited for audited in packages}
        stands_for = Fraction(0)
        for cell in frame.cells:
            keyed = frame.key.get(cell.id)
            weight = Fraction(1) if keyed is None else keyed.weight
            stands_for += weight - 1
            if cell.package not in known:
                continue
            at = known[cell.package].cell(cell.candidate, cell.unit)
            self.cells[cell.package].add(at)
            if weight > 1:
                self.strata.add(strata[cell.package].of(*at))
        names = {cell.package for cell in frame.cells}
        if self.origin is not None:
            names |= self.origin.packages
        # A key says how many cells are represented in all packages it was drawn from; if some are
        # not audited here, the part that belongs to the others is unknown.
        self.expected = stands_for if stands_for and names <= known.keys() else None

    def outside(self, audited: AuditedPackage) -> list[CellKey]:
        """Uncovered cells of sampled strata that are not in the frame."""
        origin, package = self.origin, audited.package
        if not self.strata or (origin is not None and audited.name not in origin.packages):
            return []
        judged = judged_cells(package) if origin is not None and origin.judged_only else None
        kinds = {kind for kind, _, _ in self.strata}
        return [
            at
            for cell in cells_of(package, kinds)
            if cell.value == NOT_COVERED
            and cell.stratum in self.strata
            and (at := (cell.candidate.id, cell.unit.id)) not in self.cells[audited.name]
            and (judged is None or at in judged)
        ]

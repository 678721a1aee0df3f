"""How a label may turn out with another annotator, and labels drawn again by that.

The chance that a cell which the package labels x is labelled y is measured: the share of y among
the labels that annotators gave to such cells. It goes by the package's label, not by another
annotator's: a frame holds every covered cell but few of the others, so what one annotator says of
cells that another calls partial depends on how the frame was drawn. Label sets that are the
package's own say nothing about another annotator and are left out, unless there are no others.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.audits.relabel.labels import Cell, Labels, changes
from memaudit.audits.relabel.readings import Reading


@dataclass(frozen=True, slots=True)
class Chances:
    """For a label of the package, how many cells annotators gave each label, in order of labels."""

    odds: Mapping[Fraction, Mapping[Fraction, int]]

    def shares(self, label: Fraction) -> dict[Fraction, Fraction]:
        """The odds as shares that sum to 1; empty where nothing was measured."""
        odds = self.odds.get(label, {})
        total = sum(odds.values())
        return {other: Fraction(count, total) for other, count in odds.items()}


def measured_chances(readings: Sequence[Reading], own: Reading) -> Chances:
    """From the packages' own labels to those of all label sets together."""
    others = [one for one in readings if _differs(one, own)] or readings
    found: dict[Fraction, Counter[Fraction]] = defaultdict(Counter)
    for reading in others:
        for package, labels in reading.labels.items():
            for at, label in labels.items():
                found[own.labels[package][at]][label] += 1
    return Chances({label: dict(sorted(row.items())) for label, row in sorted(found.items())})


def _differs(reading: Reading, own: Reading) -> bool:
    return any(changes(own.labels[name], labels) for name, labels in reading.labels.items())


def drawn(
    own: Labels, chances: Chances, seed: int, draw: int, package: str
) -> dict[Cell, Fraction]:
    """The judged cells whose label turns out otherwise in this draw.

    Every draw of every package has its own dice, so neither order nor company changes it.
    """
    dice = random.Random(f"{seed} {draw} {package}")
    found = {}
    for at in sorted(own):
        row = chances.odds.get(own[at])
        if row is None:
            continue
        place = dice.randrange(sum(row.values()))
        for label, odds in row.items():
            if place < odds:
                if label != own[at]:
                    found[at] = label
                break
            place -= odds
    return found

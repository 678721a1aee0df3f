"""How much each cell of a frame weighs: once as drawn, and as many cells as it stands for."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from memaudit.audits.agreement.coefficients import Table, table_of
from memaudit.audits.frames.cell import Frame
from memaudit.audits.statistics import Floats


@dataclass(frozen=True, slots=True)
class Weights:
    """A weight for every cell, held as places in the list of distinct weights."""

    distinct: tuple[Fraction, ...]
    places: NDArray[np.int64]

    @property
    def exact(self) -> list[Fraction]:
        """Cell by cell."""
        return [self.distinct[place] for place in self.places.tolist()]

    @property
    def floats(self) -> Floats:
        """Cell by cell, in floating point."""
        found: Floats = np.array([float(one) for one in self.distinct])[self.places]
        return found

    def table(self, places: NDArray[np.int64], size: int) -> Table:
        """What the cells at each place of a square table weigh together; -1 is no place."""
        kept = places >= 0
        kinds = len(self.distinct)
        at = places[kept] * kinds + self.places[kept]
        counts = np.bincount(at, minlength=size**2 * kinds).reshape(-1, kinds)
        return table_of([self._sum(row) for row in counts.tolist()], size)

    def _sum(self, counts: Sequence[int]) -> Fraction:
        pairs = zip(counts, self.distinct, strict=True)
        return sum((count * weight for count, weight in pairs if count), Fraction(0))


def as_drawn(frame: Frame) -> Weights:
    """Every cell once: the frame as it is."""
    return Weights((Fraction(1),), np.zeros(len(frame.cells), np.int64))


def natural(frame: Frame) -> Weights | None:
    """As many cells of the packages as each cell stands for; a cell without key stands for none.

    None where no key says so, or where it would change nothing because all weigh the same.
    """
    held = [
        frame.key[cell.id].weight if cell.id in frame.key else Fraction(0) for cell in frame.cells
    ]
    distinct = sorted(set(held))
    if not frame.key or len(distinct) == 1:
        return None
    place = {weight: at for at, weight in enumerate(distinct)}
    return Weights(tuple(distinct), np.array([place[one] for one in held], np.int64))

"""Labels drawn again: every doubtful cell by itself, with the odds of its label and stratum.

Nothing ties cells together in a draw: an annotator who is strict throughout, or misreads a unit in
all its cells, moves ratios further than such draws do. The odds are taken as measured.
"""

import hashlib
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from memaudit.audits.frames.population import Strata
from memaudit.audits.relabel.chances import Chances
from memaudit.audits.relabel.labels import Cell, Labels
from memaudit.audits.statistics import Floats

_Places = NDArray[np.int64]


class Doubt:
    """The cells of one package that may turn out otherwise, with the labels they start from."""

    def __init__(self, package: str, start: Labels, strata: Strata, chances: Chances) -> None:
        self.package = package
        self._cells: list[Cell] = sorted(start)
        self._labels = sorted(
            {other for label in chances.labels for other in chances.shares(label)}
        )
        kinds = [(start[at], strata.of(*at)) for at in self._cells]
        place = {kind: row for row, kind in enumerate(dict.fromkeys(kinds))}
        self._rows: _Places = np.array([place[kind] for kind in kinds], np.int64)
        odds = np.zeros((len(place), len(self._labels)))
        for (label, stratum), row in place.items():
            shares = chances.odds(label, stratum)
            odds[row] = [
                0.0 if other == label else float(shares.get(other, 0)) for other in self._labels
            ]
        self._steps: Floats = np.cumsum(odds, axis=1)

    @property
    def expected(self) -> float:
        """How many cells turn out otherwise in a draw, on average."""
        return float(self._steps[self._rows, -1].sum()) if len(self._cells) else 0.0

    def drawn(self, seed: int, draw: int) -> dict[Cell, Fraction]:
        """The cells whose label turns out otherwise in this draw.

        Every draw of every package has its own dice, so neither order nor company changes it.
        """
        if not self._cells:
            return {}
        numbers = _dice(seed, draw, self.package).random(len(self._cells))
        turned = np.flatnonzero(numbers < self._steps[self._rows, -1])
        passed = self._steps[self._rows[turned]] <= numbers[turned, None]
        return {
            self._cells[at]: self._labels[label]
            for at, label in zip(turned.tolist(), passed.sum(axis=1).tolist(), strict=True)
        }


def _dice(seed: int, draw: int, package: str) -> np.random.Generator:
    name = f"{seed} {draw} {package}".encode("utf-8", "surrogatepass")
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name).digest()[:16], "big"))

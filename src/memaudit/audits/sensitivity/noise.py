"""Label noise: some labels of package candidates and memories are wrong, chosen by a seed.

    flip      a label becomes one of the two others of none, partial and full, each as likely
    resample  a label is drawn again from all labels of the package and its stores
    move      a label goes to another unit, one its text has no label for: a miss and a false alarm

Labels are the listed cells; cells nobody listed stay 0 but for `move`. Cells that are exact by
construction stay as they are. What happens to a label depends on its text, its unit, the seed and
the repetition alone: equal texts of two systems are mislabelled alike, as one blind judge would,
and what goes wrong at a low rate goes wrong at a higher one too.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

from memaudit.audits.union import Cell, WrittenStore
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Coverage, Package
from memaudit.natural.coverage_rules import FULL, NONE, PARTIAL, is_exact

Kind = Literal["flip", "resample", "move"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LABELS = (NONE, PARTIAL, FULL)
DRAWN = 1 << 64
"""How many draws there are."""


@dataclass(frozen=True, slots=True)
class Noise:
    """A kind of error, the share of labels it strikes, and which draw of it."""

    kind: Kind
    rate: Fraction
    seed: int = 0
    repetition: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise MemAuditError(f"unknown noise {self.kind!r}; choose from {', '.join(KINDS)}")
        if not 0 <= self.rate <= 1:
            raise MemAuditError(f"noise rate {self.rate} is not between 0 and 1")

    def draw(self, text: str, unit: str) -> tuple[bool, int]:
        """Whether a label is struck, and a number to choose its new value by."""
        at = json.dumps([self.seed, self.repetition, text, unit]).encode()
        digest = hashlib.sha256(at).digest()
        struck = int.from_bytes(digest[:8]) < self.rate * DRAWN
        return struck, int.from_bytes(digest[8:16])


def mislabelled(
    package: Package, stores: Sequence[WrittenStore], noise: Noise
) -> tuple[Package, tuple[WrittenStore, ...]]:
    """The package and its stores with some of their labels wrong."""
    pool = _pool(package, stores)
    units = sorted(unit.id for unit in package.units)
    rows: dict[str, dict[str, Coverage]] = defaultdict(dict)
    for row in package.coverage:
        rows[row.candidate][row.unit] = row
    coverage: list[Coverage] = []
    for candidate in package.candidates:
        before = rows.get(candidate.id, {})
        cells = {unit: Cell(row.value, row.provenance or "") for unit, row in before.items()}
        for unit, cell in struck(candidate.text, cells, units, pool, noise).items():
            if cell is cells.get(unit):
                coverage.append(before[unit])
            elif cell.value:
                coverage.append(
                    Coverage(
                        candidate=candidate.id,
                        unit=unit,
                        value=cell.value,
                        provenance=cell.provenance,
                    )
                )
    noisy = tuple(
        replace(
            store,
            memories=tuple(
                replace(one, coverage=struck(one.text, one.coverage, units, pool, noise))
                for one in store.memories
            ),
        )
        for store in stores
    )
    return package.replace(coverage=tuple(coverage)), noisy


def struck(
    text: str,
    cells: Mapping[str, Cell],
    units: Sequence[str],
    pool: Sequence[Fraction],
    noise: Noise,
) -> dict[str, Cell]:
    """The cells of one text after the noise; a cell that is not struck is the same object."""
    found = dict(cells)
    free = [unit for unit in units if unit not in cells]
    for unit, cell in sorted(cells.items()):
        hit, number = noise.draw(text, unit)
        if not hit or is_exact(cell.provenance):
            continue
        if noise.kind == "move":
            if not free or not cell.value:
                continue
            del found[unit]
            unit = free[number % len(free)]
            value = max(cell.value, found[unit].value if unit in found else NONE)
        else:
            among = pool
            if noise.kind == "flip":
                among = [label for label in LABELS if label != cell.value]
            value = among[number % len(among)]
        found[unit] = Cell(value, f"noise:{noise.kind}")
    return found


def _pool(package: Package, stores: Sequence[WrittenStore]) -> list[Fraction]:
    """All labels that noise may strike, in order."""
    judged = [row.value for row in package.coverage if not is_exact(row.provenance)]
    for store in stores:
        for memory in store.memories:
            judged += (c.value for c in memory.coverage.values() if not is_exact(c.provenance))
    return sorted(judged)

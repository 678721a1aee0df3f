"""How far two label passes agree on the cells that both judged."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from memaudit.natural.label_passes import LabelPasses

Pair = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Raw agreement and Cohen's kappa, exact; kappa is None where chance alone would agree."""

    one: str
    other: str
    cells: int
    agreed: int
    kappa: Fraction | None

    @property
    def raw(self) -> Fraction | None:
        """The share of cells with the same value."""
        return Fraction(self.agreed, self.cells) if self.cells else None


def kappa(pairs: Counter[Pair]) -> Fraction | None:
    """Cohen's kappa, unweighted: (observed - expected) / (1 - expected)."""
    total = pairs.total()
    if not total:
        return None
    rows: Counter[Fraction] = Counter()
    columns: Counter[Fraction] = Counter()
    for (one, other), count in pairs.items():
        rows[one] += count
        columns[other] += count
    observed = Fraction(sum(n for (one, other), n in pairs.items() if one == other), total)
    expected = Fraction(sum(count * columns[value] for value, count in rows.items()), total**2)
    return None if expected == 1 else (observed - expected) / (1 - expected)


def agreements(labelled: Iterable[LabelPasses]) -> list[Agreement]:
    """Every two passes of the same names, their cells pooled over packages."""
    pooled: dict[tuple[str, str], Counter[Pair]] = {}
    for found in labelled:
        for place, one in enumerate(found.passes):
            for other in found.passes[place + 1 :]:
                pairs = pooled.setdefault((one.name, other.name), Counter())
                listed = one.cells.keys() | other.cells.keys()
                for at in listed:
                    values = [side.cells[at][0] if at in side.cells else 0 for side in (one, other)]
                    pairs[Fraction(values[0]), Fraction(values[1])] += 1
                # Cells that neither lists were judged by both as not covered.
                pairs[Fraction(0), Fraction(0)] += found.judged - len(listed)
    return [
        Agreement(one, other, pairs.total(), sum(n for (a, b), n in pairs.items() if a == b),
                  kappa(pairs))
        for (one, other), pairs in pooled.items()
    ]  # fmt: skip

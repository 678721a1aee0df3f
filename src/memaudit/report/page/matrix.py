"""The coverage of a package as a table: candidates down, units across, cut where it is large."""

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.package import Candidate, EvidenceUnit, Package

MOST_ROWS, MOST_COLUMNS = 48, 20
SHADES = 5


@dataclass(frozen=True, slots=True)
class Column:
    """A unit with its weight."""

    unit: EvidenceUnit
    weight: Fraction


@dataclass(frozen=True, slots=True)
class Cell:
    """A coverage and how dark it is shown, from 0 (nothing) to 5."""

    value: Fraction

    @property
    def shade(self) -> int:
        return -(-SHADES * self.value.numerator // self.value.denominator)


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A candidate and its cells."""

    candidate: Candidate
    by_opt: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """The table, and how much of it was left out."""

    columns: tuple[Column, ...]
    rows: tuple[MatrixRow, ...]
    hidden_units: int
    hidden_candidates: int


def matrix(package: Package, best: Collection[str], kept: Collection[str]) -> Matrix:
    """Units by weight where there are many; candidates that a store kept before the others."""
    rank = {e.id: e.index for e in package.experiences}
    candidates = sorted(package.candidates, key=lambda c: (rank[c.experience], c.id))
    if len(candidates) > MOST_ROWS:
        chosen = sorted(candidates, key=lambda c: (c.id not in best, c.id not in kept))[:MOST_ROWS]
        ids = {candidate.id for candidate in chosen}
        candidates = [candidate for candidate in candidates if candidate.id in ids]
    units = list(package.units)
    if len(units) > MOST_COLUMNS:
        shown = {candidate.id for candidate in candidates}
        touched = {c.unit for c in package.coverage if c.candidate in shown and c.value}
        units.sort(key=lambda unit: (unit.id not in touched, -package.weights[unit.id], unit.id))
        units = units[:MOST_COLUMNS]
    values = {(cell.candidate, cell.unit): cell.value for cell in package.coverage}
    rows = tuple(
        MatrixRow(
            candidate,
            candidate.id in best,
            tuple(Cell(values.get((candidate.id, unit.id), Fraction(0))) for unit in units),
        )
        for candidate in candidates
    )
    return Matrix(
        tuple(Column(unit, package.weights[unit.id]) for unit in units),
        rows,
        len(package.units) - len(units),
        len(package.candidates) - len(rows),
    )

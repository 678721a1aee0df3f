"""A package at a glance, as a table for the terminal."""

from collections.abc import Iterable
from fractions import Fraction

from rich.table import Column, Table

from memaudit.cli.text import safe_markup
from memaudit.core.package import Package


def summary(package: Package) -> Table:
    """Counts by kind with their costs and weights."""
    table = Table("what", Column("kind", overflow="fold"), "count", "total", "range")
    table.add_row("experiences", "", str(len(package.experiences)), "", "")
    for kind in sorted({candidate.kind for candidate in package.candidates}):
        costs = [candidate.cost for candidate in package.candidates if candidate.kind == kind]
        table.add_row("candidates (cost)", safe_markup(kind), *_numbers(costs))
    for kind in sorted({unit.kind for unit in package.units}):
        weights = [package.weights[unit.id] for unit in package.units if unit.kind == kind]
        table.add_row("units (weight)", safe_markup(kind), *_numbers(weights))
    table.add_row("queries", "", str(len(package.queries)), "", "")
    table.add_row("coverage", "", *_numbers([cell.value for cell in package.coverage]))
    return table


def _numbers(numbers: Iterable[Fraction]) -> tuple[str, str, str]:
    """Count, total and range."""
    found = sorted(numbers)
    if not found:
        return "0", "", ""
    return (
        str(len(found)),
        _short(sum(found, Fraction(0))),
        f"{_short(found[0])} - {_short(found[-1])}",
    )


def _short(number: Fraction) -> str:
    return f"{float(number):.6g}"

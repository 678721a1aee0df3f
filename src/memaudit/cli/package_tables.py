"""Packages as tables: counts, and the rows of units, queries and candidates."""

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from rich import box
from rich.table import Column, Table

from memaudit.cli.terminal import safe_markup
from memaudit.kernel.number_text import short_exact, significant
from memaudit.kernel.package.package import Package


def summary(package: Package) -> Table:
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
    ordered = sorted(numbers)
    if not ordered:
        return "0", "", ""
    return (
        str(len(ordered)),
        significant(sum(ordered, Fraction(0)), 6),
        f"{significant(ordered[0], 6)} - {significant(ordered[-1], 6)}",
    )


def rows_of(package: Package, table: str) -> list[dict[str, Any]]:
    """The units, queries or candidates of a package, each with what it is connected to."""
    if table == "queries":
        return [
            {
                "id": row.id,
                "kind": row.kind,
                "importance": row.importance,
                "requires": row.required,
                "text": row.text,
                "answer": row.answer,
            }
            for row in package.queries
        ]
    covers, covered_by = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for cell in package.coverage:
        if cell.value:
            covers[cell.candidate].append(cell.unit)
            covered_by[cell.unit].append(cell.candidate)
    if table == "units":
        return [
            {
                "id": row.id,
                "kind": row.kind,
                "weight": package.weights[row.id],
                "covered_by": covered_by[row.id],
                "text": row.text,
            }
            for row in package.units
        ]
    return [
        {
            "id": row.id,
            "experience": row.experience,
            "kind": row.kind,
            "cost": row.cost,
            "covers": covers[row.id],
            "text": row.text,
        }
        for row in package.candidates
    ]


COLUMNS = {
    "units": ("id", "kind", "weight", "text"),
    "queries": ("id", "importance", "requires", "text"),
    "candidates": ("id", "kind", "cost", "covers", "text"),
}
"""What is readable on a terminal. JSON has everything."""


def listing(table: str, rows: Iterable[dict[str, Any]]) -> Table:
    """All rows. Long texts are wrapped, and the answer of a query is below its question."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in COLUMNS[table]:
        number = name in ("weight", "importance", "cost", "covers")
        made.add_column(name, justify="right" if number else "left", overflow="fold")
    for row in rows:
        made.add_row(*(_cell(row, name) for name in COLUMNS[table]))
    return made


def _cell(row: dict[str, Any], name: str) -> str:
    value = row[name]
    if isinstance(value, Fraction):
        return short_exact(value)
    if name == "covers":
        return str(len(value))
    if name == "requires":
        value = ", ".join(value)
    if name == "text" and row.get("answer"):
        return f"{safe_markup(value)}\n→ {safe_markup(row['answer'])}"
    return safe_markup(value)

"""Packages as tables: counts, and the columns of units, queries and candidates."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from fractions import Fraction
from operator import attrgetter
from typing import Any

from rich import table as rich_table
from rich.table import Table

from memaudit.cli.terminal import safe_markup
from memaudit.kernel.number_text import short_exact, significant
from memaudit.kernel.package.package import Package
from memaudit.show.columns import Column


def summary(package: Package) -> Table:
    table = Table("what", rich_table.Column("kind", overflow="fold"), "count", "total", "range")
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


def columns_of(package: Package) -> dict[str, list[Column[Any]]]:
    """The columns of units, queries and candidates, each with what a row is connected to. What has
    no header is in JSON only."""
    covers, covered_by = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for cell in package.coverage:
        if cell.value:
            covers[cell.candidate].append(cell.unit)
            covered_by[cell.unit].append(cell.candidate)

    def field(name: str, short: str | None = None) -> Column[Any]:
        header = name if short is None else short
        return Column(key=name, value=attrgetter(name), short=header, words=True)

    def number(name: str, value: Callable[[Any], Fraction]) -> Column[Any]:
        return Column(key=name, value=value, short=name, show=short_exact)

    return {
        "units": [
            field("id"),
            field("kind"),
            number("weight", lambda unit: package.weights[unit.id]),
            Column(key="covered_by", value=lambda unit: covered_by[unit.id]),
            field("text"),
        ],
        "queries": [
            field("id"),
            field("kind", ""),
            number("importance", lambda query: query.importance),
            Column(
                key="requires",
                value=lambda query: query.required,
                short="requires",
                show=", ".join,
                words=True,
            ),
            Column(
                key="text",
                value=lambda query: query.text,
                short="text",
                words=True,
                in_terminal=lambda query: " → ".join(filter(None, (query.text, query.answer))),
            ),
            field("answer", ""),
        ],
        "candidates": [
            field("id"),
            field("experience", ""),
            field("kind"),
            number("cost", lambda candidate: candidate.cost),
            Column(
                key="covers",
                value=lambda candidate: covers[candidate.id],
                short="covers",
                show=lambda units: str(len(units)),
            ),
            field("text"),
        ],
    }

"""`memaudit frontier`: the optimum for every budget."""

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError

if TYPE_CHECKING:
    from memaudit.core.package import Package
    from memaudit.solvers.frontier import Frontier

MOST_ROWS = 25


def frontier(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A package: .json file or folder.")],
    max_budget: Annotated[int, typer.Option(metavar="N", help="Every budget from 0 to N.")],
    group_cap: Annotated[
        int | None,
        typer.Option(metavar="K", help="Candidates kept per experience; default: the package's."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw it: .png, .svg or .pdf.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find the optimum of every whole budget, and the budgets where it rises."""
    from memaudit.io.packages import read_packages
    from memaudit.report.figures.opt_frontiers import check_plot, write_plot

    if max_budget < 0:
        raise MemAuditError(f"--max-budget {max_budget} is negative; budgets are 0 or more")
    if plot is not None:
        check_plot(plot)
    found = [_frontier(package, max_budget, group_cap) for package in read_packages(path)]
    if as_json:
        typer.echo(json.dumps([_plain(one) for one in found], indent=2))
    else:
        for one in found:
            _show(one)
    if plot is not None:
        write_plot(found, plot)
        typer.echo(safe(f"plot: {plot}"), err=as_json)


def _frontier(package: "Package", max_budget: int, group_cap: int | None) -> "Frontier":
    """The frontier of one package, with a progress bar."""
    from memaudit.cli.terminal import progress
    from memaudit.solvers.frontier import frontier as frontier_of

    with progress("budgets", max_budget + 1) as done:
        return frontier_of(package, max_budget, group_cap, lambda budgets, _: done(budgets))


def _plain(one: "Frontier") -> dict[str, Any]:
    return {
        "package": one.package,
        "digest": one.digest,
        "group_cap": one.group_cap,
        "max_budget": len(one.values) - 1,
        "method": one.method,
        "steps": [
            {"budget": budget, "value": float(value), "value_exact": str(value)}
            for budget, value in one.steps()
        ],
        "values": [float(value) for value in one.values],
    }


def _show(one: "Frontier") -> None:
    """The budgets where the optimum rises."""
    from rich import box
    from rich.table import Table

    from memaudit.cli.terminal import console, safe_markup
    from memaudit.core.number_text import percent, short_exact

    steps = one.steps()
    rows = evenly(steps, MOST_ROWS)
    screen = console()
    screen.print(
        f"{safe_markup(one.package)}  digest {one.digest[:16]}  group cap {one.group_cap}  "
        f"budgets 0 to {len(one.values) - 1}  method {safe_markup(one.method)}"
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("from budget", "optimum", "of the last"):
        table.add_column(name, justify="right")
    last = one.values[-1]
    for budget, value in rows:
        table.add_row(str(budget), short_exact(value), percent(value / last if last else None, 1))
    screen.print(table)
    if len(rows) < len(steps):
        screen.print(f"{len(rows)} of {len(steps)} steps shown, evenly chosen; --json has all")


def evenly(steps: list[tuple[int, Fraction]], most: int) -> list[tuple[int, Fraction]]:
    """At most that many steps, spread evenly, with the first and the last."""
    if len(steps) <= most:
        return steps
    return [steps[place * (len(steps) - 1) // (most - 1)] for place in range(most)]

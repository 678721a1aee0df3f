"""`memaudit frontier`: the optimum for every budget."""

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.settings import in_force
from memaudit.kernel.errors import MemAuditError
from memaudit.workspace.overwrite import may_write

if TYPE_CHECKING:
    from memaudit.kernel.package.package import Package
    from memaudit.kernel.solvers.frontier import Frontier

MOST_ROWS = 25


def frontier(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A package: .json file or folder.")],
    max_budget: Annotated[
        int, typer.Option(metavar="N", help="Solve every whole budget from 0 to N.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the frontiers, with their stores, to this JSON file.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compute the optimum for every whole budget, and the budgets where it rises."""
    from memaudit.kernel.io.atomic import write_file
    from memaudit.kernel.io.packages import read_packages

    if max_budget < 0:
        raise MemAuditError(f"--max-budget must be at least 0, not {max_budget}")
    packages = read_packages(path)
    if out is not None:
        may_write(out, "frontier")
    frontiers = [_frontier(package, max_budget) for package in packages]
    if out is not None:
        write_file(out, json.dumps([_data(item) for item in frontiers], indent=1) + "\n")
    if as_json:
        typer.echo(json.dumps([_data(item) for item in frontiers], indent=2))
    else:
        for item in frontiers:
            _show(item)


def _frontier(package: "Package", max_budget: int) -> "Frontier":
    from memaudit.cli.solve import watched
    from memaudit.cli.terminal import progress
    from memaudit.kernel.solvers.frontier import frontier as frontier_of

    keys = in_force()
    with watched(), progress("budgets", max_budget + 1) as advance:
        return frontier_of(
            package,
            max_budget,
            keys.score.group_cap,
            lambda budgets, _: advance(budgets),
            threads=keys.solver.threads,
        )


def _data(frontier: "Frontier") -> dict[str, Any]:
    return {
        "format": "memaudit-frontier",
        "package": frontier.package,
        "digest": frontier.digest,
        "group_cap": frontier.group_cap,
        "max_budget": len(frontier.values) - 1,
        "method": frontier.method,
        "assumed_share_of_everything": float(frontier.assumed),
        "steps": [
            {
                "budget": budget,
                "value": float(value),
                "value_exact": str(value),
                "store": list(frontier.stores[budget]) if frontier.stores else None,
            }
            for budget, value in frontier.steps()
        ],
        "values": [float(value) for value in frontier.values],
    }


def _show(frontier: "Frontier") -> None:
    """Print the budgets where the optimum rises."""
    from memaudit.cli.terminal import columns_table, console, safe_markup
    from memaudit.kernel.number_text import percent, short_exact
    from memaudit.kernel.package.provenance import assumed_text
    from memaudit.show.columns import Column

    steps = frontier.steps()
    rows = evenly(steps, MOST_ROWS)
    screen = console()
    screen.print(
        f"{safe_markup(frontier.package)}  digest {frontier.digest[:16]}  "
        f"group cap {frontier.group_cap}  budgets 0 to {len(frontier.values) - 1}  "
        f"method {safe_markup(frontier.method)}"
    )
    last = frontier.values[-1]
    columns: list[Column[tuple[int, Fraction]]] = [
        Column(key="budget", value=lambda row: row[0], short="from budget"),
        Column(key="value", value=lambda row: row[1], short="optimum", show=short_exact),
        Column(
            key="share",
            value=lambda row: row[1] / last if last else None,
            short="share of last",
            show=lambda share: percent(share, 1),
        ),
    ]
    screen.print(columns_table(columns, rows))
    if frontier.assumed:
        share = assumed_text(frontier.assumed)
        screen.print(f"of what all candidates are worth together, {share}")
    if len(rows) < len(steps):
        screen.print(f"{len(rows)} of {len(steps)} steps shown, evenly spaced; --json shows all")


def evenly(steps: list[tuple[int, Fraction]], most: int) -> list[tuple[int, Fraction]]:
    """At most that many steps, spread evenly, with the first and the last."""
    if len(steps) <= most:
        return steps
    # Whole numbers throughout, so that the first and the last step are hit exactly.
    return [steps[place * (len(steps) - 1) // (most - 1)] for place in range(most)]

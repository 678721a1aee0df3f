"""`memaudit audit`: checks of packages, labels, judges and solvers."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.options import chosen_engine
from memaudit.cli.terminal import safe
from memaudit.lab.commands.audit_agreement import agreement
from memaudit.lab.commands.audit_built import built
from memaudit.lab.commands.audit_generators import generators
from memaudit.lab.commands.audit_judges import judges
from memaudit.lab.commands.audit_model import model_pass
from memaudit.lab.commands.audit_optimum import optimum
from memaudit.lab.commands.audit_ratios import ratios
from memaudit.workspace.overwrite import may_write


def report(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Output of audit agreement --json, of audit ratios --json, or both.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path(
        "label-audit.html"
    ),
) -> None:
    """Write a label audit as one HTML page.

    The page shows the audit table, the ratios under other labels and the disputed cells.
    """
    from memaudit.lab.labels.label_audit_page import read_audit, write_page

    may_write(out, "page")
    write_page(read_audit(files), out)
    typer.echo(f"report: {safe(out)}")


def solvers(
    rows: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of package and budget pairs to solve.")
    ] = 1200,
    solver: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A solver; may be repeated. Default: all."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check that all solvers find exactly the same values."""
    from memaudit.cli.terminal import progress_bar
    from memaudit.kernel.solvers.registry import named_solver
    from memaudit.lab.runs.solver_audit import SolverTally, audit_solvers

    for name in solver or ():
        named_solver(name)
    tallies: dict[str, SolverTally] = {}
    with progress_bar() as shown:
        task = shown.add_task("rows", total=rows)
        for tallies in audit_solvers(rows, chosen_engine(few=0), solver or ()):
            first = next(iter(tallies.values()))
            shown.update(task, completed=first.rows + first.refused)
    if as_json:
        typer.echo(
            json.dumps({"rows": rows, "solvers": [_data(tally) for tally in tallies.values()]})
        )
    else:
        _show(list(tallies.values()))
    if any(tally.differing for tally in tallies.values()):
        raise typer.Exit(FAILED)


def _data(tally: Any) -> dict[str, Any]:
    return {
        "solver": tally.solver,
        "rows": tally.rows,
        "matches": tally.matches,
        "max_difference": str(tally.largest),
        "certified": tally.certified,
        "refused": tally.refused,
        "differing": [
            {
                "package": row.package,
                "budget": row.budget,
                "value": str(row.value),
                "expected": str(row.expected),
            }
            for row in tally.differing
        ],
    }


def _show(tallies: list[Any]) -> None:
    from rich import box
    from rich.table import Table

    from memaudit.cli.terminal import console

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("solver against reference")
    for name in ("rows", "matches", "max difference", "certified", "too large"):
        table.add_column(name, justify="right")
    for tally in tallies:
        table.add_row(
            tally.solver,
            f"{tally.rows:,}",
            f"{tally.matches:,}/{tally.rows:,}",
            str(tally.largest),
            f"{tally.certified:,}",
            f"{tally.refused:,}",
        )
    console().print(table)
    for tally in tallies:
        for row in tally.differing[:5]:
            console().print(
                f"{tally.solver} on {row.package} at budget {row.budget}: {row.value}, "
                f"not {row.expected}"
            )


audit = typer.Typer(
    help="Audit packages, labels, judges and solvers.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)


@audit.callback()
def _group() -> None:
    """Audit packages, labels, judges and solvers."""


audit.command("agreement")(agreement)
audit.command("ratios")(ratios)
audit.command("model")(model_pass)
audit.command("judges")(judges)
audit.command("generators")(generators)
audit.command("optimum")(optimum)
audit.command("built")(built)
audit.command("report")(report)
audit.command("solvers")(solvers)

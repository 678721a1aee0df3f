"""`memaudit run`, a sweep over packages, budgets and writers, and `memaudit report`, its page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.options import chosen_engine
from memaudit.cli.settings import in_force
from memaudit.cli.terminal import console, resumable, safe, safe_markup
from memaudit.kernel.errors import MemAuditError
from memaudit.lab.commands.tables import plain_table
from memaudit.workspace.overwrite import may_write

if TYPE_CHECKING:
    from memaudit.lab.sweeps.runs.spec import RunSpec
    from memaudit.workspace.engines import Engine

NOT_COUNTED = {
    "zero_optimum": "have no ratio: the optimum is 0",
    "uncertified": "have no ratio: the optimum is not certified",
    "failed": "have no store: the writer failed (see rows.jsonl)",
}


def run(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for rows and summary.")],
    suite: Annotated[
        str, typer.Option(metavar="NAME", help="Default settings: controlled, event_graph or demo.")
    ] = "controlled",
    packages: Annotated[
        str | None,
        typer.Option(
            metavar="PACKAGES",
            help="A file, a folder, a build, a shipped set (natural, short, long), or "
            "distributions with commas between them, such as base or "
            "event_graph:experiences=200:update_rate=0.5. Default: the suite's distributions.",
        ),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Number of seeds, or a list such as 100-199,205. Default: the suite's.",
        ),
    ] = None,
    budgets: Annotated[
        str | None,
        typer.Option(
            metavar="B[,B...]",
            help="Costs, or shares of the mean total cost if between 0 and 1. Default: the "
            "suite's.",
        ),
    ] = None,
    writers: Annotated[
        str | None,
        typer.Option(
            metavar="W[,W...]",
            help="Writers; memaudit study writers lists them. Default: the suite's.",
        ),
    ] = None,
) -> None:
    """Score writers against certified optima. Run the same command again to resume.

    A budget f between 0 and 1 is a share: it means max(1, round(f x mean total cost)), where the
    mean is over all packages of the run.
    """
    from memaudit.kernel.package.budgets import split_budgets
    from memaudit.lab.sweeps.runs.spec import (
        RunSpec,
        is_drawn,
        named_suite,
        packages_spec,
        parse_seeds,
    )

    # Files have no seeds: their packages are all run, each once.
    drawn = all(map(is_drawn, _names(packages)))
    if not drawn and seeds is not None:
        raise MemAuditError("--seeds goes with distributions; other packages are run one by one")
    seconds = in_force().solver.seconds
    defaults = named_suite(suite if drawn else "packages")
    costs = split_budgets(defaults.budgets if budgets is None else budgets)
    chosen = _names(writers) or defaults.writers
    if packages is not None and not drawn:
        spec = packages_spec(packages, costs, chosen, seconds)
    else:
        spec = RunSpec(
            distributions=_names(packages) or defaults.distributions,
            seeds=parse_seeds(defaults.seeds if seeds is None else seeds),
            budgets=costs,
            writers=chosen,
            seconds=seconds,
        )
    summary = run_sweep(spec, out, chosen_engine(few=0))
    show_ranking(summary)
    typer.echo(f"rows and summary are in {safe(out)}")


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in (text or "").split(","))))


def run_sweep(spec: "RunSpec", folder: Path, engine: "Engine") -> dict[str, Any]:
    """Run or resume a sweep with a progress bar, and return its summary.

    Ctrl-C keeps the finished rows and prints how to resume.
    """
    from memaudit.lab.sweeps.runs.summary import summarise
    from memaudit.lab.sweeps.runs.sweep import run as run_spec

    with resumable("rows", spec.rows, folder) as progress:
        outcome = run_spec(spec, folder, engine, progress)
    if outcome.existing:
        typer.echo(f"{outcome.existing} of {outcome.rows} rows already existed", err=True)
    if outcome.cut:
        typer.echo(f"{outcome.cut} bytes of damaged rows were replaced", err=True)
    return summarise(folder)


def show_ranking(summary: dict[str, Any]) -> None:
    """Print the writers by mean ratio, then the rows without a ratio."""
    from memaudit.lab.sweeps.writers.registry import named_writer

    table = plain_table("writer", "sees", "packages", "mean ratio", "95% interval", left=2)
    # Packages that nobody has a ratio on are left out for all and make no rank unfair.
    fewest = min(row["left_out"] for row in summary["ranking"])
    for row in summary["ranking"]:
        writer = named_writer(row["writer"])
        mark = " *" if row["left_out"] > fewest else ""
        sees = "the package" if writer.peeks else "texts, costs"
        ratio, interval = "undefined", ""
        if row["mean_ratio"] is not None:
            ratio = f"{row['mean_ratio']:.3f}"
            interval = f"{row['ci_low']:.3f} to {row['ci_high']:.3f}"
        table.add_row(safe_markup(writer.label), sees, f"{row['n']}{mark}", ratio, interval)
    screen = console()
    screen.print(table)
    if any(row["left_out"] > fewest for row in summary["ranking"]):
        screen.print("* fewer packages than the others, so its rank is not comparable")
    for name, reason in NOT_COUNTED.items():
        count = sum(row[name] for row in summary["rows"])
        if count:
            screen.print(f"{count} rows {reason}")


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="A folder written by memaudit run, diagnose or transfer."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The page to write. Default: report.html in DIR."),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Also draw the figures into this folder, as PNG, SVG and PDF."
        ),
    ] = None,
    diagnose: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR", help="A diagnosis to add to the report of a run; may be repeated."
        ),
    ] = None,
) -> None:
    """Write the report of a run or a diagnosis as one HTML file that works offline."""
    from memaudit.lab.downstream.downstream_page import is_downstream

    path = out or folder / "report.html"
    may_write(path, "page")
    downstream = is_downstream(folder)
    if downstream:
        from memaudit.lab.downstream.downstream_page import write_downstream

        if diagnose:
            raise MemAuditError(
                f"--diagnose needs a folder written by memaudit run, which {folder} is not"
            )
        write_downstream(folder, path)
    else:
        from memaudit.lab.downstream.downstream_page import open_view
        from memaudit.lab.sweeps.runs.report.page import write_report

        write_report(folder, path, [open_view(diagnosis) for diagnosis in diagnose or ()])
    typer.echo(f"report: {safe(path)}")
    if figures is not None:
        from memaudit.lab.figures.registry import draw_all, draw_downstream

        drawn = draw_downstream(folder, figures) if downstream else draw_all([folder], figures)
        typer.echo(f"{len(drawn.files)} figure files in {safe(figures)}")
        for figure in drawn.skipped:
            typer.echo(f"skipped {figure.figure} of {safe(figure.run)}: {safe(figure.reason)}")

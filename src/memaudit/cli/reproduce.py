"""`memaudit reproduce`: the paper's numbers, computed again."""

import json
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.reproduce_all import reproduce_all
from memaudit.cli.reproduce_board import show_lines
from memaudit.cli.reproduce_verify import reproduce_verify
from memaudit.cli.text import safe

reproduce = typer.Typer(
    help="The paper's numbers beside ours.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)


@reproduce.callback()
def _group() -> None:
    """The paper's numbers beside ours."""


@reproduce.command("controlled")
def controlled(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where runs, scoreboard and figures go.")
    ] = Path("out/controlled"),
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, help="Seeds; the paper's numbers need all 500.")
    ] = 500,
    figures: Annotated[bool, typer.Option(help="Draw the figures: PNG, SVG, PDF.")] = True,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Processes; default: one per core.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run the 500-seed sweep and the stress suite; print published numbers beside ours."""
    from memaudit.cli.sweeping import swept
    from memaudit.experiments.engines.registry import named_engine
    from memaudit.reproduce.controlled import reproduce_controlled
    from memaudit.reproduce.scoreboard import DIFFER
    from memaudit.reproduce.settings import remark_on

    lines = reproduce_controlled(out, partial(swept, engine=named_engine("processes", jobs)), seeds)
    if as_json:
        typer.echo(json.dumps([line.to_json() for line in lines], indent=1))
    else:
        show_lines(lines, f"{seeds} seeds")
        if remark := remark_on({"seeds": seeds}):
            typer.echo(remark)
    if figures:
        from memaudit.report.figures.registry import draw_all

        drawn = draw_all([out / "sweep", out / "stress"], out / "figures")
        typer.echo(f"{len(drawn.files)} figure files in {safe(out / 'figures')}", err=as_json)
    if any(line.verdict == DIFFER for line in lines):
        raise typer.Exit(FAILED)


HOW_TO_GET_IT = """there is no archive at {path}
The paper's natural packages are in the artifact its authors published with it. Unpack that, and
point --artifact at the folder that holds candidate_memories.jsonl and coverage_matrix.jsonl. No
model is called. docs/packages.md describes the layout."""


PAPER_EXAMPLES = 87


@reproduce.command("natural")
def natural(
    artifact: Annotated[
        Path, typer.Option(metavar="DIR", help="The published archive's folder of packages.")
    ] = Path("artifact"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Recompute the paper's natural optima and ratios from its archive, no model called."""
    from memaudit.cli.results import progress
    from memaudit.io.packages import read_packages
    from memaudit.reproduce.natural import lines as lines_of
    from memaudit.reproduce.natural import measure, writer_rows

    if not artifact.exists():
        typer.echo(HOW_TO_GET_IT.format(path=safe(artifact)))
        return
    packages = read_packages(artifact)
    with progress("examples", len(packages)) as done:
        found = measure(packages, done)
    lines = list(lines_of(found))
    if as_json:
        rows = [line.to_json() for line in lines]
        names = ("writer", "budget", "mean_ratio", "ci_low", "ci_high")
        ours = [dict(zip(names, row, strict=True)) for row in writer_rows(found)]
        data = {"examples": found.examples, "lines": rows, "writers": ours}
        typer.echo(json.dumps(data, indent=1))
        return
    show_lines(lines, f"{found.examples} examples")
    if found.examples != PAPER_EXAMPLES:
        typer.echo(f"the paper's numbers are over {PAPER_EXAMPLES} examples: these are others")
    for name, budget, mean, low, high in writer_rows(found):
        typer.echo(f"{name} / OPT at B = {budget}: {mean:.3f} ({low:.3f} to {high:.3f})")
    if found.uncertified:
        typer.echo(f"{found.uncertified} optima are not certified and are left out")


reproduce.command("all")(reproduce_all)
reproduce.command("verify")(reproduce_verify)

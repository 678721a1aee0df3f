"""`memaudit reproduce`: recompute and verify the paper's numbers, tables and figures."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.options import chosen_engine
from memaudit.cli.terminal import console, publication_day, safe

if TYPE_CHECKING:
    from memaudit.lab.reproduce.manifest import Manifest
    from memaudit.lab.reproduce.scoreboard import Scoreboard, ScoreboardLine


PAPER_EXAMPLES = 87
HOW_TO_GET_ARCHIVE = """no archive found at {path}
The paper's natural packages are in the artifact that its authors published. Unpack it and give
--artifact the folder that contains candidate_memories.jsonl and coverage_matrix.jsonl. No model is
called. docs/packages.md describes the layout."""

Seeds = Annotated[
    int, typer.Option(metavar="N", min=1, help="Number of seeds. The paper's numbers need all 500.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

reproduce = typer.Typer(
    help="Recompute the paper's numbers and compare.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)


@reproduce.callback()
def _group() -> None:
    """Recompute the paper's numbers and compare."""


@reproduce.command("controlled")
def controlled(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder for runs, scoreboard and figures.")
    ] = Path("out/controlled"),
    seeds: Seeds = 500,
    figures: Annotated[bool, typer.Option(help="Draw the figures as PNG, SVG and PDF.")] = True,
) -> None:
    """Recompute the controlled results of the paper.

    Runs the 500-seed sweep and the stress suite, and prints published numbers beside ours.
    """
    from memaudit.lab.commands.run import run_sweep
    from memaudit.lab.reproduce.controlled import reproduce_controlled
    from memaudit.lab.reproduce.folder import remark_on
    from memaudit.lab.reproduce.scoreboard import DIFFER

    lines = reproduce_controlled(out, partial(run_sweep, engine=chosen_engine(few=0)), seeds)
    show_lines(lines, f"{seeds} seeds")
    if remark := remark_on({"seeds": seeds}):
        typer.echo(remark)
    if figures:
        from memaudit.lab.figures.registry import draw_all

        drawn = draw_all([out / "sweep", out / "stress"], out / "figures")
        typer.echo(f"{len(drawn.files)} figure files in {safe(out / 'figures')}")
    if any(line.verdict == DIFFER for line in lines):
        raise typer.Exit(FAILED)


@reproduce.command("natural")
def natural(
    artifact: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder of packages in the published archive.")
    ] = Path("artifact"),
    as_json: AsJson = False,
) -> None:
    """Recompute the natural results from the paper's archive.

    No model is called.
    """
    from memaudit.cli.terminal import progress
    from memaudit.kernel.io.packages import read_packages
    from memaudit.lab.reproduce.archive import measure_archive, natural_lines, writer_rows

    if not artifact.exists():
        typer.echo(HOW_TO_GET_ARCHIVE.format(path=safe(artifact)))
        return
    packages = read_packages(artifact)
    with progress("examples", len(packages)) as done:
        results = measure_archive(packages, done)
    lines = list(natural_lines(results))
    if as_json:
        names = ("writer", "budget", "mean_ratio", "ci_low", "ci_high")
        data = {
            "examples": results.examples,
            "lines": [line.to_json() for line in lines],
            "writers": [dict(zip(names, row, strict=True)) for row in writer_rows(results)],
        }
        typer.echo(json.dumps(data, indent=1))
        return
    show_lines(lines, f"{results.examples} examples")
    if results.examples != PAPER_EXAMPLES:
        typer.echo(
            f"the paper's numbers are over {PAPER_EXAMPLES} examples, so these are not comparable"
        )
    for name, budget, mean, low, high in writer_rows(results):
        typer.echo(f"{name} / OPT at B = {budget}: {mean:.3f} ({low:.3f} to {high:.3f})")
    if results.uncertified:
        typer.echo(f"{results.uncertified} optima are not certified and were skipped")


@reproduce.command("all")
def reproduce_all(
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="The folder for all results. An interrupted run resumes."),
    ] = Path("out/reproduction"),
    seeds: Seeds = 500,
    rows: Annotated[
        int, typer.Option(metavar="N", min=1, help="Rows of the solver audit. The paper has 1,200.")
    ] = 1200,
    packages: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Packages of MemAudit's own natural set. It has 64."),
    ] = 64,
    archive: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The unpacked archive of the paper: also compute what its files allow.",
        ),
    ] = None,
) -> None:
    """Recompute every table and figure of the paper that can be.

    No model and no network is used. A scoreboard says for each published number whether ours
    agrees, differs, needs the published archive, or cannot be reproduced as printed and why
    (scoreboard.json has it for programs). A manifest holds every hash; memaudit reproduce
    verify checks it.
    """
    from memaudit.lab.commands.run import run_sweep
    from memaudit.lab.reproduce.archive import find_archive, write_archive_numbers
    from memaudit.lab.reproduce.folder import Settings
    from memaudit.lab.reproduce.reproduce_all import Tools
    from memaudit.lab.reproduce.reproduce_all import reproduce_all as make_all
    from memaudit.lab.reproduce.scoreboard import DIFFER

    engine = chosen_engine(few=0)
    tools = Tools(partial(run_sweep, engine=engine), engine, draw_figures, _announce)
    settings = Settings(seeds, rows, packages)
    # The archive is looked for before anything is computed.
    numbers = partial(write_archive_numbers, find_archive(archive)) if archive else None
    board = make_all(out, settings, tools, publication_day(), numbers)
    show_scoreboard(board, settings.remark)
    typer.echo(f"results are in {safe(out)}; check them with memaudit reproduce verify {safe(out)}")
    if board.counts[DIFFER]:
        raise typer.Exit(FAILED)


def _announce(part: str, computing: bool) -> None:
    typer.echo(f"{part}: {'computing' if computing else 'already done, files intact'}", err=True)


def draw_figures(folder: Path, out: Path) -> None:
    from memaudit.kernel.io.packages import example_package
    from memaudit.kernel.io.strict_json import read_object
    from memaudit.lab.figures.budget_sweep import budget_sweep
    from memaudit.lab.figures.registry import draw_all, draw_downstream
    from memaudit.lab.figures.style import write_figure
    from memaudit.lab.figures.systems import store_rows, systems, writer_rows
    from memaudit.lab.figures.validity_timeline import validity_timeline
    from memaudit.lab.reproduce.folder import DOWNSTREAM, NATURAL, STORES, STRESS, SUMMARY, SWEEP
    from memaudit.lab.reproduce.own_set import DENOMINATORS, QUESTION_WRITERS

    draw_all([folder / SWEEP, folder / STRESS], out)
    draw_downstream(folder / DOWNSTREAM, out)
    summary = read_object(folder / NATURAL / SUMMARY, "run memaudit reproduce all again")
    rows = [row for row in summary["rows"] if row["writer"] in QUESTION_WRITERS]
    write_figure(budget_sweep({**summary, "rows": rows}), out / f"{NATURAL}-budget_sweep")
    # Figures are drawn from the files, as anybody could draw them again.
    stores = read_object(folder / STORES / DENOMINATORS, "run memaudit reproduce all again")
    beside = [*writer_rows(summary), *store_rows(stores["rows"])]
    write_figure(systems(beside), out / f"{STORES}-systems")
    example = example_package()
    figure = validity_timeline(example, max(example.budgets))
    write_figure(figure, out / f"{example.name}-validity_timeline")


@reproduce.command("verify")
def reproduce_verify(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder written by memaudit reproduce all.")
    ],
    hashes: Annotated[
        bool, typer.Option("--hashes", help="Compare hashes only, and recompute nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Verify the files of a reproduction by their hashes and by making all of them again.

    The exit code is 1 if anything differs, with one line per problem. Files that only another
    program can recreate are listed as not verified.
    """
    from memaudit.lab.commands.run import run_sweep
    from memaudit.lab.reproduce.reproduce_all import Tools, verify_reproduction
    from memaudit.lab.reproduce.reproduce_all import reproduce_all as make_all

    engine = chosen_engine(few=0)

    def make_again(
        again: Path, manifest: "Manifest", make_archive: Callable[[Path], object] | None
    ) -> None:
        tools = Tools(partial(run_sweep, engine=engine), engine, draw_figures, _announce)
        make_all(again, manifest.settings, tools, manifest.times.date, make_archive)

    report = verify_reproduction(folder, None if hashes else make_again)
    if as_json:
        typer.echo(json.dumps(report.to_json(), indent=1))
    else:
        for problem in report.problems:
            typer.echo(f"DIFFERS  {safe(problem)}")
        for name, why in report.unverified.items():
            typer.echo(f"not verified: {safe(name)}: {safe(why)}")
        for note in report.notes:
            typer.echo(safe(note))
        typer.echo(report.verdict)
    if report.problems:
        raise typer.Exit(FAILED)


def show_lines(lines: Sequence["ScoreboardLine"], scope: str) -> None:
    from memaudit.lab.reproduce.scoreboard import AGREE

    _show_table(lines)
    agree = sum(line.verdict == AGREE for line in lines)
    console().print(f"{agree} of {len(lines)} published numbers agree, {scope}")


def show_scoreboard(board: "Scoreboard", remark: str) -> None:
    """Print every computed number, and count those that need the archive.

    The remark is about settings that are not the paper's.
    """
    from memaudit.lab.reproduce.scoreboard import NEEDS_ARCHIVE, NOT_AS_PRINTED

    _show_table(board.computed)
    screen = console()
    missing = Counter(line.where for line in board.lines if line.verdict == NEEDS_ARCHIVE)
    places = ", ".join(f"{number} in {where}" for where, number in missing.items())
    screen.print(f"{NEEDS_ARCHIVE}: {places or 'nothing'}")
    reasons = Counter((line.where, line.why) for line in board.lines if line.why)
    if reasons:
        screen.print(f"{NOT_AS_PRINTED}:")
    for (where, why), number in reasons.items():
        screen.print(f"  {number} in {where}: {why}")
    not_drawn = [figure for figure in board.figures if not figure.files]
    screen.print(f"figures drawn: {len(board.figures) - len(not_drawn)} of {len(board.figures)}")
    for figure in not_drawn:
        screen.print(f"{figure.where} needs {figure.needs}")
    screen.print(f"{len(board.lines)} published numbers: {board.headline}")
    if remark:
        screen.print(remark)


def _show_table(lines: Sequence["ScoreboardLine"]) -> None:
    from memaudit.lab.commands.tables import plain_table

    table = plain_table(
        "paper", "number", "published", "ours", "verdict", left=2, words=["verdict"]
    )
    for line in lines:
        table.add_row(line.where, line.what, line.published, line.ours, line.verdict)
    console().print(table)

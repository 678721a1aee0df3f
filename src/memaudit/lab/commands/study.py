"""`memaudit study`: what writers, readers and judges do, beyond the score of one store."""

import json
from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.options import model_session, one_budget
from memaudit.cli.terminal import console, print_columns, safe
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.words.text import counted
from memaudit.lab.commands.calibrate import calibrate
from memaudit.lab.commands.sensitivity import sensitivity
from memaudit.lab.commands.tables import plain_table
from memaudit.lab.commands.transfer import transfer
from memaudit.workspace.overwrite import may_write


def beside(
    scores: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder with output of memaudit score --json.")
    ],
    run: Annotated[
        Path | None,
        typer.Option(
            "--writers",
            metavar="RUN",
            help="A run of memaudit run --packages on the same packages. Default: stores alone.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also draw them, as .svg, .png or .pdf."),
    ] = None,
) -> None:
    """Show writers of a run and scored stores across budgets, side by side.

    A writer's ratio is over OPT of the package, a store's over OPT of the package with this store:
    they are shown together and never ranked together.
    """
    from memaudit.board.board_of_scores import board_of_scores
    from memaudit.board.denominators import denominator_rows, denominators_data
    from memaudit.kernel.score.score_files import read_scores
    from memaudit.lab.figures.side_by_side import (
        beside_columns,
        by_line,
        refuse_other_packages,
        store_rows,
        writer_rows,
    )
    from memaudit.lab.figures.style import check_image, image_of, write_image
    from memaudit.lab.figures.systems import systems
    from memaudit.lab.sweeps.runs.summary import summarise
    from memaudit.workspace.journal import read_journal
    from memaudit.workspace.run_folder import ROWS

    if out is not None:
        check_image(out)
    read = read_scores(scores)
    rows = store_rows(denominators_data(denominator_rows(read)))
    if run is not None:
        packages = {row["package"] for row in read_journal(run / ROWS)}
        refuse_other_packages(packages, board_of_scores(read).packages)
        rows = [*writer_rows(summarise(run)), *rows]
    screen = console()
    print_columns(screen, beside_columns(rows), by_line(rows))
    screen.print("a writer and a store have other denominators: never rank them together")
    if out is not None:
        write_image(image_of(systems(rows), out.suffix.lower().removeprefix(".")), out)
        typer.echo(f"picture: {safe(out)}")


def compact(
    store: Annotated[
        str,
        typer.Argument(
            metavar="STORE",
            help="A store written by memaudit import, or an export: [NAME=]PATH[+PATH][@VIEW]",
        ),
    ],
    budget: Annotated[str, typer.Option(metavar="B", help="The cost that the result may have.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The store to write.")],
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The model that merges and rewrites. Default: none; extracts are joined.",
        ),
    ] = None,
    cost_rule: Annotated[
        str, typer.Option(metavar="RULE", help="Cost rule: words, bytes or tokens:NAME.")
    ] = "words",
) -> None:
    """Merge and rewrite the memories of a store to fit a budget.

    No label, unit or question is seen. The result is a store: score it beside the original, and the
    same judge says what compaction kept, lost or made up.
    """
    from memaudit.kernel.io.store_file import write_store
    from memaudit.lab.studies.compaction import compacted_store
    from memaudit.stores.registry import open_store, parse_argument

    amount = one_budget(budget)
    # Checked before a model is asked.
    if amount <= 0:
        raise MemAuditError(f"--budget {budget} leaves room for nothing")
    may_write(out, "store")
    opened = open_store(parse_argument(store))
    if not opened.active:
        raise MemAuditError(f"{opened.name!r} has no active memory to compact")
    with model_session(model is not None) as session:
        made = compacted_store(
            opened, amount, cost_rule, f"{opened.name}, compacted", model, session
        )
    write_store(made, out)
    before, after = counted(len(opened.active), "memory"), counted(len(made.active), "memory")
    typer.echo(safe(f"{before} became {after}, written to {out}"))


def writers(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the writers and how they decide.

    References see the package, with what later questions need. The others see texts and costs.
    """

    from memaudit.cli.terminal import console
    from memaudit.lab.sweeps.writers.registry import WRITERS

    if as_json:
        rows = [
            {"name": w.name, "label": w.label, "peeks": w.peeks, "about": w.about}
            for w in WRITERS.values()
        ]
        typer.echo(json.dumps(rows, indent=2))
        return
    table = plain_table("writer", "sees", "how it decides", left=3)
    for writer in WRITERS.values():
        table.add_row(writer.name, "the package" if writer.peeks else "texts, costs", writer.about)
    console().print(table)


def train_judge(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The judge to write, as JSON.")],
    packages: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PACKAGES",
            help="Labelled packages: shipped sets (natural, short, long), files, folders or "
            "builds. Default: short long.",
        ),
    ] = None,
) -> None:
    """Fit an offline judge to labelled packages and measure its error.

    Use it as memaudit score --judge offline:FILE. Every large conversation is predicted by a judge
    fitted to the others; that error is in the file and is carried to scores.
    """
    from memaudit.building.named_packages import TRAINING, labelled_packages
    from memaudit.lab.studies.judge_training import train_judge, write_judge_file

    may_write(out, "judge")
    chosen = labelled_packages(packages or TRAINING)
    fitted = train_judge(chosen)
    write_judge_file(fitted, out)
    typer.echo(f"fitted to {counted(len(fitted.training), 'conversation')}, written to {safe(out)}")
    for where, error in (
        ("held-out", fitted.error),
        *((f"other ({other.script})", other.error) for other in fitted.other_scripts),
    ):
        conversations = counted(len(error.conversations), f"{where} conversation")
        typer.echo(f"error on {conversations}, {error.pairs:,} pairs:")
        for name, full in (("any coverage", False), ("full", True)):
            precision, recall = error.rates(full)
            typer.echo(f"  {name:14} precision {precision:.3f}  recall {recall:.3f}")


def generate(
    distribution: Annotated[
        str,
        typer.Argument(
            metavar="DISTRIBUTION",
            help="A distribution (--list shows them), with parameters where it has some: "
            "event_graph:experiences=30:update_rate=1/5.",
        ),
    ] = "",
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the package.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A .json file or a folder to write. Default: NAME.json."),
    ] = None,
    list_all: Annotated[
        bool, typer.Option("--list", help="List distributions and their parameters, and exit.")
    ] = False,
) -> None:
    """Generate a package. The same seed gives the same digest on every machine."""
    from memaudit.kernel.errors import MemAuditError
    from memaudit.kernel.io.packages import write_package
    from memaudit.kernel.package.digest import digest
    from memaudit.lab.sweeps.generators.event_graph.parameters import meanings
    from memaudit.lab.sweeps.generators.registry import (
        DISTRIBUTIONS,
        EVENT_GRAPH,
        named_distribution,
    )

    if list_all:
        for name, listed in DISTRIBUTIONS.items():
            typer.echo(f"{name:18} {listed.about}")
        typer.echo(f"\nParameters of {EVENT_GRAPH}:")
        for name, meaning in meanings().items():
            typer.echo(f"{name:18} {meaning}")
        return
    if not distribution:
        raise MemAuditError("no distribution given; --list shows them")
    package = named_distribution(distribution).package(seed)
    path = out or Path(f"{package.name}.json")
    may_write(path, "package")
    write_package(package, path)
    typer.echo(
        f"{safe(package.name)}: {len(package.experiences)} experiences, "
        f"{len(package.candidates)} candidates, {len(package.units)} units, "
        f"digest {digest(package)[:16]}, written to {safe(path)}"
    )


study = typer.Typer(
    help="Study writers, readers and judges; generate packages.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
for command in (
    sensitivity,
    transfer,
    calibrate,
    compact,
    writers,
    train_judge,
    generate,
    beside,
):
    study.command()(command)

"""`memaudit study`: what writers, readers and judges do, beyond the score of one store."""

import json
from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.terminal import safe
from memaudit.kernel.words.text import counted
from memaudit.lab.commands.sensitivity import sensitivity
from memaudit.lab.commands.tables import plain_table
from memaudit.lab.commands.transfer import transfer
from memaudit.workspace.overwrite import may_write


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
    writers,
    train_judge,
    generate,
):
    study.command()(command)

"""`memaudit writers` and `memaudit train`: list the writers, and train the ridge estimator."""

import json
from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.terminal import safe
from memaudit.core.text import counted


def writers(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the writers and how they decide.

    References see the package, with what later questions need. The others see texts and costs.
    """
    from rich import box
    from rich.table import Table

    from memaudit.cli.terminal import console
    from memaudit.writers.registry import WRITERS

    if as_json:
        rows = [
            {"name": w.name, "label": w.label, "peeks": w.peeks, "about": w.about}
            for w in WRITERS.values()
        ]
        typer.echo(json.dumps(rows, indent=2))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("writer", "sees", "how it decides"):
        table.add_column(name, overflow="fold")
    for writer in WRITERS.values():
        table.add_row(writer.name, "the package" if writer.peeks else "texts, costs", writer.about)
    console().print(table)


def train(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The model file to write, as JSON.")],
    packages: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Training packages: .json files or folders."),
    ] = None,
    distribution: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Also train on packages of this distribution."),
    ] = None,
    seeds: Annotated[
        str, typer.Option(metavar="N", help="Seeds of the distribution. Evaluate on other seeds.")
    ] = "900000-900059",
    alpha: Annotated[float, typer.Option(metavar="A", help="Strength of the ridge penalty.")] = 1.0,
) -> None:
    """Train a ridge model that estimates value from visible features.

    Use it as a writer: memaudit run --writers estimated_gvt_ridge:FILE. The model refuses the
    packages it was trained on.
    """
    from memaudit.core.errors import MemAuditError
    from memaudit.core.seeds import parse_seeds
    from memaudit.generators.registry import named_distribution
    from memaudit.io.packages import read_packages
    from memaudit.writers.estimators.ridge import write_model
    from memaudit.writers.estimators.train import train as fit

    chosen = [package for path in packages or () for package in read_packages(path)]
    if distribution is not None:
        source = named_distribution(distribution)
        drawn = parse_seeds(seeds) if source.draws else (0,)
        chosen += [source.package(seed) for seed in drawn]
    if not chosen:
        raise MemAuditError("no training packages; give packages, or --distribution event_graph")
    model = fit(chosen, alpha)
    write_model(model, out)
    typer.echo(f"trained on {counted(len(chosen), 'package')}, written to {safe(out)}")

"""`memaudit writers` and `memaudit train`: who can write, and training the ridge estimator."""

import json
from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.terminal import safe
from memaudit.core.text import counted


def writers(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the writers: package-oracle references peek at the hidden side, the others do not."""
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
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the model goes, as JSON.")],
    packages: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]...", help="Packages to learn from: .json files or folders."),
    ] = None,
    distribution: Annotated[
        str | None, typer.Option(metavar="NAME", help="Or packages of a distribution.")
    ] = None,
    seeds: Annotated[
        str, typer.Option(metavar="N", help="Its seeds; keep them apart from those you judge on.")
    ] = "900000-900059",
    alpha: Annotated[float, typer.Option(metavar="A", help="Strength of the ridge.")] = 1.0,
) -> None:
    """Learn what visible features are worth; the model refuses the packages it was trained on.

    Use it as a writer: memaudit run --writers estimated_gvt_ridge:FILE
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
        raise MemAuditError("nothing to learn from; give packages, or --distribution event_graph")
    model = fit(chosen, alpha)
    write_model(model, out)
    typer.echo(f"trained on {counted(len(chosen), 'package')}, written to {safe(out)}")

"""`memaudit writers`: list the writers."""

import json
from typing import Annotated

import typer


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

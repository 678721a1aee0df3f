"""`memaudit writers`: who can write."""

import json
from typing import Annotated

import typer


def writers(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the writers: package-oracle references peek at the hidden side, the others do not."""
    from rich import box
    from rich.table import Table

    from memaudit.cli.results import console
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

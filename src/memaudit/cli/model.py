"""`memaudit model`: replies of models, tests of models, and what captures asked them."""

import json
from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.cache import export, import_batch_replies, import_replies, show
from memaudit.cli.prompts import check
from memaudit.cli.terminal import safe

model = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Test a model; export, import and show its replies; compare captures.",
)
model.command()(export)
model.command("import")(import_replies)
model.command()(show)
model.command("batch")(import_batch_replies)
model.command()(check)


@model.command()
def records(
    before: Annotated[Path, typer.Argument(metavar="A", help="The record of a capture.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="Another record.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare what two captures asked a model."""
    from memaudit.adapters.capture.record import read_record, records_diff, store_of

    data = records_diff(read_record(before), read_record(after))
    if as_json:
        typer.echo(json.dumps(data, indent=1))
        return
    for name, (old, new) in data["settings"].items():
        typer.echo(safe(f"{name}: {json.dumps(old)} to {json.dumps(new)}"))
    typer.echo(
        f"{data['calls'][0]:,} to {data['calls'][1]:,} calls: {data['same']:,} ask the same, "
        f"{data['only_before']:,} are asked no more, {data['only_after']:,} are new"
    )
    for example, first in data["first_different"].items():
        where = f"{example}, feeding {first['place']}, {first['path']}"
        typer.echo(safe(f"first asked differently: {where}: {first['difference']}"))
    typer.echo("what a model would have replied to requests that it never got is not known")
    stores = [store_of(path) for path in (before, after)]
    if all(stores):
        typer.echo(safe(f"what they led to: memaudit diff {stores[0]} {stores[1]}"))

"""`memaudit apply`: what a plan leaves of a file, written beside it."""

import os
from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError
from memaudit.core.text import counted

MOST_SHOWN, MOST_REVIEWED = 200, 20


def apply(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="A plan of memaudit lint --plan.")],
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="What was linted: a text or Markdown file, a folder of them, or a store.",
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would go, and write nothing.")
    ] = False,
) -> None:
    """Write what a plan leaves of a file or folder, beside the old one.

    MEMORY.md becomes MEMORY.cleaned.md. Nothing is deleted or overwritten. Memories marked for
    review are kept. Of a folder, only files with memories are written.
    """
    from memaudit.hygiene.cleanup_plan import cleaned, read_plan
    from memaudit.io.atomic import new_folder, write_bytes

    wanted = read_plan(plan)
    made = cleaned(wanted, path)
    if not made.removed:
        typer.echo("the plan removes nothing, so no file is written")
    elif os.path.lexists(made.path) and not dry_run:
        raise MemAuditError(f"{made.path}: already exists; move it away first")
    if dry_run:
        for one in made.removed[:MOST_SHOWN]:
            typer.echo(safe(f"- {one.id}: {one.text} ({one.action}: {one.reason})"))
        if len(made.removed) > MOST_SHOWN:
            typer.echo(f"  ... and {len(made.removed) - MOST_SHOWN:,} more")
    elif made.removed and set(made.files) == {""}:
        write_bytes(made.path, made.files[""].encode("utf-8", "surrogatepass"))
    elif made.removed:
        with new_folder(made.path) as folder:
            for name, text in made.files.items():
                file = folder / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text.encode("utf-8", "surrogatepass"))
    if made.removed:
        verb = "would be written" if dry_run else "written"
        typer.echo(safe(f"{made.path} {verb} without {counted(len(made.removed), 'memory')}"))
    reviewed = [one for one in wanted.actions if one.action == "review"]
    if reviewed:
        typer.echo(f"kept, for you to decide: {counted(len(reviewed), 'memory')}")
    for one in reviewed[:MOST_REVIEWED]:
        typer.echo(safe(f"? {one.id}: {one.reason}"))
    if len(reviewed) > MOST_REVIEWED:
        typer.echo(f"  ... and {len(reviewed) - MOST_REVIEWED:,} more in the plan")

"""`memaudit apply`: what a plan leaves of a file, written beside it."""

import os
from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError
from memaudit.core.text import counted

MOST_SHOWN = 200


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
    if os.path.lexists(made.path) and not dry_run:
        raise MemAuditError(f"{made.path}: already exists; move it away first")
    if dry_run:
        for one in made.removed[:MOST_SHOWN]:
            typer.echo(safe(f"- {one.id}: {one.text} ({one.action}: {one.reason})"))
        if len(made.removed) > MOST_SHOWN:
            typer.echo(f"  ... and {len(made.removed) - MOST_SHOWN:,} more")
    elif set(made.files) == {""}:
        write_bytes(made.path, made.files[""].encode("utf-8", "surrogatepass"))
    else:
        with new_folder(made.path.absolute()) as folder:
            for name, text in made.files.items():
                file = folder / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text.encode("utf-8", "surrogatepass"))
    verb = "would be written" if dry_run else "written"
    typer.echo(safe(f"{made.path} {verb} without {counted(len(made.removed), 'memory')}"))
    reviewed = sum(one.action == "review" for one in wanted.actions)
    if reviewed:
        typer.echo(f"{counted(reviewed, 'memory')} kept for review: read them in the plan")

"""`memaudit apply`: what a plan leaves of a file, written beside it."""

import difflib
from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError
from memaudit.core.text import counted


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
        bool, typer.Option("--dry-run", help="Print the differences and write nothing.")
    ] = False,
) -> None:
    """Write what a plan leaves of a file or folder, beside the old one.

    MEMORY.md becomes MEMORY.cleaned.md. Nothing is deleted or overwritten. Memories marked for
    review are kept.
    """
    from memaudit.hygiene.cleanup_plan import cleaned_files, read_plan
    from memaudit.hygiene.secrets import masked
    from memaudit.io.atomic import write_bytes
    from memaudit.io.run_folder import make_folder

    wanted = read_plan(plan)
    made = cleaned_files(wanted, path)
    if taken := [file for file in made if file.new.exists() and not dry_run]:
        raise MemAuditError(f"{taken[0].new}: already exists; move it away first")
    for file in made:
        if dry_run:
            names = str(file.old), str(file.new)
            before, after = (text.splitlines(keepends=True) for text in (file.before, file.after))
            for line in difflib.unified_diff(before, after, *names, n=1):
                typer.echo(safe(masked(line.rstrip("\r\n"))))
        else:
            make_folder(file.new.parent)
            write_bytes(file.new, file.after.encode("utf-8", "surrogatepass"))
    gone = sum(one.action in ("delete", "merge") for one in wanted.actions)
    reviewed = sum(one.action == "review" for one in wanted.actions)
    verb = "would be written" if dry_run else "written"
    files = ", ".join(str(file.new) for file in made[:3]) + (", ..." if len(made) > 3 else "")
    typer.echo(safe(f"{files} {verb} without {counted(gone, 'memory')}"))
    if reviewed:
        typer.echo(f"{counted(reviewed, 'memory')} kept for review: read them in the plan")

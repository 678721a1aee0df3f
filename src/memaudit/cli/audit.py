"""`memaudit audit`: checks of the benchmark itself, of its labels and of its solvers."""

import typer

from memaudit.cli.audit_solvers import solvers

audit = typer.Typer(
    help="Audit labels, and the solvers.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)


@audit.callback()
def _group() -> None:
    """Audit labels, and the solvers."""


audit.command("solvers")(solvers)

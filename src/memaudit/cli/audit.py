"""`memaudit audit`: checks of the benchmark itself, of its labels and of its solvers."""

import typer

from memaudit.cli.audit_agreement import agreement
from memaudit.cli.audit_cells import cells
from memaudit.cli.audit_frame import frame
from memaudit.cli.audit_ratios import ratios
from memaudit.cli.audit_report import report
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


audit.command("frame")(frame)
audit.command("cells")(cells)
audit.command("agreement")(agreement)
audit.command("ratios")(ratios)
audit.command("report")(report)
audit.command("solvers")(solvers)

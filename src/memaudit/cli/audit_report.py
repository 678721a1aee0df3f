"""`memaudit audit report`: a label audit as an HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.outputs import may_write
from memaudit.cli.text import safe


def report(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="What audit agreement --json and audit ratios --json printed; one or both.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path(
        "label-audit.html"
    ),
) -> None:
    """Write the audit table, ratios under other labels and disputed cells as one HTML file."""
    from memaudit.report.label_audit_page import read_audit, write_page

    may_write(out, "page")
    write_page(read_audit(files), out)
    typer.echo(f"report: {safe(out)}")

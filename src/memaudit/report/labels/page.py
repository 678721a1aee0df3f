"""The page of a label audit: one HTML file, in the style of the report and with its escaping."""

from importlib.metadata import version
from pathlib import Path

from memaudit.io.atomic import write_file
from memaudit.report.labels.tables import SCALES, LabelAudit
from memaudit.report.one_file import one_file
from memaudit.report.page.page import environment

TITLE = "How far the labels can be trusted"


def write_page(audit: LabelAudit, out: Path) -> None:
    """Write the page, all or nothing."""
    write_file(out, build_page(audit))


def build_page(audit: LabelAudit) -> str:
    """One HTML file that needs nothing else."""
    return one_file(
        environment("memaudit.report.labels"),
        "audit.html",
        title=TITLE,
        audit=audit,
        scales=SCALES,
        details=True,
        version=version("memaudit"),
    )

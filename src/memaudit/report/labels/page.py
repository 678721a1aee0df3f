"""The page of a label audit: one HTML file, in the style of the report and with its escaping."""

import base64
import hashlib
from importlib.metadata import version
from pathlib import Path

from jinja2 import ChoiceLoader, PackageLoader

from memaudit.io.atomic import write_file
from memaudit.report.labels.tables import SCALES, LabelAudit
from memaudit.report.page.page import environment

TITLE = "How far the labels can be trusted"


def write_page(audit: LabelAudit, out: Path) -> None:
    """Write the page, all or nothing."""
    write_file(out, build_page(audit))


def build_page(audit: LabelAudit) -> str:
    """One HTML file that needs nothing else."""
    jinja = environment()
    theirs = jinja.loader
    assert theirs is not None
    jinja.loader = ChoiceLoader([PackageLoader("memaudit.report.labels"), theirs])
    style = jinja.get_template("style.css").render()
    code = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    return jinja.get_template("audit.html").render(
        style_hash=f"sha256-{code}", title=TITLE, audit=audit, scales=SCALES, details=True,
        version=version("memaudit"),
    )  # fmt: skip

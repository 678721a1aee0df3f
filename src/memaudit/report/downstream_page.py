"""Diagnoses, transfers and calibrations as HTML files."""

from itertools import groupby
from operator import itemgetter
from pathlib import Path

from memaudit.formats.calibration_files import CALIBRATION_STEPS, PARTING_REASONS
from memaudit.io.atomic import write_file
from memaudit.report.downstream_folder import DownstreamFolder, open_folder
from memaudit.report.downstream_view import view_of
from memaudit.report.page_charts import scatter_plot
from memaudit.report.page_kit import environment, one_file
from memaudit.report.writer_groups import members_by_name
from memaudit.writers.registry import WRITERS

TITLE = "Who lost the answer?"
CALIBRATION_TITLE = "Does the ratio predict what is found and answered?"
PLOTTED = ("evidence_recall", "answered", "token_f1")


def write_downstream(folder: Path, out: Path) -> None:
    """Build the page of a folder and write it, all or nothing."""
    write_file(out, build_downstream(open_folder(folder)))


def build_downstream(folder: DownstreamFolder) -> str:
    """The page of a diagnosis, a transfer or a calibration."""
    if folder.is_calibration:
        return _calibration(folder)
    return one_file(
        environment(),
        "diagnosis_page.html",
        title=TITLE,
        diagnosis=view_of(folder),
        data=folder.summary,
    )


def _calibration(folder: DownstreamFolder) -> str:
    summary = folder.summary
    spec = summary["spec"]
    members = list(
        members_by_name(
            {name: name in spec["peeking_writers"] for name in spec["writers"]}, WRITERS
        ).values()
    )
    return one_file(
        environment(),
        "calibration_page.html",
        title=CALIBRATION_TITLE,
        summary=summary,
        members=members,
        plots=[
            (name.replace("_", " "), scatter_plot(folder.rows, name, members)) for name in PLOTTED
        ],
        groups=[
            (name, list(rows)) for name, rows in groupby(summary["correlations"], itemgetter("set"))
        ],
        reasons=PARTING_REASONS,
        steps=CALIBRATION_STEPS,
    )

"""Diagnoses, transfers and calibrations as HTML files and figures."""

from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from memaudit.core.errors import MemAuditError
from memaudit.formats.calibration_files import CALIBRATION_STEPS, PARTING_REASONS
from memaudit.io.atomic import write_file
from memaudit.report.charts import scatter_plot
from memaudit.report.downstream_folder import Folder, open_folder
from memaudit.report.downstream_view import view_of
from memaudit.report.figures.calibration_scatter import calibration_scatter
from memaudit.report.figures.failure_bars import failure_bars
from memaudit.report.figures.recall_words import recall_words
from memaudit.report.figures.registry import Drawn, Skipped
from memaudit.report.figures.save import FORMATS, check_formats, write_figure
from memaudit.report.page_kit import environment, one_file
from memaudit.report.writer_groups import cast

TITLE = "Who lost the answer?"
CALIBRATION_TITLE = "Does the ratio predict what is found and answered?"
PLOTTED = ("evidence_recall", "answered", "token_f1")


def write_downstream(folder: Path, out: Path) -> None:
    """Build the page of a folder and write it, all or nothing."""
    write_file(out, build_downstream(open_folder(folder)))


def build_downstream(folder: Folder) -> str:
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


def _calibration(folder: Folder) -> str:
    summary = folder.summary
    spec = summary["spec"]
    members = list(
        cast({name: name in spec["peeking_writers"] for name in spec["writers"]}).values()
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
        groups=[(name, list(rows)) for name, rows in groupby(summary["correlations"], _set)],
        reasons=PARTING_REASONS,
        steps=CALIBRATION_STEPS,
    )


def _set(row: dict[str, Any]) -> str:
    return str(row["set"])


DIAGNOSIS_FIGURES: dict[str, Callable[[Folder], Figure]] = {
    "failure_bars": lambda folder: failure_bars(folder.summary),
    "recall_words": lambda folder: recall_words(folder.summary),
}
CALIBRATION_FIGURES: dict[str, Callable[[Folder], Figure]] = {
    "calibration": lambda folder: calibration_scatter(folder.summary, folder.rows),
}


def draw_downstream(folder: Path, out_dir: Path, formats: Sequence[str] = FORMATS) -> Drawn:
    """Figures called FOLDER-FIGURE; one that has no data is skipped, and says why."""
    check_formats(formats)
    found = open_folder(folder)
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MemAuditError(f"cannot make {out_dir}: {error.strerror or error}") from None
    files: list[Path] = []
    skipped: list[Skipped] = []
    for name, make in (CALIBRATION_FIGURES if found.is_calibration else DIAGNOSIS_FIGURES).items():
        try:
            figure = make(found)
        except MemAuditError as error:
            skipped.append(Skipped(name, folder, str(error)))
            continue
        files += write_figure(figure, out_dir / f"{found.name}-{name}", formats)
    return Drawn(tuple(files), tuple(skipped))

"""The figures of a diagnosis, a transfer or a calibration."""

from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from memaudit.core.errors import MemAuditError
from memaudit.report.downstream.folder import Folder, open_folder
from memaudit.report.figures.calibration_scatter import calibration_scatter
from memaudit.report.figures.draw import Drawn, Skipped
from memaudit.report.figures.failure_bars import failure_bars
from memaudit.report.figures.recall_words import recall_words
from memaudit.report.figures.save import FORMATS, check_formats, write_figure

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

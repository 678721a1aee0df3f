"""Draws every figure whose data is there."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.report.figures.registry import FIGURES
from memaudit.report.figures.runs import Run
from memaudit.report.figures.save import FORMATS, check_formats, write_figure


@dataclass(frozen=True, slots=True)
class Skipped:
    """A figure that was not drawn of a run, and why."""

    figure: str
    run: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """The files that were written, and the figures that were not."""

    files: tuple[Path, ...]
    skipped: tuple[Skipped, ...]


def draw_all(run_folders: Sequence[Path], out_dir: Path, formats: Sequence[str] = FORMATS) -> Drawn:
    """Figures of runs are called RUN-FIGURE; those that need no run are drawn once.

    A folder that is no run is an error; data that a run lacks is a skipped figure.
    """
    check_formats(formats)
    runs = [Run(folder) for folder in run_folders]
    names = [run.name for run in runs]
    for run in runs:
        if names.count(run.name) > 1:
            raise MemAuditError(f"two run folders are called {run.name!r}; rename one of them")
        _ = run.manifest
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MemAuditError(f"cannot make {out_dir}: {error.strerror or error}") from None
    files: list[Path] = []
    skipped: list[Skipped] = []
    for name, kind in FIGURES.items():
        if kind.of_run is None:
            files += write_figure(kind.make(), out_dir / name, formats)
            continue
        for run in runs:
            try:
                figure = kind.of_run(run)
            except MemAuditError as error:
                skipped.append(Skipped(name, run.folder, str(error)))
                continue
            files += write_figure(figure, out_dir / f"{run.name}-{name}", formats)
    return Drawn(tuple(files), tuple(skipped))

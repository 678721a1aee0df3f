"""Every figure by name, and drawing them. A new figure is one file and one line in FIGURES."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from matplotlib.figure import Figure

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import make_folder
from memaudit.lab.downstream.downstream_page import open_folder
from memaudit.lab.figures.budget_sweep import budget_sweep_of_run
from memaudit.lab.figures.failure_bars import failure_bars
from memaudit.lab.figures.frontier_gap import frontier_gap
from memaudit.lab.figures.pipeline import pipeline
from memaudit.lab.figures.recall_words import recall_words
from memaudit.lab.figures.run_summary import FigureRun
from memaudit.lab.figures.stress_heatmap import stress_heatmap
from memaudit.lab.figures.style import FORMATS, check_formats, write_figure
from memaudit.lab.figures.validity_timeline import validity_timeline_of_run

Source = Literal["nothing", "run", "diagnosis"]


@dataclass(frozen=True, slots=True)
class FigureKind:
    """A figure: its source, one line about it, and the function that draws it.

    `draw` gets a `FigureRun`, a `DownstreamFolder`, or nothing.
    """

    source: Source
    about: str
    draw: Callable[..., Figure]


FIGURES: dict[str, FigureKind] = {
    "pipeline": FigureKind(
        "nothing", "from a stream to a certified ratio and a diagnosis", pipeline
    ),
    "validity_timeline": FigureKind(
        "run",
        "a package through time: candidates, what they cover, what OPT keeps",
        validity_timeline_of_run,
    ),
    "budget_sweep": FigureKind(
        "run", "mean ratio to OPT against the budget, one line per writer", budget_sweep_of_run
    ),
    "stress_heatmap": FigureKind(
        "run",
        "ratio to OPT at one budget, writers by distributions",
        lambda run: stress_heatmap(run.summary),
    ),
    "frontier_gap": FigureKind(
        "run",
        "full OPT minus no-tombstone OPT, by distribution and budget",
        lambda run: frontier_gap(run.summary),
    ),
    "failure_bars": FigureKind(
        "diagnosis",
        "what became of the questions, one bar per store",
        lambda folder: failure_bars(folder.data),
    ),
    "recall_words": FigureKind(
        "diagnosis",
        "evidence found against words retrieved, one line per store",
        lambda folder: recall_words(folder.data),
    ),
}


@dataclass(frozen=True, slots=True)
class Skipped:
    """A figure that was not drawn for a run, and why."""

    figure: str
    run: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """The files that were written, and the figures that were skipped."""

    files: tuple[Path, ...]
    skipped: tuple[Skipped, ...]


def draw_all(run_folders: Sequence[Path], out_dir: Path, formats: Sequence[str] = FORMATS) -> Drawn:
    """The figures of runs, called RUN-FIGURE, and those that need no run.

    A folder that is not a run is an error; a figure whose data a run lacks is skipped.
    """
    runs = [FigureRun(folder) for folder in run_folders]
    names = [run.name for run in runs]
    for run in runs:
        if names.count(run.name) > 1:
            raise MemAuditError(f"two run folders are called {run.name!r}; rename one of them")
        _ = run.manifest
    return _draw("run", [(run.folder, run.name, run) for run in runs], out_dir, formats)


def draw_downstream(folder: Path, out_dir: Path, formats: Sequence[str] = FORMATS) -> Drawn:
    """The figures of a diagnosis or a transfer, called FOLDER-FIGURE."""
    check_formats(formats)
    opened = open_folder(folder)
    return _draw("diagnosis", [(folder, opened.name, opened)], out_dir, formats)


def _draw(
    source: Source,
    items: Iterable[tuple[Path, str, Any]],
    out_dir: Path,
    formats: Sequence[str],
) -> Drawn:
    check_formats(formats)
    make_folder(out_dir)
    files: list[Path] = []
    skipped: list[Skipped] = []
    for name, kind in FIGURES.items():
        if kind.source == "nothing" and source == "run":
            files += write_figure(kind.draw(), out_dir / name, formats)
        if kind.source != source:
            continue
        for folder, item_name, item in items:
            try:
                figure = kind.draw(item)
            except MemAuditError as error:
                skipped.append(Skipped(name, folder, str(error)))
                continue
            files += write_figure(figure, out_dir / f"{item_name}-{name}", formats)
    return Drawn(tuple(files), tuple(skipped))

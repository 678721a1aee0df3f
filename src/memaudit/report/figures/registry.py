"""Every figure by name; draws those whose data is there. A new one is a file and a line here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from matplotlib.figure import Figure

from memaudit.core.errors import MemAuditError
from memaudit.report.figures.budget_sweep import OPT, budget_sweep
from memaudit.report.figures.frontier_gap import frontier_gap
from memaudit.report.figures.opt_frontiers import opt_frontiers
from memaudit.report.figures.pipeline import pipeline
from memaudit.report.figures.run_data import Run, nearest
from memaudit.report.figures.save import FORMATS, check_formats, write_figure
from memaudit.report.figures.stress_heatmap import BUDGET, stress_heatmap
from memaudit.report.figures.validity_timeline import validity_timeline
from memaudit.solvers.frontier import frontier


@dataclass(frozen=True, slots=True)
class FigureKind:
    """A figure: one line about it, its maker, and how it is drawn from a run, if it is."""

    about: str
    make: Callable[..., Figure]
    of_run: Callable[[Run], Figure] | None = None


def _sweep(run: Run) -> Figure:
    if len(run.budgets) < 2:
        raise MemAuditError("the run has one budget; a sweep needs two or more")
    return budget_sweep(run.summary)


def _timeline(run: Run) -> Figure:
    """The first distribution's package, at the budget of the heat map or next to it."""
    budget = nearest(run.budgets, Fraction(BUDGET))
    return validity_timeline(run.package(run.distributions[0]), budget)


def _frontiers(run: Run) -> Figure:
    """A package of each distribution, and what the first writer that is not OPT reached on it."""
    found = [frontier(run.package(name), int(run.budgets[-1])) for name in run.distributions]
    others = [writer for writer in run.writers if writer != OPT]
    if not others:
        return opt_frontiers(found)
    return opt_frontiers(found, run.reached(others[0]), others[0])


FIGURES: dict[str, FigureKind] = {
    "pipeline": FigureKind("from a stream to a certified ratio and a diagnosis", pipeline),
    "validity_timeline": FigureKind(
        "a package through time: candidates, what they cover, what OPT keeps",
        validity_timeline,
        _timeline,
    ),
    "budget_sweep": FigureKind(
        "mean ratio to OPT against the budget, a line a writer", budget_sweep, _sweep
    ),
    "stress_heatmap": FigureKind(
        "ratio to OPT at one budget, writers by distributions",
        stress_heatmap,
        lambda run: stress_heatmap(run.summary),
    ),
    "frontier_gap": FigureKind(
        "full OPT minus no-tombstone OPT, by distribution and budget",
        frontier_gap,
        lambda run: frontier_gap(run.summary),
    ),
    "opt_frontiers": FigureKind("OPT at every budget, a line a package", opt_frontiers, _frontiers),
}


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

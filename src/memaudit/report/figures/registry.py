"""Every figure by name; a new one is a file and an entry here."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from matplotlib.figure import Figure

from memaudit.core.errors import MemAuditError
from memaudit.report.figures.budget_sweep import OPT, budget_sweep
from memaudit.report.figures.frontier_gap import frontier_gap
from memaudit.report.figures.opt_frontiers import opt_frontiers
from memaudit.report.figures.pipeline import pipeline
from memaudit.report.figures.runs import Run, nearest
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

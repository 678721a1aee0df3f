"""OPT for every budget, one step line per package, optionally with a writer's values."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from matplotlib.figure import Figure

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.solvers.frontier import Frontier
from memaudit.kernel.solvers.frontier import frontier as solve_frontier
from memaudit.lab.figures.run_summary import FigureRun
from memaudit.lab.figures.style import (
    LARGE,
    PAPER,
    PRINT_WIDTH,
    ROW,
    LineEnd,
    fitted_name,
    house_style,
    inches,
    label_lines,
    label_room,
    note,
    shown,
    writer_label,
)
from memaudit.show.encoding import Look, nth_look
from memaudit.show.page_charts import OPT

MOST_NAMES = 21
"""More packages than this are drawn without names, since the lines cannot be distinguished."""

LEFT, BOTTOM, HEAD, NOTE = 0.75, 0.5, 0.36, 0.2

Points = Sequence[tuple[float, float]]
"""Budgets and the value reached at each."""


@house_style()
def opt_frontiers(
    frontiers: Sequence[Frontier],
    reached: Mapping[str, Points] | None = None,
    writer: str = "",
) -> Figure:
    """Step lines. `reached` has the points of one writer by package digest."""
    if not frontiers:
        raise MemAuditError("no frontier to draw")
    named = len(frontiers) <= MOST_NAMES
    several = len(frontiers) > 1
    names = [shown(frontier.package) for frontier in frontiers] if named and several else []
    foot = BOTTOM + (NOTE if reached else 0)
    height = max(3.6, len(names) * ROW + HEAD + foot)
    right = label_room(names) if names else 0.2
    figure = Figure(figsize=(PRINT_WIDTH, height))
    box = (
        LEFT / PRINT_WIDTH,
        foot / height,
        (PRINT_WIDTH - LEFT - right) / PRINT_WIDTH,
        1 - (HEAD + foot) / height,
    )
    axes = figure.add_axes(box)
    styles = [nth_look(place) for place in range(len(frontiers))]
    for frontier, style in zip(frontiers, styles, strict=True):
        values = [float(value) for value in frontier.values]
        axes.step(
            range(len(values)),
            values,
            where="post",
            color=style.colour,
            linestyle=style.dash,
            marker=style.marker if len(values) == 1 else "",
            clip_on=False,
            gid=frontier.digest,
        )
        points = (reached or {}).get(frontier.digest, ())
        axes.plot(
            [budget for budget, _ in points],
            [value for _, value in points],
            linestyle="none",
            marker=style.marker,
            color=style.colour,
            markeredgecolor=PAPER,
            markersize=6,
            markeredgewidth=0.7,
            zorder=3,
            clip_on=False,
            gid=f"reached/{frontier.digest}",
        )
    longest = max(len(frontier.values) for frontier in frontiers)
    axes.set_xlim(0, max(1, longest - 1))
    highest = max(float(value) for frontier in frontiers for value in frontier.values)
    axes.set_ylim(0, highest * 1.04 or 1.0)
    axes.set_xlabel("budget (storage cost)")
    axes.set_ylabel("optimum (weighted coverage)")
    axes.grid()
    axes.set_axisbelow(True)
    about = f"{len(frontiers)} packages" if several else frontiers[0].package
    axes.set_title(_title(about, PRINT_WIDTH - LEFT - 0.15), fontsize=LARGE, loc="left")
    if names:
        ends = [
            LineEnd(name, float(frontier.values[-1]), _with_marker(style, bool(reached)))
            for name, frontier, style in zip(names, frontiers, styles, strict=True)
        ]
        label_lines(figure, axes, ends)
    if reached:
        note(figure, f"Lines: OPT. Markers: value of {writer_label(writer)} on the same package.")
    return figure


def opt_frontiers_of_run(run: FigureRun) -> Figure:
    """A package of each distribution, and what the first writer other than OPT reached on it."""
    frontiers = [
        solve_frontier(run.package(name), int(run.budgets[-1])) for name in run.distributions
    ]
    others = [writer for writer in run.writers if writer != OPT]
    if not others:
        return opt_frontiers(frontiers)
    return opt_frontiers(frontiers, run.reached(others[0]), others[0])


def _title(about: str, room: float) -> str:
    """The title. The package's name is cut if it is too long."""
    before, after = "Best possible store of ", " at every budget"
    return before + fitted_name(about, room - inches(before + after, LARGE), LARGE) + after


def _with_marker(style: Look, points: bool) -> Look:
    """Without points, the sample of a line has no marker."""
    return style if points else replace(style, marker="")

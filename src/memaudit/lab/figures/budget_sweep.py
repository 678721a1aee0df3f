"""Mean ratio to OPT against the budget: a panel per distribution, a line and band per writer."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.figures.run_summary import (
    Budget,
    FigureRun,
    SummaryCell,
    budgets_of,
    cells_of,
    in_order,
)
from memaudit.lab.figures.style import (
    LARGE,
    NORMAL,
    PRINT_WIDTH,
    SMALL,
    axes_in,
    distribution_label,
    draw_line,
    fitted,
    fitted_name,
    head,
    head_height,
    house_style,
    line_handle,
    note,
    writer_label,
)
from memaudit.show.encoding import Look, looks

OPT = "opt"
TOP = 1.04
"""The axis ends a little above 1, so that markers at 1 are not cut off."""

LEFT, TITLE, FOOT, DOWN, ACROSS = 0.62, 0.28, 0.86, 0.5, 0.13
MOST_COLUMNS, TALL, TALL_ALONE = 4, 1.35, 2.6
SIDEWAYS = 0.12
"""Points of one budget are moved apart by at most this share of a step, so that equal ones show."""


@house_style()
def budget_sweep(summary: Mapping[str, Any]) -> Figure:
    """One panel per distribution; nothing is averaged over distributions.

    Bands are the intervals of the summary.
    """
    cells = cells_of(summary)
    names = in_order(cell.distribution for cell in cells)
    columns = min(MOST_COLUMNS, len(names))
    rows = math.ceil(len(names) / columns)
    tall = TALL if len(names) > 1 else TALL_ALONE
    writers = in_order(cell.writer for cell in cells)
    styles = looks(writers)
    defined = {cell.writer for cell in cells if cell.mean_ratio is not None}
    handles = [
        line_handle(
            writer_label(writer) + ("" if writer in defined else " (undefined)"), styles[writer]
        )
        for writer in writers
    ]
    above = head_height(handles) + TITLE
    height = above + rows * tall + (rows - 1) * DOWN + FOOT
    figure = Figure(figsize=(PRINT_WIDTH, height))
    wide = (PRINT_WIDTH - LEFT - 0.1 - (columns - 1) * ACROSS) / columns
    for place, name in enumerate(names):
        row, column = divmod(place, columns)
        bottom = height - above - (row + 1) * tall - row * DOWN
        axes = axes_in(figure, LEFT + column * (wide + ACROSS), bottom, wide, tall)
        own = [cell for cell in cells if cell.distribution == name]
        budgets = budgets_of(own)
        for writer in writers:
            _draw(axes, own, writer, styles[writer], budgets, _shift(writers, writer))
        _axes(axes, budgets, distribution_label(name), wide, LARGE if len(names) == 1 else NORMAL)
        axes.tick_params(labelleft=column == 0)
    inch = figure.dpi_scale_trans
    middle = (height - above + FOOT) / 2
    figure.text(0.12, middle, "mean ratio to OPT", rotation=90, va="center", transform=inch)
    figure.text(
        (PRINT_WIDTH + LEFT) / 2,
        FOOT - 0.45,
        "budget (storage cost)",
        ha="center",
        transform=inch,
    )
    head(figure, "Ratio to OPT across budgets", handles)
    note(figure, _band_note(summary, cells))
    return figure


def budget_sweep_of_run(run: FigureRun) -> Figure:
    """The sweep of a run with at least two budgets."""
    if len(run.budgets) < 2:
        raise MemAuditError("the run has one budget; a sweep needs two or more")
    return budget_sweep(run.summary)


def _band_note(summary: Mapping[str, Any], cells: Sequence[SummaryCell]) -> str:
    bootstrap = summary.get("bootstrap") or {}
    level = bootstrap.get("level")
    text = f"Bands: bootstrap {level:.0%} intervals. " if isinstance(level, float) else ""
    text += "Hollow markers: writers that see the hidden side of the package. "
    text += "Points are moved a little sideways, so that equal ones show."
    if any(cell.left_out for cell in cells):
        text += " Packages without a defined ratio are left out."
    return text


def _shift(writers: Sequence[str], writer: str) -> float:
    """How far a writer's points are moved. OPT, the line to compare with, is not moved."""
    others = [name for name in writers if name != OPT]
    if writer == OPT or len(others) < 2:
        return 0.0
    return SIDEWAYS * (others.index(writer) / (len(others) - 1) - 0.5)


def _draw(
    axes: Axes,
    cells: Sequence[SummaryCell],
    writer: str,
    style: Look,
    budgets: Sequence[Budget],
    shift: float,
) -> None:
    """One writer's line and band, with gaps where it has no mean."""
    own = [cell for cell in cells if cell.writer == writer]
    at = {cell.budget: cell for cell in own}
    # A dictionary would silently keep the last of two rows.
    if len(at) < len(own):
        raise MemAuditError(f"cannot draw: two summary rows for writer {writer!r} at one budget")
    drawn = [at.get(budget) for budget in budgets]
    means = [_number(cell.mean_ratio if cell else None) for cell in drawn]
    low = [_number(cell.ci_low if cell else None) for cell in drawn]
    high = [_number(cell.ci_high if cell else None) for cell in drawn]
    places = [place + shift for place in range(len(budgets))]
    axes.fill_between(places, low, high, color=style.colour, alpha=0.16, linewidth=0)
    draw_line(axes, places, means, style, writer)


def _number(number: float | None) -> float:
    return math.nan if number is None else number


def _axes(axes: Axes, budgets: Sequence[Budget], title: str, room: float, size: float) -> None:
    """Budgets are evenly spaced, since each is usually twice the one before."""
    axes.set_xlim(-0.25, len(budgets) - 0.75)
    # From 0: a ratio whose axis begins at 0.8 makes every difference look large.
    axes.set_ylim(0, TOP)
    tick = NORMAL if room / len(budgets) > 0.5 else SMALL
    texts = [fitted(budget, 0.92 * room / len(budgets), tick) for budget in budgets]
    axes.set_xticks(range(len(budgets)), texts, fontsize=tick)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    axes.set_title(fitted_name(title, room, size), fontsize=size, loc="left", pad=6)

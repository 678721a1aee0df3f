"""Mean ratio to OPT against the budget: one line per writer, with bootstrap bands."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.figures.run_summary import (
    Budget,
    FigureRun,
    SummaryCell,
    budgets_of,
    cells_of,
    in_order,
    of_distribution,
)
from memaudit.lab.figures.style import (
    GAP,
    LARGE,
    NORMAL,
    PRINT_WIDTH,
    ROW,
    SAMPLE,
    SMALL,
    LineEnd,
    distribution_label,
    fitted,
    fitted_name,
    house_style,
    inches,
    label_lines,
    label_room,
    note,
    shown,
    writer_label,
)
from memaudit.show.encoding import Look, looks

ALL, OPT = "all", "opt"
TOP = 1.04
"""The axis ends a little above 1, so that markers at 1 are not cut off."""

LEFT, BOTTOM, HEAD, NOTE = 0.62, 0.5, 0.36, 0.36
WIDEST_NAME = 2.0
SIDEWAYS = 0.12
"""Points of one budget are moved apart by at most this share of a step, so that equal ones show."""


@house_style()
def budget_sweep(summary: Mapping[str, Any], distribution: str = ALL) -> Figure:
    """One distribution with names at the ends of lines, or one panel per distribution.

    Bands are the intervals of the summary. Nothing is averaged over distributions.
    """
    cells = cells_of(summary)
    names = in_order(cell.distribution for cell in cells)
    if distribution == ALL and len(names) > 1:
        return _panels(cells, names, _band_note(summary, cells))
    chosen = of_distribution(cells, names[0] if distribution == ALL else distribution)
    return _single(chosen, _band_note(summary, chosen))


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


def _single(cells: Sequence[SummaryCell], text: str) -> Figure:
    writers = in_order(cell.writer for cell in cells)
    labels = [writer_label(writer) for writer in writers]
    height = max(3.6, len(writers) * ROW + HEAD + BOTTOM + NOTE)
    figure = Figure(figsize=(PRINT_WIDTH, height))
    room = PRINT_WIDTH - LEFT - label_room(labels)
    axes = figure.add_axes(
        (
            LEFT / PRINT_WIDTH,
            (BOTTOM + NOTE) / height,
            room / PRINT_WIDTH,
            1 - (HEAD + BOTTOM + NOTE) / height,
        )
    )
    budgets = budgets_of(cells)
    styles = looks(writers)
    ends = []
    for writer, label in zip(writers, labels, strict=True):
        means = _draw(axes, cells, writer, styles[writer], budgets, _shift(writers, writer))
        defined = [mean for mean in means if not math.isnan(mean)]
        name = label if defined else f"{label} (undefined)"
        ends.append(LineEnd(name, defined[-1] if defined else 0.0, styles[writer]))
    _axes(axes, budgets, distribution_label(cells[0].distribution), room, LARGE)
    axes.set_ylabel("mean ratio to OPT")
    axes.set_xlabel("budget (storage cost)")
    label_lines(figure, axes, ends)
    note(figure, text)
    return figure


def _panels(cells: Sequence[SummaryCell], names: Sequence[str], text: str) -> Figure:
    columns = min(4, len(names))
    rows = math.ceil(len(names) / columns)
    writers = in_order(cell.writer for cell in cells)
    styles = looks(writers)
    handles = [_handle(writer, styles[writer]) for writer in writers]
    widest = max(inches(str(handle.get_label()), NORMAL) for handle in handles)
    across = max(1, int((PRINT_WIDTH - 0.2) / (widest + SAMPLE + GAP + 0.2)))
    foot = math.ceil(len(writers) / across) * ROW + NOTE + 0.05
    panel, between, gap = 1.35, 0.5, 0.13
    height = HEAD + rows * panel + (rows - 1) * between + BOTTOM + foot
    figure = Figure(figsize=(PRINT_WIDTH, height))
    wide = (PRINT_WIDTH - LEFT - 0.1 - (columns - 1) * gap) / columns
    for place, name in enumerate(names):
        row, column = divmod(place, columns)
        bottom = height - HEAD - (row + 1) * panel - row * between
        left = LEFT + column * (wide + gap)
        axes = figure.add_axes(
            (left / PRINT_WIDTH, bottom / height, wide / PRINT_WIDTH, panel / height)
        )
        own = of_distribution(cells, name)
        budgets = budgets_of(own)
        for writer in writers:
            _draw(axes, own, writer, styles[writer], budgets, _shift(writers, writer))
        _axes(axes, budgets, distribution_label(name), wide, NORMAL)
        axes.tick_params(labelleft=column == 0)
    middle = (height + foot + BOTTOM - HEAD) / 2
    inch = figure.dpi_scale_trans
    figure.text(0.12, middle, "mean ratio to OPT", rotation=90, va="center", transform=inch)
    figure.text(
        (PRINT_WIDTH + LEFT) / 2, foot + 0.1, "budget (storage cost)", ha="center", transform=inch
    )
    figure.legend(
        handles=handles,
        loc="lower center",
        bbox_to_anchor=(0.5, NOTE / height),
        ncols=across,
        handlelength=SAMPLE * 72 / NORMAL,
        handletextpad=GAP * 72 / NORMAL,
        columnspacing=0.18 * 72 / NORMAL,
        labelspacing=(ROW * 72 - NORMAL) / NORMAL * 0.6,
        borderaxespad=0,
        borderpad=0.3,
    )
    note(figure, text)
    return figure


def _handle(writer: str, style: Look) -> Line2D:
    return Line2D(
        [],
        [],
        color=style.colour,
        linestyle=style.dash,
        marker=style.marker,
        markerfacecolor=style.inside,
        label=fitted_name(writer_label(writer), WIDEST_NAME, NORMAL),
    )


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
) -> list[float]:
    """Draws one writer's line and band. Returns its means, NaN where there is none."""
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
    axes.plot(
        places,
        means,
        color=style.colour,
        linestyle=style.dash,
        marker=style.marker,
        markerfacecolor=style.inside,
        markeredgewidth=1.0,
        gid=shown(writer),
        clip_on=False,
    )
    return means


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

"""Heat map of ratios to OPT at one budget: writers by distributions, with numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from memaudit.kernel.number_text import fixed
from memaudit.lab.figures.run_summary import SummaryCell, at_budget, cells_of, in_order
from memaudit.lab.figures.style import (
    LARGE,
    MUTED,
    NORMAL,
    PAPER,
    PRINT_WIDTH,
    SMALL,
    axes_in,
    distribution_label,
    fitted,
    fitted_name,
    house_style,
    inches,
    note,
    shown,
    writer_label,
)
from memaudit.show.encoding import INK

BUDGET = 6
COLOURS = "cividis"
"""Its lightness rises throughout, so it works in grey and for every colour vision."""

ROW, NARROWEST, WIDEST = 0.25, 0.5, 0.85
WIDEST_NAME = 1.7
ROTATION, LONGEST = 40, 1.3
HEAD, FOOT, BAR = 0.4, 0.22, 0.75


@house_style()
def stress_heatmap(summary: Mapping[str, Any]) -> Figure:
    """The heat map of one budget. A cell without a ratio is hatched and gives the reason."""
    cells = at_budget(cells_of(summary), BUDGET)
    writers = in_order(cell.writer for cell in cells)
    names = in_order(cell.distribution for cell in cells)
    rows = [fitted_name(writer_label(writer), WIDEST_NAME, NORMAL) for writer in writers]
    columns = [fitted_name(distribution_label(name), LONGEST, NORMAL) for name in names]
    left = max(inches(row, NORMAL) for row in rows) + 0.2
    slant = max(inches(column, NORMAL) for column in columns) * 0.77 + 0.3
    left = max(left, slant - NARROWEST / 2)
    wide = min(WIDEST, max(NARROWEST, (PRINT_WIDTH - left - BAR) / len(names)))
    width = max(left + wide * len(names) + BAR, 4.0)
    foot = FOOT + max(inches(column, NORMAL) for column in columns) * 0.65 + 0.2
    height = HEAD + ROW * len(rows) + foot
    figure = Figure(figsize=(width, height))
    axes = axes_in(figure, left, foot, wide * len(names), ROW * len(rows))
    at = {(cell.writer, cell.distribution): cell for cell in cells}
    for y, writer in enumerate(writers):
        for x, name in enumerate(names):
            _cell(axes, x, y, at.get((writer, name)))
    _axes(axes, rows, columns)
    title = f"Mean ratio to OPT at budget {BUDGET}"
    axes.set_title(fitted(title, width - left, LARGE), loc="left", pad=6)
    bar = axes_in(figure, left + wide * len(names) + 0.12, foot, 0.13, ROW * len(rows))
    scale = ScalarMappable(Normalize(0, 1), COLOURS)
    figure.colorbar(scale, cax=bar, ticks=[0, 0.5, 1]).outline.set_visible(False)
    bar.tick_params(length=2)
    if any(cell.left_out for cell in cells):
        note(figure, "* Packages without a defined ratio are left out of the mean.")
    return figure


def text_on(shade: Sequence[float]) -> str:
    """Dark or light text, whichever contrasts more with a colour (WCAG relative luminance)."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shade[:3]]
    luminance = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    return INK if (luminance + 0.05) / (0.016 + 0.05) > 1.05 / (luminance + 0.05) else PAPER


def ratio_text(ratio: float) -> str:
    """Three decimal places. A ratio below 1 is never shown as 1."""
    text = fixed(ratio)
    return "<1.000" if ratio < 1 and text == "1.000" else text


def _cell(axes: Axes, x: int, y: int, cell: SummaryCell | None) -> None:
    """A square with its number, or a hatched one with the reason."""
    gid = shown(f"{cell.writer}/{cell.distribution}") if cell else None
    if cell is None or cell.mean_ratio is None:
        reason = cell.why_undefined if cell else "not run"
        axes.add_patch(
            Rectangle(
                (x, y), 1, 1, facecolor="#f2f2f2", edgecolor="#a6a6a6", hatch="////", linewidth=0
            )
        )
        axes.text(
            x + 0.5,
            y + 0.5,
            reason,
            ha="center",
            va="center",
            fontsize=SMALL,
            color=INK,
            gid=gid,
            bbox={"facecolor": "#f2f2f2", "edgecolor": "none", "pad": 0.8},
        )
        return
    shade = colormaps[COLOURS](cell.mean_ratio)
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=shade, edgecolor=PAPER, linewidth=0.8))
    text = ratio_text(cell.mean_ratio) + ("*" if cell.left_out else "")
    axes.text(
        x + 0.5,
        y + 0.5,
        text,
        ha="center",
        va="center",
        fontsize=NORMAL,
        color=text_on(shade),
        gid=gid,
    )


def _axes(axes: Axes, rows: Sequence[str], columns: Sequence[str]) -> None:
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(rows), 0)
    axes.set_yticks([y + 0.5 for y in range(len(rows))], rows)
    axes.set_xticks(
        [x + 0.5 for x in range(len(columns))],
        columns,
        rotation=ROTATION,
        ha="right",
        va="center",
        rotation_mode="anchor",
    )
    axes.tick_params(length=0, color=MUTED)
    axes.spines[:].set_visible(False)

"""What tombstones and compound updates are worth: full OPT minus no-tombstone OPT."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.number_text import fixed, percent
from memaudit.lab.figures.run_summary import Budget, SummaryCell, budgets_of, cells_of, in_order
from memaudit.lab.figures.style import (
    NORMAL,
    PRINT_WIDTH,
    SMALL,
    axes_in,
    distribution_label,
    fitted,
    fitted_name,
    head,
    head_height,
    house_style,
    inches,
    shown,
)
from memaudit.show.encoding import HATCHES, INK

OPT, WITHOUT = "opt", "no_tombstone_opt"
BAR, BETWEEN = 0.13, 0.12
"""Inches: the height of a bar, and the space between two distributions."""

TITLE, FOOT, GAP, ROOM = 0.24, 0.5, 0.2, 0.5
WIDEST_NAME = 1.5


@house_style()
def frontier_gap(summary: Mapping[str, Any]) -> Figure:
    """Bars per distribution and budget: the gap in mean value, and the mean share of full OPT."""
    cells = cells_of(summary)
    full, without = _values(cells, OPT), _values(cells, WITHOUT)
    ratios = {
        (cell.distribution, cell.budget): cell.mean_ratio
        for cell in cells
        if cell.writer == WITHOUT
    }
    names = in_order(cell.distribution for cell in cells)
    budgets = budgets_of(cells)
    labels = [fitted_name(distribution_label(name), WIDEST_NAME, NORMAL) for name in names]
    left = max(inches(label, NORMAL) for label in labels) + 0.2
    block = BAR * len(budgets) + BETWEEN
    tall = block * len(names) + BETWEEN
    handles = [
        Patch(
            facecolor=_shade(place, len(budgets)),
            edgecolor=INK,
            linewidth=0.5,
            hatch=_hatch(place),
            label=fitted(f"budget {budget}", 1.2, NORMAL),
        )
        for place, budget in enumerate(budgets)
    ]
    tall = block * len(names) + BETWEEN
    figure = Figure(figsize=(PRINT_WIDTH, head_height(handles) + TITLE + tall + FOOT))
    wide = (PRINT_WIDTH - left - GAP - 0.1) / 2
    gaps = {key: full[key] - without[key] for key in full}
    # Means of ratios, as in every table: dividing the means would weight packages by their OPT.
    shares = {key: math.nan if (mean := ratios[key]) is None else 1 - mean for key in gaps}
    titles = ("Gap in mean value", "Mean share of full OPT")
    for place, (numbers, title) in enumerate(zip((gaps, shares), titles, strict=True)):
        axes = axes_in(figure, left + place * (wide + GAP), FOOT, wide, tall)
        _bars(axes, numbers, names, budgets, share=place == 1, wide=wide)
        axes.set_ylim(tall, 0)
        middles = [BETWEEN + block * y + BAR * len(budgets) / 2 for y in range(len(names))]
        axes.set_yticks(middles, labels if place == 0 else [])
        axes.tick_params(axis="y", length=0)
        axes.set_title(title, fontsize=NORMAL, loc="left", pad=4)
        axes.set_xlabel("OPT minus no-tombstone OPT" if place == 0 else "1 - mean ratio")
    head(figure, "What tombstones and compound updates add to the best store", handles)
    return figure


def _values(cells: Sequence[SummaryCell], writer: str) -> dict[tuple[str, Budget], float]:
    """Mean value by distribution and budget, complete or an error."""
    every = {(cell.distribution, cell.budget) for cell in cells}
    means = {
        (cell.distribution, cell.budget): cell.mean_value
        for cell in cells
        if cell.writer == writer and cell.mean_value is not None
    }
    for distribution, budget in sorted(every - means.keys(), key=str):
        raise MemAuditError(
            f"no mean value of writer {writer!r} for {distribution!r} at budget {budget}; "
            "run the sweep with that writer"
        )
    return means


def _bars(
    axes: Axes,
    numbers: Mapping[tuple[str, Budget], float],
    names: Sequence[str],
    budgets: Sequence[Budget],
    share: bool,
    wide: float,
) -> None:
    """The bars of one panel, each with its number, or a word where it is undefined."""
    defined = [number for number in numbers.values() if not math.isnan(number)]
    longest = max([*defined, 0.0]) or 1.0
    axes.set_xlim(0, longest * wide / (wide - ROOM))
    block = BAR * len(budgets) + BETWEEN
    for y, name in enumerate(names):
        for z, budget in enumerate(budgets):
            number = numbers[name, budget]
            top = BETWEEN + block * y + BAR * z
            missing = "OPT = 0"
            text = percent(number, 1, missing) if share else fixed(number, 2, missing)
            length = 0.0 if math.isnan(number) else number
            axes.barh(
                top,
                length,
                BAR * 0.88,
                align="edge",
                color=_shade(z, len(budgets)),
                edgecolor=INK,
                linewidth=0.5,
                hatch=_hatch(z),
                gid=shown(f"{name}/{budget}"),
            )
            axes.annotate(
                text,
                (max(length, 0.0), top + BAR * 0.44),
                (3, 0),
                textcoords="offset points",
                va="center_baseline",
                fontsize=SMALL,
            )
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}" if share else f"{x:g}")
    axes.locator_params(axis="x", nbins=5)


def _shade(place: int, many: int) -> tuple[float, float, float, float]:
    """From light to dark, light enough for a hatch to show."""
    return colormaps["cividis"](0.98 - 0.5 * place / max(1, many - 1))


def _hatch(place: int) -> str:
    return tuple(HATCHES)[place % len(HATCHES)]

"""Ratio against downstream outcomes: all stores faintly, every writer's mean on top."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from memaudit.kernel.number_text import fixed
from memaudit.lab.figures.style import (
    LARGE,
    LINE,
    MUTED,
    NORMAL,
    PRINT_WIDTH,
    fitted_name,
    house_style,
    inches,
    note,
    note_lines,
    shown,
    writer_label,
)
from memaudit.show.encoding import INK, Look, looks

Point = Mapping[str, Any]

PANELS = ("evidence_recall", "answered")
LEFT, HEAD, FOOT, TALL, GAP, LEGEND_ROW = 0.62, 0.5, 0.5, 2.7, 0.62, 0.17
WIDEST_NAME = 1.6
ALL = "all"


@house_style()
def calibration_scatter(summary: Mapping[str, Any], points: Sequence[Point]) -> Figure:
    """A panel for evidence recall and one for answers; equal points are drawn darker."""
    writers = summary["spec"]["writers"]
    styles = looks(writers)
    handles = [_handle(name, styles[name]) for name in writers]
    widest = max(inches(str(handle.get_label()), NORMAL) for handle in handles)
    across = max(1, int((PRINT_WIDTH - 0.2) / (widest + 0.42)))
    words = _note(summary)
    legend = LEGEND_ROW * math.ceil(len(handles) / across) + 0.16
    foot = FOOT + legend + LINE * len(note_lines(words, PRINT_WIDTH))
    height = HEAD + TALL + foot
    figure = Figure(figsize=(PRINT_WIDTH, height))
    wide = (PRINT_WIDTH - LEFT - GAP - 0.15) / 2
    for place, target in enumerate(PANELS):
        axes = figure.add_axes(
            (
                (LEFT + place * (wide + GAP)) / PRINT_WIDTH,
                foot / height,
                wide / PRINT_WIDTH,
                TALL / height,
            )
        )
        _panel(axes, points, target, writers, styles)
        axes.set_title(_title(summary, target), fontsize=NORMAL, loc="left", pad=4)
    inch = figure.dpi_scale_trans
    title = "Does the ratio of a store predict what is found and answered?"
    figure.text(0.1, height - 0.1, title, fontsize=LARGE, va="top", transform=inch)
    figure.legend(
        handles=handles,
        loc="lower left",
        ncols=across,
        borderaxespad=0,
        borderpad=0,
        bbox_to_anchor=(0.1 / PRINT_WIDTH, (foot - FOOT - legend + 0.14) / height),
        columnspacing=1.0,
        handletextpad=0.4,
        labelspacing=0.4,
        handlelength=1.0,
    )
    note(figure, words)
    return figure


def _panel(
    axes: Axes,
    points: Sequence[Point],
    target: str,
    writers: Sequence[str],
    styles: Mapping[str, Look],
) -> None:
    fine = [p for p in points if p["ratio"] is not None and p[target] is not None]
    axes.scatter(
        [p["ratio"] for p in fine],
        [p[target] for p in fine],
        s=7,
        color=MUTED,
        alpha=0.16,
        linewidths=0,
        clip_on=False,
    )
    for name in writers:
        own = [p for p in fine if p["writer"] == name]
        if not own:
            continue
        style = styles[name]
        axes.plot(
            [sum(p["ratio"] for p in own) / len(own)],
            [sum(p[target] for p in own) / len(own)],
            linestyle="",
            marker=style.marker,
            markersize=7,
            markerfacecolor=style.inside,
            markeredgecolor=style.colour,
            markeredgewidth=1.4,
            gid=shown(f"{name}/{target}"),
            clip_on=False,
            zorder=4,
        )
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.plot([0, 1], [0, 1], color=INK, linewidth=0.6, linestyle=(0, (2, 2)), zorder=1)
    axes.grid()
    axes.set_axisbelow(True)
    axes.set_xlabel("ratio to the certified optimum")
    axes.set_ylabel("answered right" if target == "answered" else target.replace("_", " "))


def _title(summary: Mapping[str, Any], target: str) -> str:
    rows = [row for row in summary["correlations"] if row["target"] == target]
    pooled_rows = [row for row in rows if row["set"] == ALL] or rows
    spearman = {row["how"]: row["spearman"]["value"] for row in pooled_rows}
    parts = [
        f"{how} {fixed(spearman[how], 2)}"
        for how in ("pooled", "within")
        if spearman[how] is not None
    ]
    return f"Spearman: {', '.join(parts)}" if parts else "Spearman: undefined"


def _handle(name: str, style: Look) -> Line2D:
    return Line2D(
        [],
        [],
        linestyle="",
        marker=style.marker,
        markersize=6,
        markerfacecolor=style.inside,
        markeredgecolor=style.colour,
        markeredgewidth=1.4,
        label=fitted_name(writer_label(name), WIDEST_NAME, NORMAL),
    )


def _note(summary: Mapping[str, Any]) -> str:
    spec = summary["spec"]
    sets = ", ".join(f"{count} of {name}" for name, count in summary["sets"].items() if name != ALL)
    return (
        f"Grey: {summary['points'] - summary['undefined']} stores (packages {sets}; budgets "
        f"{', '.join(spec['budgets'])}). Signs: means of writers; hollow ones see the hidden side. "
        "Within: over the writers of one package and budget. "
        f"{spec['retriever']}, k = {spec['k']}, reader {spec['reader']}."
    )

"""Evidence recall against words retrieved: one line per store, one point per depth."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.figures.style import (
    LARGE,
    LINE,
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
from memaudit.show.encoding import Look, looks

LEFT, HEAD, FOOT, TALL, GAP, LEGEND_ROW = 0.62, 0.56, 0.55, 2.6, 0.4, 0.17
PANELS = {
    "evidence_recall": "Recall: units covered in full",
    "evidence_coverage": "Coverage: parts of units count in part",
}
WIDEST_NAME = 2.0
WIDE_SPREAD = 8
"""If the longest is at least this many times the shortest, the axis of words is logarithmic."""


@house_style()
def recall_words(summary: Mapping[str, Any]) -> Figure:
    """One panel counts fully covered units, the other parts of units too. Up and left is better."""
    stores = [store for store in summary["summaries"] if _points(store)]
    if not stores:
        raise MemAuditError("recall is undefined: nothing was retrieved or nothing is required")
    styles = looks(store["store"] for store in stores)
    handles = [_handle(store["store"], styles[store["store"]]) for store in stores]
    widest = max(inches(str(handle.get_label()), NORMAL) for handle in handles)
    across = max(1, int((PRINT_WIDTH - 0.2) / (widest + 0.75)))
    words = _note(summary)
    foot = FOOT + LINE * len(note_lines(words, PRINT_WIDTH))
    head = HEAD + LEGEND_ROW * math.ceil(len(handles) / across)
    height = head + TALL + foot
    figure = Figure(figsize=(PRINT_WIDTH, height))
    wide = (PRINT_WIDTH - LEFT - GAP - 0.2) / 2
    for place, (measure, title) in enumerate(PANELS.items()):
        axes = figure.add_axes(
            (
                (LEFT + place * (wide + GAP)) / PRINT_WIDTH,
                foot / height,
                wide / PRINT_WIDTH,
                TALL / height,
            )
        )
        for store in stores:
            _line(axes, store, measure, styles[store["store"]])
        _axes(axes, stores)
        axes.set_title(title, fontsize=NORMAL, loc="left", pad=4)
        axes.set_xlabel("words retrieved, mean over questions")
        if place == 0:
            axes.set_ylabel("share of the required evidence")
    figure.text(
        0.1,
        height - 0.1,
        "Evidence against the words it takes",
        fontsize=LARGE,
        va="top",
        transform=figure.dpi_scale_trans,
    )
    figure.legend(
        handles=handles,
        loc="upper left",
        ncols=across,
        borderaxespad=0,
        borderpad=0,
        bbox_to_anchor=(0.1 / PRINT_WIDTH, 1 - 0.32 / height),
        columnspacing=1.2,
        handletextpad=0.5,
        labelspacing=0.4,
        handlelength=2.6,
    )
    note(figure, words)
    return figure


def _axes(axes: Axes, stores: Sequence[Mapping[str, Any]]) -> None:
    lengths = [point["words"] for store in stores for point in _points(store) if point["words"] > 0]
    if lengths and max(lengths) > WIDE_SPREAD * min(lengths):
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.set_xlim(0, 1.05 * max(lengths, default=1.0))
        axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axes.set_ylim(0, 1)
    axes.grid()
    axes.set_axisbelow(True)


def _points(store: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return [point for point in store["curve"] if point["evidence_recall"]["mean"] is not None]


def _line(axes: Axes, store: Mapping[str, Any], measure: str, style: Look) -> None:
    points = _points(store)
    x = [point["words"] for point in points]
    y = [point[measure]["mean"] for point in points]
    axes.plot(
        x,
        y,
        color=style.colour,
        linestyle=style.dash,
        marker=style.marker,
        markersize=4,
        markerfacecolor=style.inside,
        gid=shown(f"{store['store']}/{measure}"),
        clip_on=False,
        zorder=3,
    )
    last = points[-1][measure]
    if last["ci_low"] is None:
        return
    axes.errorbar(
        x[-1],
        y[-1],
        [[y[-1] - last["ci_low"]], [last["ci_high"] - y[-1]]],
        color=style.colour,
        linewidth=1.2,
        capsize=3,
    )


def _handle(store: str, style: Look) -> Line2D:
    return Line2D(
        [],
        [],
        color=style.colour,
        linestyle=style.dash,
        marker=style.marker,
        markersize=4,
        markerfacecolor=style.inside,
        label=fitted_name(writer_label(store), WIDEST_NAME, NORMAL),
    )


def _note(summary: Mapping[str, Any]) -> str:
    spec = summary["spec"]
    most = max(len(store["curve"]) for store in summary["summaries"])
    return (
        f"Points: the first 1 to {most} memories that {spec['retriever']} retrieves; the last with "
        f"its 95% interval over {summary['clusters']}. {summary['questions']} questions, budget "
        f"{spec['budget']}. A diagnostic, not a ratio to an optimum."
    )

"""Evidence recall against words retrieved: one line per store, one point per depth."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.figures.style import (
    LINE,
    NORMAL,
    PRINT_WIDTH,
    axes_in,
    draw_line,
    head,
    head_height,
    house_style,
    line_handle,
    note,
    note_lines,
    writer_label,
)
from memaudit.show.encoding import Look, looks

LEFT, TITLE, FOOT, TALL, GAP = 0.62, 0.24, 0.55, 2.6, 0.4
PANELS = {
    "evidence_recall": "Recall: units covered in full",
    "evidence_coverage": "Coverage: parts of units count in part",
}
WIDE_SPREAD = 8
"""If the longest is at least this many times the shortest, the axis of words is logarithmic."""


@house_style()
def recall_words(summary: Mapping[str, Any]) -> Figure:
    """One panel counts fully covered units, the other parts of units too. Up and left is better."""
    stores = [store for store in summary["summaries"] if _points(store)]
    if not stores:
        raise MemAuditError("recall is undefined: nothing was retrieved or nothing is required")
    styles = looks(store["store"] for store in stores)
    handles = [
        line_handle(writer_label(store["store"]), styles[store["store"]]) for store in stores
    ]
    words = _note(summary)
    foot = FOOT + LINE * len(note_lines(words, PRINT_WIDTH))
    figure = Figure(figsize=(PRINT_WIDTH, head_height(handles) + TITLE + TALL + foot))
    wide = (PRINT_WIDTH - LEFT - GAP - 0.2) / 2
    for place, (measure, title) in enumerate(PANELS.items()):
        axes = axes_in(figure, LEFT + place * (wide + GAP), foot, wide, TALL)
        for store in stores:
            _line(axes, store, measure, styles[store["store"]])
        _axes(axes, stores)
        axes.set_title(title, fontsize=NORMAL, loc="left", pad=4)
        axes.set_xlabel("words retrieved, mean over questions")
        if place == 0:
            axes.set_ylabel("share of the required evidence")
    head(figure, "Evidence against the words it takes", handles)
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
    draw_line(axes, x, y, style, f"{store['store']}/{measure}", size=4)
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


def _note(summary: Mapping[str, Any]) -> str:
    spec = summary["spec"]
    most = max(len(store["curve"]) for store in summary["summaries"])
    return (
        f"Points: the first 1 to {most} memories that {spec['retriever']} retrieves; the last with "
        f"its 95% interval over {summary['clusters']}. {summary['questions']} questions, budget "
        f"{spec['budget']}. A diagnostic, not a ratio to an optimum."
    )

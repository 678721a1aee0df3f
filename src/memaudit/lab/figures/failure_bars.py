"""Outcomes of the questions: one stacked bar per store, one piece per outcome."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from memaudit.lab.downstream.diagnosis_files import Outcome
from memaudit.lab.figures.style import (
    LINE,
    NORMAL,
    PAPER,
    PRINT_WIDTH,
    SMALL,
    axes_in,
    fitted_name,
    head,
    head_height,
    house_style,
    inches,
    note,
    note_lines,
    shown,
    writer_label,
)
from memaudit.show.encoding import INK, loss_look

ROW, BAR = 0.34, 0.24
FOOT, GAP = 0.52, 0.06
WIDEST_NAME = 1.7
NARROWEST = 0.035
"""Pieces below this share of the bar are too narrow for their number."""


@house_style()
def failure_bars(summary: Mapping[str, Any]) -> Figure:
    """Outcomes of every store as shares of its questions, with the counts in the pieces."""
    stores = summary["summaries"]
    labels = [fitted_name(writer_label(store["store"]), WIDEST_NAME, NORMAL) for store in stores]
    left = max(inches(label, NORMAL) for label in labels) + 0.2
    handles = [
        _patch(outcome)
        for outcome in Outcome
        if any(store["outcomes"][outcome] for store in stores)
    ]
    words = _note(summary)
    foot = FOOT + LINE * len(note_lines(words, PRINT_WIDTH))
    tall = ROW * len(stores)
    figure = Figure(figsize=(PRINT_WIDTH, head_height(handles) + GAP + tall + foot))
    room = PRINT_WIDTH - left - 0.3
    axes = axes_in(figure, left, foot, room, tall)
    for place, store in enumerate(stores):
        _bar(axes, place, store, room)
    axes.set_ylim(len(stores), 0)
    axes.set_yticks([place + 0.5 for place in range(len(stores))], labels)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    axes.set_xlabel("share of questions")
    head(figure, "What became of every question", handles)
    note(figure, words)
    return figure


def _bar(axes: Axes, place: int, store: Mapping[str, Any], room: float) -> None:
    start, questions = 0.0, store["questions"]
    for outcome in Outcome:
        look, count = loss_look(outcome), store["outcomes"][outcome]
        share = count / questions
        if not count:
            continue
        axes.barh(
            place + 0.5,
            share,
            BAR / ROW,
            left=start,
            color=look.colour,
            hatch=look.hatch,
            edgecolor=INK,
            linewidth=0.5,
            gid=shown(f"{store['store']}/{outcome.value}"),
        )
        if share >= max(NARROWEST, (inches(str(count), SMALL) + 0.08) / room):
            axes.text(
                start + share / 2,
                place + 0.5,
                str(count),
                ha="center",
                va="center_baseline",
                fontsize=SMALL,
                bbox={
                    "facecolor": PAPER if look.hatch else look.colour,
                    "edgecolor": "none",
                    "pad": 0.6,
                },
            )
        start += share


def _patch(outcome: Outcome) -> Patch:
    look, name = loss_look(outcome), outcome.value.replace("_", " ")
    return Patch(facecolor=look.colour, hatch=look.hatch, edgecolor=INK, linewidth=0.5, label=name)


def _note(summary: Mapping[str, Any]) -> str:
    spec = summary["spec"]
    return (
        f"{summary['questions']} questions of {summary['packages']} packages; budget "
        f"{spec['budget']}, {spec['retriever']} with k = {spec['k']}, reader {spec['reader']}. "
        "Numbers count questions; every question is in exactly one piece."
    )

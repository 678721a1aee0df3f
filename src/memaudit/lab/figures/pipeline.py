"""Drawing of the pipeline from the stream to a certified ratio. Reading is a separate branch."""

from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from memaudit.lab.figures.style import (
    LARGE,
    MUTED,
    NORMAL,
    PAPER,
    PRINT_WIDTH,
    SMALL,
    house_style,
)
from memaudit.show.encoding import DASHES, INK

BOX, TALL, LEFT, TOP, DOWN = 1.44, 0.74, 0.1, 0.42, 0.36
"""Inches: a box's width and height, the margins, and the space between two rows."""

ACROSS = (PRINT_WIDTH - 2 * LEFT - 4 * BOX) / 3
ROWS = 3
HEAD = 0.07
HEIGHT = TOP + ROWS * TALL + (ROWS - 1) * DOWN + 0.12


@dataclass(frozen=True, slots=True)
class Part:
    """A box: its place on the grid, its name and what belongs to it."""

    column: int
    row: int
    name: str
    about: tuple[str, ...]
    fill: str = PAPER
    optional: bool = False


PARTS = {
    "stream": Part(0, 0, "Stream", ("experiences", "in time order")),
    "candidates": Part(1, 0, "Candidates", ("what could be kept,", "and what it costs")),
    "package": Part(2, 0, "Frozen package", ("units, queries,", "coverage, budget"), "#e3eef6"),
    "optimum": Part(3, 0, "Exact optimum", ("OPT, with a", "checked certificate"), "#e3eef6"),
    "writers": Part(0, 1, "Memory systems", ("writers, or systems", "whose stores we read")),
    "store": Part(1, 1, "Written store", ("what was kept", "within the budget")),
    "value": Part(2, 1, "Value of the store", ("weighted coverage", "of the units"), "#e3eef6"),
    "ratio": Part(3, 1, "Ratio", ("value / OPT", "at the same budget"), "#fdeedd"),
    "retrieval": Part(1, 2, "Retrieval", ("what is found", "for a query"), optional=True),
    "reading": Part(2, 2, "Reading", ("answers, measured", "apart from writing"), optional=True),
    "diagnosis": Part(3, 2, "Diagnosis", ("candidates, selection,", "or reading"), "#fdeedd"),
}
ARROWS = (
    ("stream", "candidates"),
    ("candidates", "package"),
    ("package", "optimum"),
    ("stream", "writers"),
    ("candidates", "store"),
    ("writers", "store"),
    ("store", "value"),
    ("package", "value"),
    ("value", "ratio"),
    ("optimum", "ratio"),
    ("ratio", "diagnosis"),
    ("store", "retrieval"),
    ("retrieval", "reading"),
    ("reading", "diagnosis"),
)


@house_style()
def pipeline() -> Figure:
    """What is frozen, solved and measured, and what is separate."""
    figure = Figure(figsize=(PRINT_WIDTH, HEIGHT))
    inch = figure.dpi_scale_trans
    title = "What was written is scored against the best store of the frozen package"
    figure.text(LEFT, HEIGHT - 0.16, title, fontsize=LARGE, va="center_baseline", transform=inch)
    for part in PARTS.values():
        _box(figure, part)
    for start, end in ARROWS:
        _arrow(figure, PARTS[start], PARTS[end])
    x, y = _corner(Part(0, 2, "", ()))
    for place, line in enumerate(("Dashed: optional,", "needs a retriever", "and a reader")):
        figure.text(
            x + 0.06,
            y + TALL * (0.78 - 0.28 * place),
            line,
            fontsize=SMALL,
            color=MUTED,
            va="center",
            transform=inch,
        )
    return figure


def _corner(part: Part) -> tuple[float, float]:
    """The lower left corner of a box."""
    down = HEIGHT - TOP - (part.row + 1) * TALL - part.row * DOWN
    return LEFT + part.column * (BOX + ACROSS), down


def _box(figure: Figure, part: Part) -> None:
    x, y = _corner(part)
    inch = figure.dpi_scale_trans
    box = FancyBboxPatch(
        (x, y),
        BOX,
        TALL,
        boxstyle="round,pad=0,rounding_size=0.06",
        facecolor=part.fill,
        edgecolor=INK,
        linewidth=0.9,
        linestyle=DASHES[1] if part.optional else "solid",
        transform=inch,
    )
    figure.add_artist(box)
    middle = x + BOX / 2
    figure.text(
        middle,
        y + TALL * 0.77,
        part.name,
        ha="center",
        va="center",
        fontsize=NORMAL,
        fontweight="bold",
        transform=inch,
    )
    for place, line in enumerate(part.about):
        figure.text(
            middle,
            y + TALL * (0.46 - 0.23 * place),
            line,
            ha="center",
            va="center",
            fontsize=SMALL,
            transform=inch,
        )


def _arrow(figure: Figure, start: Part, end: Part) -> None:
    """From the middle of one side to the middle of the facing one."""
    (x, y), (to_x, to_y) = _corner(start), _corner(end)
    if start.row == end.row:
        tail, head = (x + BOX, y + TALL / 2), (to_x, to_y + TALL / 2)
    else:
        tail, head = (x + BOX / 2, y), (to_x + BOX / 2, to_y + TALL)
    shaft, inch = head, figure.dpi_scale_trans
    if start.optional or end.optional:
        # The head is drawn separately, since dashes would break its outline.
        shaft = (head[0] - HEAD, head[1]) if start.row == end.row else (head[0], head[1] + HEAD)
        dashed = Line2D(*zip(tail, shaft, strict=True), color=INK, linewidth=0.9)
        dashed.set_linestyle(DASHES[1])
        dashed.set_transform(inch)
        figure.add_artist(dashed)
        tail = shaft
    figure.add_artist(
        FancyArrowPatch(
            tail,
            head,
            arrowstyle="-|>",
            mutation_scale=8,
            linewidth=0.9,
            color=INK,
            shrinkA=0,
            shrinkB=1,
            transform=inch,
        )
    )

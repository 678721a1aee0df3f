"""Names at the ends of lines, moved apart just as far as they must be."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from memaudit.report.figures.style import NORMAL, Look
from memaudit.report.figures.words import fitted_name, inches

ROW = 0.17
"""Inches from one name to the next."""

LEADER, SAMPLE, GAP = 0.3, 0.46, 0.07
WIDEST = 2.0
"""Longer names are cut."""


@dataclass(frozen=True, slots=True)
class LineEnd:
    """A line's name, where it ends (in data), and its look."""

    name: str
    end: float
    look: Look


def label_room(names: Sequence[str]) -> float:
    """Inches that names need to the right of the axes."""
    widest = max((inches(fitted_name(name, WIDEST, NORMAL), NORMAL) for name in names), default=0.0)
    return LEADER + SAMPLE + GAP + widest + 0.08


def label_lines(figure: Figure, axes: Axes, ends: Sequence[LineEnd]) -> None:
    """Write the names right of the axes, each with a sample of its line and a leader to its end."""
    box = axes.get_position()
    width, height = figure.get_size_inches()
    right, bottom, top = box.x1 * width, box.y0 * height, box.y1 * height
    low, high = axes.get_ylim()
    heights = [bottom + (one.end - low) / (high - low) * (top - bottom) for one in ends]
    places = spread(heights, ROW, bottom, top)
    for one, height_of_end, place in zip(ends, heights, places, strict=True):
        start = right + LEADER
        _line(figure, [right, start - 0.03], [height_of_end, place], one.look, 0.5, leader=True)
        _line(figure, [start, start + SAMPLE / 2, start + SAMPLE], [place] * 3, one.look, 1.5)
        figure.text(
            start + SAMPLE + GAP,
            place,
            fitted_name(one.name, WIDEST, NORMAL),
            transform=figure.dpi_scale_trans,
            va="center_baseline",
            fontsize=NORMAL,
        )


def _line(
    figure: Figure, x: list[float], y: list[float], look: Look, width: float, leader: bool = False
) -> None:
    """A leader, or a sample with its marker in the middle."""
    line = Line2D(x, y, color=look.colour, linewidth=width, transform=figure.dpi_scale_trans)
    if not leader:
        line.set_linestyle(look.dash)
        line.set_marker(look.marker)
        line.set_markerfacecolor(look.fill)
        line.set_markevery([1])
    figure.add_artist(line)


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places as near to the wanted ones as can be (least squares) that are a gap apart.

    They stay between low and high where there is room for all; else they start at low.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    blocks: list[tuple[float, int]] = []
    for rank, i in enumerate(order):
        # Without the gaps the places need only rise; neighbours that do not are averaged.
        total, size = wanted[i] - rank * gap, 1
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / size:
            before, many = blocks.pop()
            total, size = total + before, size + many
        blocks.append((total, size))
    rising = [total / size for total, size in blocks for _ in range(size)]
    ceiling = max(low, high - (len(wanted) - 1) * gap)
    places = [0.0] * len(wanted)
    for rank, (i, place) in enumerate(zip(order, rising, strict=True)):
        places[i] = min(max(place, low), ceiling) + rank * gap
    return places

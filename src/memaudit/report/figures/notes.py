"""The small print under a figure."""

from matplotlib.figure import Figure

from memaudit.report.figures.style import MUTED, SMALL
from memaudit.report.figures.words import wrapped

MOST_LINES = 3
LINE = 0.13


def note_lines(text: str, width: float) -> list[str]:
    """A note in lines as wide as the figure."""
    return wrapped(text, width - 0.2, SMALL, MOST_LINES)


def note(figure: Figure, text: str) -> None:
    """Write a note along the bottom edge; the figure leaves LINE inches free for each line."""
    lines = note_lines(text, float(figure.get_size_inches()[0]))
    for place, line in enumerate(reversed(lines)):
        figure.text(
            0.1, 0.07 + place * LINE, line, transform=figure.dpi_scale_trans,
            fontsize=SMALL, color=MUTED, va="bottom",
        )  # fmt: skip

"""Styles of figures. A writer has the same style everywhere, recognisable without colour."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from matplotlib import style

from memaudit.writers.registry import WRITERS

PRINT_WIDTH = 7.0
"""Inches. Figures are drawn at their printed size, so that font sizes are exact."""

SMALL, NORMAL, LARGE = 7.0, 8.0, 9.0
"""Text sizes in points; nothing is smaller than SMALL."""

INK, MUTED, FAINT, PAPER = "#222222", "#5f5f5f", "#d9d9d9", "#ffffff"

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#767676")
"""Okabe and Ito's palette, with grey for its yellow, which does not show on white."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", "p", ">", "*", "h", "d")
Dash = tuple[float, tuple[float, ...]]
DASHES: tuple[Dash, ...] = ((0, ()), (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (6, 1.6, 1.2, 1.6)))
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "----", "++++", "oooo")

RULES = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    "font.size": NORMAL,
    "axes.labelsize": NORMAL,
    "axes.titlesize": LARGE,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": NORMAL,
    "ytick.labelsize": NORMAL,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "legend.fontsize": NORMAL,
    "legend.frameon": False,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "lines.linewidth": 1.5,
    "lines.markersize": 5.0,
    "savefig.dpi": 200,
    "svg.fonttype": "none",  # text stays text: it can be searched and read aloud
    "svg.hashsalt": "memaudit",  # ids are the same in every run
    "pdf.fonttype": 42,
    "text.hinting": "none",  # as wide as measured, at any resolution
    "text.parse_math": False,  # texts of packages are not formulas
}


@contextmanager
def house_style() -> Iterator[None]:
    """These rules and matplotlib's defaults, whatever the user's own settings are."""
    with style.context(["default", RULES]):
        yield


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How one line is drawn. Hollow markers are writers that see the hidden side of a package."""

    colour: str
    marker: str
    dash: Dash
    hollow: bool = False

    @property
    def fill(self) -> str:
        """The colour inside its marker."""
        return PAPER if self.hollow else self.colour


OPT_STYLE = LineStyle(INK, "_", DASHES[0])


def nth_line_style(place: int, hollow: bool = False) -> LineStyle:
    """The n-th style. Colours, markers and dashes repeat with periods that share no factor."""
    return LineStyle(
        COLOURS[place % len(COLOURS)],
        MARKERS[place % len(MARKERS)],
        DASHES[place % len(DASHES)],
        hollow,
    )


_WRITER_STYLES = {
    name: OPT_STYLE if name == "opt" else nth_line_style(place - 1, WRITERS[name].peeks)
    for place, name in enumerate(WRITERS)
}


def line_styles(writers: Sequence[str]) -> dict[str, LineStyle]:
    """The styles of the writers of one figure. No two share both marker and dash.

    The style of an unregistered writer follows from its name; if taken, it gets the next free one.
    """
    styles = {name: _WRITER_STYLES[name] for name in writers if name in _WRITER_STYLES}
    for name in writers:
        if name not in styles:
            taken = {(style.marker, style.dash) for style in styles.values()}
            digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
            start = int.from_bytes(digest[:4], "big")
            options = [nth_line_style(start + more) for more in range(len(MARKERS) * len(DASHES))]
            free = [style for style in options if (style.marker, style.dash) not in taken]
            styles[name] = (free or options)[0]
    return styles

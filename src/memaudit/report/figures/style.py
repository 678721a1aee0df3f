"""Sizes, fonts and rules of figures. What stands for what is decided in report/encoding.py."""

from collections.abc import Iterator
from contextlib import contextmanager

from matplotlib import style

from memaudit.report.encoding import INK

PRINT_WIDTH = 7.0
"""Inches. Figures are drawn at their printed size, so that font sizes are exact."""

SMALL, NORMAL, LARGE = 7.0, 8.0, 9.0
"""Text sizes in points; nothing is smaller than SMALL."""

MUTED, FAINT, PAPER = "#5f5f5f", "#d9d9d9", "#ffffff"

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

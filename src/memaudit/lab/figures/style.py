"""Sizes, fonts, rules and texts of figures, and writing them: equal figures give equal bytes."""

import io
import math
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.textpath import TextToPath

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_bytes
from memaudit.lab.sweeps.writers.registry import WRITERS
from memaudit.show.encoding import INK, Look
from memaudit.workspace.overwrite import may_write

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


UNDATED: dict[str, dict[str, None]] = {
    "png": {},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
"""The formats, each with the dates it would otherwise carry."""

FORMATS = tuple(UNDATED)


def check_formats(formats: Sequence[str]) -> None:
    """Refuse an unknown format."""
    for form in formats:
        if form not in UNDATED:
            raise MemAuditError(f"cannot draw {form!r}; the formats are {', '.join(FORMATS)}")


def image_of(figure: Figure, form: str) -> bytes:
    """The figure as png, svg or pdf."""
    check_formats([form])
    image = io.BytesIO()
    with house_style():
        figure.savefig(image, format=form, metadata=UNDATED[form])
    return image.getvalue()


def write_image(image: bytes, path: Path) -> None:
    """Write a picture atomically, over another picture at most."""
    may_write(path, "picture")
    write_bytes(path, image)


def write_figure(
    figure: Figure, path_without_suffix: Path, formats: Sequence[str] = FORMATS
) -> list[Path]:
    """Write a figure in each format. Returns the files."""
    check_formats(formats)
    written = []
    for form in formats:
        path = path_without_suffix.with_name(f"{path_without_suffix.name}.{form}")
        write_image(image_of(figure, form), path)
        written.append(path)
    return written


ELLIPSIS = "…"
UNPRINTABLE, NO_GLYPH = "\N{REPLACEMENT CHARACTER}", "\N{WHITE SQUARE}"
MOST_CHARACTERS = 400
"""No figure has room for more, so longer texts are cut before they are measured."""

POINTS_PER_INCH = 72
FAMILY = "DejaVu Sans"


def shown(text: object) -> str:
    """One line that can be drawn: no control characters, no stacked marks, no missing glyphs."""
    letters: list[str] = []
    for letter in unicodedata.normalize("NFC", " ".join(str(text)[:MOST_CHARACTERS].split())):
        # One mark per letter: stacks of them would be drawn over the neighbours.
        marks = unicodedata.combining(letter) and letters and unicodedata.combining(letters[-1])
        if not marks:
            letters.append(_drawable(letter))
    return "".join(letters)


@lru_cache(maxsize=4096)
def _drawable(letter: str) -> str:
    if not letter.isprintable():
        return UNPRINTABLE
    return letter if get_font(_file()).get_char_index(ord(letter)) else NO_GLYPH


@lru_cache(maxsize=1)
def _file() -> str:
    return findfont(FontProperties(family=FAMILY))


@lru_cache(maxsize=4096)
def inches(text: str, size: float, bold: bool = False) -> float:
    """The width of a line of text in inches."""
    font = FontProperties(family=FAMILY, size=size, weight="bold" if bold else "normal")
    width, _, _ = TextToPath().get_text_width_height_descent(text, font, ismath=False)
    return float(width) / POINTS_PER_INCH


def fitted(text: object, room: float, size: float, bold: bool = False) -> str:
    """The text as it can be drawn, cut with an ellipsis where it is wider than the room."""
    return _cut(shown(text), room, size, bold, kept_end=0)


def fitted_name(name: object, room: float, size: float, bold: bool = False) -> str:
    """The same for a name. The middle is cut, since names often differ at the end."""
    return _cut(shown(name), room, size, bold, kept_end=1 / 3)


def _cut(line: str, room: float, size: float, bold: bool, kept_end: float) -> str:
    """As many characters as fit. A share of them comes from the end of the text."""
    if inches(line, size, bold) <= room:
        return line
    # Widths grow with letters, but not evenly: the longest cut that fits is found by halving.
    low, high = 0, len(line) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if inches(_without_middle(line, middle, kept_end), size, bold) <= room:
            low = middle
        else:
            high = middle - 1
    return _without_middle(line, low, kept_end)


def _without_middle(line: str, letters: int, kept_end: float) -> str:
    end = int(letters * kept_end)
    return line[: letters - end].rstrip() + ELLIPSIS + line[len(line) - end :].lstrip()


def wrapped(text: object, room: float, size: float, most: int) -> list[str]:
    """The text in at most so many lines, broken at spaces; the last one is cut to fit."""
    lines: list[str] = []
    words = shown(text).split(" ")
    while words and len(lines) < most - 1:
        take = 1
        while take < len(words) and inches(" ".join(words[: take + 1]), size) <= room:
            take += 1
        lines.append(fitted(" ".join(words[:take]), room, size))
        words = words[take:]
    if words:
        lines.append(fitted(" ".join(words), room, size))
    return lines


def writer_label(writer: str) -> str:
    """A writer's name for readers."""
    return WRITERS[writer].label if writer in WRITERS else shown(writer)


def distribution_label(name: str) -> str:
    """A distribution's name for readers."""
    return shown(name).replace("_", " ")


def axes_in(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Axes at a place in inches from the lower left corner."""
    wide, tall = figure.get_size_inches()
    return figure.add_axes((left / wide, bottom / tall, width / wide, height / tall))


def draw_line(
    axes: Axes, x: Sequence[float], y: Sequence[float], look: Look, gid: str, size: float = 5.0
) -> None:
    """A line with its markers."""
    axes.plot(
        x,
        y,
        color=look.colour,
        linestyle=look.dash,
        marker=look.marker,
        markersize=size,
        markerfacecolor=look.inside,
        gid=shown(gid),
        clip_on=False,
        zorder=3,
    )


ROW = 0.17
"""Inches from one name of a legend to the next."""

SAMPLE, GAP, BETWEEN_NAMES = 0.34, 0.07, 0.2
WIDEST_NAME = 2.0
"""Longer names are cut."""

TITLE = 0.32
"""Inches of a title above a legend."""

Handle = Line2D | Patch


def line_handle(name: str, look: Look) -> Line2D:
    """A name of a legend with a sample of its line."""
    return Line2D(
        [],
        [],
        color=look.colour,
        linestyle=look.dash,
        marker=look.marker,
        markerfacecolor=look.inside,
        label=fitted_name(name, WIDEST_NAME, NORMAL),
    )


def _names_in_a_row(handles: Sequence[Handle]) -> int:
    widest = max(inches(str(handle.get_label()), NORMAL) for handle in handles)
    return max(1, int((PRINT_WIDTH - 0.2) / (widest + SAMPLE + GAP + BETWEEN_NAMES)))


def head_height(handles: Sequence[Handle]) -> float:
    """Inches that a title and a legend take."""
    return TITLE + ROW * math.ceil(len(handles) / _names_in_a_row(handles))


def head(figure: Figure, title: str, handles: Sequence[Handle]) -> None:
    """Write the title and the legend along the top edge."""
    height = float(figure.get_size_inches()[1])
    figure.text(
        0.1, height - 0.1, title, fontsize=LARGE, va="top", transform=figure.dpi_scale_trans
    )
    figure.legend(
        handles=handles,
        loc="upper left",
        ncols=_names_in_a_row(handles),
        bbox_to_anchor=(0.1 / PRINT_WIDTH, 1 - TITLE / height),
        borderaxespad=0,
        borderpad=0,
        handlelength=SAMPLE * POINTS_PER_INCH / NORMAL,
        handletextpad=GAP * POINTS_PER_INCH / NORMAL,
        columnspacing=BETWEEN_NAMES * POINTS_PER_INCH / NORMAL,
        labelspacing=0.4,
    )


MOST_LINES = 3
LINE = 0.13


def note_lines(text: str, width: float) -> list[str]:
    """The note wrapped to the width of the figure."""
    return wrapped(text, width - 0.2, SMALL, MOST_LINES)


def note(figure: Figure, text: str) -> None:
    """Write a note along the bottom edge. The figure must leave LINE inches free per line."""
    lines = note_lines(text, float(figure.get_size_inches()[0]))
    for place, line in enumerate(reversed(lines)):
        figure.text(
            0.1,
            0.07 + place * LINE,
            line,
            transform=figure.dpi_scale_trans,
            fontsize=SMALL,
            color=MUTED,
            va="bottom",
        )

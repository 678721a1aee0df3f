"""Sizes, fonts and rules of figures, and writing them: the same figure gives the same bytes."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib import style

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_bytes
from memaudit.show.encoding import INK
from memaudit.workspace.overwrite import may_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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


def check_image(path: Path) -> None:
    """Refuse a file that cannot be drawn, before any work is done."""
    if path.suffix.lower().removeprefix(".") not in FORMATS:
        endings = ", ".join(f".{form}" for form in FORMATS)
        raise MemAuditError(f"cannot draw {path}: the name must end in {endings}")
    if not path.absolute().parent.is_dir():
        raise MemAuditError(f"cannot write {path}: its folder does not exist")
    may_write(path, "picture")


def check_formats(formats: Sequence[str]) -> None:
    """Refuse an unknown format."""
    for form in formats:
        if form not in UNDATED:
            raise MemAuditError(f"cannot draw {form!r}; the formats are {', '.join(FORMATS)}")


def image_of(figure: "Figure", form: str) -> bytes:
    """The figure as png, svg or pdf."""
    from memaudit.lab.figures.style import house_style

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
    figure: "Figure", path_without_suffix: Path, formats: Sequence[str] = FORMATS
) -> list[Path]:
    """Write a figure in each format. Returns the files."""
    check_formats(formats)
    written = []
    for form in formats:
        path = path_without_suffix.with_name(f"{path_without_suffix.name}.{form}")
        write_image(image_of(figure, form), path)
        written.append(path)
    return written

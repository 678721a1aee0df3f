"""Write figures atomically. The same figure gives the same bytes."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memaudit.core.errors import MemAuditError
from memaudit.io.atomic import write_bytes
from memaudit.io.overwrite import may_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    from memaudit.report.figures.style import house_style

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

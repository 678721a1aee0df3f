"""A figure of the frontier in one file, whose ending says the format."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memaudit.core.errors import MemAuditError
from memaudit.report.figures.save import FORMATS, image_of, write_image

if TYPE_CHECKING:
    from memaudit.solvers.frontier import Frontier

SUFFIXES = tuple(f".{form}" for form in FORMATS)


def check_plot(path: Path) -> None:
    """Refuse a file that cannot be drawn, before any work is done."""
    if path.suffix.lower() not in SUFFIXES:
        raise MemAuditError(f"cannot draw {path}: the name must end in {', '.join(SUFFIXES)}")
    if not path.absolute().parent.is_dir():
        raise MemAuditError(f"cannot write {path}: there is no folder to put it in")


def write_plot(frontiers: Sequence["Frontier"], path: Path) -> None:
    """Draw into a file by its ending; an interruption leaves the old file as it was."""
    from memaudit.report.figures.opt_frontiers import opt_frontiers

    check_plot(path)
    figure = opt_frontiers(frontiers)
    write_image(image_of(figure, path.suffix.lower().removeprefix(".")), path)

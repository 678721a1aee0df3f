"""A figure of the frontier: the optimum against the budget."""

import io
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memaudit.core.errors import MemAuditError

if TYPE_CHECKING:
    from memaudit.solvers.frontier import Frontier

SUFFIXES = (".png", ".svg", ".pdf")
MOST_NAMES = 8
"""More packages than this are drawn without a legend."""


def check_plot(path: Path) -> None:
    """Refuse a file that cannot be drawn, before any work is done."""
    if path.suffix.lower() not in SUFFIXES:
        raise MemAuditError(f"cannot draw {path}: the name must end in {', '.join(SUFFIXES)}")
    if not path.absolute().parent.is_dir():
        raise MemAuditError(f"cannot write {path}: there is no folder to put it in")


def draw(frontiers: Sequence["Frontier"], form: str) -> bytes:
    """The figure as png, svg or pdf; the same frontiers give the same bytes."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "memaudit", "text.parse_math": False}):
        figure = Figure(figsize=(7, 4.2), layout="constrained")
        axes = figure.subplots()
        for one in frontiers:
            values = [float(value) for value in one.values]
            axes.step(range(len(values)), values, where="post", linewidth=1.6, label=one.package)
        axes.set_xlabel("budget (storage cost)")
        axes.set_ylabel("optimum (weighted coverage)")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        if len(frontiers) == 1:
            axes.set_title(f"Best possible store of {frontiers[0].package} at every budget")
        elif len(frontiers) <= MOST_NAMES:
            axes.legend(frameon=False)
        image = io.BytesIO()
        dates = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
        figure.savefig(image, format=form, dpi=150, metadata=dates[form])
    return image.getvalue()


def write_plot(frontiers: Sequence["Frontier"], path: Path) -> None:
    """Draw into a file by its ending; an interruption leaves the old file as it was."""
    check_plot(path)
    image = draw(frontiers, path.suffix.lower().removeprefix("."))
    temporary = path.with_name(f".{path.name}.new-{secrets.token_hex(4)}")
    try:
        temporary.write_bytes(image)
        os.replace(temporary, path)
    except OSError as error:
        raise MemAuditError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)

"""Files: whole or not at all, the same bytes every time, and open to other programs."""

import struct
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.figures.budget_sweep import budget_sweep
from memaudit.lab.figures.pipeline import HEIGHT, pipeline
from memaudit.lab.figures.style import RULES, image_of, write_figure
from tests.lab.figures.drawing import summary_of


def test_three_formats(tmp_path: Path) -> None:
    """A name with a dot keeps it; each file is what its ending says."""
    png, svg, pdf = write_figure(pipeline(), tmp_path / "fig.v1")
    names = ["fig.v1.pdf", "fig.v1.png", "fig.v1.svg"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    image = png.read_bytes()
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    dpi = RULES["savefig.dpi"]
    assert isinstance(dpi, int)
    wide, tall = struct.unpack(">II", image[16:24])
    assert wide == 7 * dpi
    assert abs(tall - HEIGHT * dpi) < 1.01
    texts = [node.text for node in ElementTree.parse(svg).iter() if node.tag.endswith("}text")]
    assert "Frozen package" in texts
    assert pdf.read_bytes().startswith(b"%PDF-")
    assert pdf.read_bytes().rstrip().endswith(b"%%EOF")


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_same_bytes(form: str) -> None:
    """Neither dates nor the user's own settings get into a file."""
    summary = summary_of(["opt", "gvt"], ["base"], [2, 6])
    first = image_of(budget_sweep(summary), form)
    with mpl.rc_context({"font.size": 20, "axes.facecolor": "black", "savefig.dpi": 30}):
        again = image_of(budget_sweep(summary), form)
    assert first == again
    assert b"CreationDate" not in first
    assert b"<dc:date>" not in first


def test_texts_are_never_formulas() -> None:
    """Dollars, backslashes and markup in names are drawn as they stand, and XML stays whole."""
    writers = ["$x_1$", "\\frac", "<b>&amp;", "a\x1b\u202e\ud800b", "\u0308\u0308\u0308"]
    image = image_of(budget_sweep(summary_of(writers, ["base"], [2, 6])), "svg")
    texts = {node.text for node in ElementTree.fromstring(image).iter() if node.text}
    assert {"$x_1$", "\\frac", "<b>&amp;"} <= texts
    assert "a\ufffd\ufffd\ufffdb" in texts


def test_refusals(tmp_path: Path) -> None:
    """Unknown formats before anything is written; a missing folder in one line."""
    with pytest.raises(MemAuditError, match="cannot draw 'bmp'; the formats are png, svg, pdf"):
        write_figure(pipeline(), tmp_path / "f", ["png", "bmp"])
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(MemAuditError, match=r"^cannot write .*No such file"):
        write_figure(pipeline(), tmp_path / "no" / "f", ["png"])


def test_failure_leaves_the_old_file(tmp_path: Path) -> None:
    """A folder in the way is an error, and no temporary file stays."""
    (tmp_path / "f.png").mkdir()
    with pytest.raises(MemAuditError, match=r"^cannot write "):
        write_figure(pipeline(), tmp_path / "f", ["png"])
    assert [path.name for path in tmp_path.iterdir()] == ["f.png"]

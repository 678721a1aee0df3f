"""The guideline beside the cells: the frame's own if it has one, else the one we ship."""

from importlib.resources import files
from pathlib import Path

from markdown_it import MarkdownIt
from markupsafe import Markup

from memaudit.io.files import read_text
from memaudit.report.page.visible import visible_text

NAME = "guideline.md"


def guideline(folder: Path) -> Markup:
    """The guideline as HTML; markup, links and images in it stay text."""
    own = folder / NAME
    shipped = files("memaudit.label_audit") / NAME
    text = read_text(own) if own.is_file() else shipped.read_text("utf-8")
    reader = MarkdownIt("commonmark", {"html": False})
    reader.disable(["link", "image", "autolink", "html_inline", "html_block", "reference"])
    return Markup(reader.render(visible_text(text)))

"""Templates and static files of the explorer, and what a browser may do with them."""

from functools import cache
from pathlib import Path

from jinja2 import Environment

from memaudit.report import page_kit
from memaudit.web.explorer.addresses import anchor
from memaudit.web.serving import POLICY

SERVED = POLICY.replace("form-action 'none'", "form-action 'self'")
"""The search form goes to the server itself; all else as for every local page."""

META = "; ".join(
    part
    for part in POLICY.replace("connect-src 'self'", "connect-src 'none'").split("; ")
    if not part.startswith("frame-ancestors")
)
"""For pages in a folder, which request nothing. A `meta` element may not limit who frames a page:
browsers ignore that there, and complain."""

TEMPLATES = Path(__file__).parent / "templates"
STATIC = Path(__file__).parent / "static"
TYPES = {".css": "text/css", ".js": "text/javascript"}
MOST_LETTERS = 600
"""Characters of a text that lists show; the stream shows all of it."""


@cache
def static_files() -> dict[str, bytes]:
    """The kit's style sheet and the explorer's own files, by name."""
    own = {path.name: path.read_bytes() for path in sorted(STATIC.iterdir())
           if path.suffix in TYPES}  # fmt: skip
    return {"house.css": page_kit.STYLE_SHEET.read_bytes(), **own}


@cache
def environment() -> Environment:
    """The kit's environment with the explorer's templates."""
    jinja = page_kit.environment("memaudit.web.explorer")
    jinja.globals.update(MOST_LETTERS=MOST_LETTERS, META_POLICY=META, anchor=anchor)
    return jinja


def read_templates() -> None:
    """Compile every page now, so that the first request does not wait for it."""
    jinja = environment()
    for name in sorted(path.name for path in TEMPLATES.glob("*.html")):
        jinja.get_template(name)

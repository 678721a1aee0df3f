"""Templates and static files of the explorer, and what a browser may do with them."""

from functools import cache
from pathlib import Path

from jinja2 import Environment

from memaudit.lab.explorer.addresses import anchor
from memaudit.lab.serving import POLICY
from memaudit.show import encoding, page_kit

SERVED = POLICY.replace("form-action 'none'", "form-action 'self'")
"""The search form may be sent to the server. Everything else is as for every local page."""

META = "; ".join(
    part
    for part in POLICY.replace("connect-src 'self'", "connect-src 'none'").split("; ")
    if not part.startswith("frame-ancestors")
)
"""For static pages, which request nothing. `frame-ancestors` is left out, since browsers ignore it
in a `meta` element and log a warning."""

ONE_FILE = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox allow-downloads"
)
"""For reports and boards of the folder, whose style is in the page. Nothing can run."""

TEMPLATES = Path(__file__).parent / "templates"
STATIC = Path(__file__).parent / "static"
TYPES = {".css": "text/css", ".js": "text/javascript"}
MOST_CHARACTERS = 600
"""Characters of a text in lists. The stream shows the complete text."""


@cache
def static_files() -> dict[str, bytes]:
    """The kit's style sheet, the explorer's own files and the signs its scripts use, by name."""
    own = {
        path.name: path.read_bytes() for path in sorted(STATIC.iterdir()) if path.suffix in TYPES
    }
    made = {"house.css": page_kit.style_sheet(), "encoding.js": encoding.script()}
    return {**{name: text.encode() for name, text in made.items()}, **own}


@cache
def environment() -> Environment:
    """The kit's environment with the explorer's templates."""
    jinja = page_kit.environment("memaudit.lab.explorer", "memaudit.lab.labels", "memaudit.linting")
    jinja.globals.update(MOST_CHARACTERS=MOST_CHARACTERS, META_POLICY=META, anchor=anchor)
    return jinja


def read_templates() -> None:
    """Compile every page now, so that the first request does not wait for it."""
    jinja = environment()
    for name in sorted(path.name for path in TEMPLATES.glob("*.html")):
        jinja.get_template(name)

"""Templates and static files of the explorer, and what a browser may do with them."""

from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from memaudit.core.number_text import byte_size, short_number
from memaudit.core.text import counted
from memaudit.report.numbers import visible_text
from memaudit.report.page_kit import HOUSE_STYLE
from memaudit.report.page_kit import environment as house
from memaudit.web.explorer.addresses import anchor
from memaudit.web.serving import POLICY

SERVED = POLICY.replace("form-action 'none'", "form-action 'self'")
"""The search form goes to the server itself; all else as for every local page."""

META = "; ".join(
    part
    for part in POLICY.replace("connect-src 'self'", "connect-src 'none'").split("; ")
    if not part.startswith("frame-ancestors")
)
"""For pages in a folder, which ask nobody for anything. A `meta` element may not say who frames a
page: browsers ignore that there, and complain."""


FOLDER = Path(__file__).parent / "static"
HOUSE = "house.css"
TYPES = {".css": "text/css", ".js": "text/javascript"}


@cache
def static_files() -> dict[str, bytes]:
    """The house's style sheet and the explorer's own files, by name."""
    own = {path.name: path.read_bytes() for path in sorted(FOLDER.iterdir())
           if path.suffix in TYPES}  # fmt: skip
    return {HOUSE: HOUSE_STYLE.read_bytes(), **own}


TEMPLATES = Path(__file__).parent / "templates"
MOST_LETTERS = 600
"""Of longer texts the beginning is shown in lists; the stream shows them in full."""


@cache
def environment() -> Environment:
    """Everything is escaped, and letters that cannot be seen are written out."""
    jinja = house("memaudit.web.explorer")
    jinja.finalize = _shown
    jinja.globals.update(MOST_LETTERS=MOST_LETTERS, META_POLICY=META, anchor=anchor)
    jinja.filters["counted"] = counted
    jinja.filters["size"] = byte_size
    jinja.filters["whole"] = whole
    jinja.filters["short_number"] = short_number
    return jinja


def read_templates() -> None:
    """Compile every page now, so that the first reader does not wait for it."""
    jinja = environment()
    for name in sorted(path.name for path in TEMPLATES.glob("*.html")):
        jinja.get_template(name)


def _shown(value: object) -> object:
    """As in the report; most texts have nothing to write out, which is quickly seen."""
    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return visible_text(value)


def whole(count: int | None) -> str:
    """A count with thousands set apart; a dash for one that is not known."""
    return "–" if count is None else f"{count:,}"  # noqa: RUF001 - a dash, not a minus

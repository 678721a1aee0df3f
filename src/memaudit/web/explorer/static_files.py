"""Scripts and styles: read once, and known by name."""

from functools import cache
from pathlib import Path

import memaudit.report.page

FOLDER = Path(__file__).parent / "static"
HOUSE = "house.css"
HOUSE_STYLE = Path(memaudit.report.page.__path__[0]) / "templates" / "style.css"
TYPES = {".css": "text/css", ".js": "text/javascript"}


@cache
def static_files() -> dict[str, bytes]:
    """The house's style sheet and the explorer's own files, by name."""
    own = {path.name: path.read_bytes() for path in sorted(FOLDER.iterdir())
           if path.suffix in TYPES}  # fmt: skip
    return {HOUSE: HOUSE_STYLE.read_bytes(), **own}

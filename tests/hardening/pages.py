"""The local pages that are attacked: the application, its addresses, and what it keeps."""

import posixpath
import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.types import ASGIApp

from memaudit.web.annotate.app import annotator_app, guideline
from memaudit.web.annotate.label_database import Decisions
from memaudit.web.annotate.labelling import Desk, frame_digest
from memaudit.web.explorer.app import explorer_app
from memaudit.web.explorer.library.library import Library
from memaudit.web.explorer.pages.registry import DATA, PAGES
from memaudit.web.explorer.site import Site, show
from memaudit.web.explorer.templating import SERVED
from memaudit.web.serving import POLICY, Guard
from tests.web.annotate.frames import frame_folder, frame_of
from tests.web.explorer.libraries import plain_library

TOKEN, PORT, CELLS = "correct-token", 8000, 4
MOST_ADDRESSES = 400


@dataclass(frozen=True)
class Attacked:
    """One application behind the guard."""

    app: ASGIApp
    policy: str
    addresses: tuple[str, ...]
    parameters: tuple[str, ...]
    bodies: tuple[dict[str, object], ...]
    state: Callable[[], object]
    """What must not change by itself."""


@contextmanager
def annotator(folder: Path) -> Iterator[Attacked]:
    """The labelling page."""
    frame = frame_folder(folder / "frame", CELLS)
    cells = frame_of(CELLS).cells
    addresses = ("/", "/house.css", "/static/annotate.js", "/resume", "/cells/1", "/undo",
                 "/unlabelled-after/0", "/decisions", "/notes", "/labels.csv")  # fmt: skip
    bodies: tuple[dict[str, object], ...] = (
        {"position": 1, "label": "full", "note": "x"},
        {"position": 2, "note": "y", "finished": True}, {"position": 3, "label": "cannot_tell"},
    )  # fmt: skip
    with closing(Decisions(folder / "labels.sqlite", frame_digest(cells), CELLS)) as kept:
        app = annotator_app(Desk(cells, kept, "ann"), guideline(frame))
        count = "SELECT 'd', count(*) FROM decisions UNION SELECT 'n', count(*) FROM drafts"
        yield Attacked(
            Guard(app, TOKEN), POLICY, addresses, (), bodies, lambda: kept._database.rows(count)
        )


@contextmanager
def explorer(folder: Path) -> Iterator[Attacked]:
    """The explorer, over one thing of every kind."""
    library = plain_library(folder / "library")
    site = Site(Library([library]))
    addresses = tuple(sorted(_crawled(site)))
    package = next(one for one in addresses if "package/" in one).split("/")[2]
    proof = next(one for one in addresses if "certificate/" in one).split("/")[2]
    bodies: tuple[dict[str, object], ...] = (
        {"certificate": proof.removesuffix(".html"), "number": 1},
        {"package": package, "budget": "2"}, {"package": package, "budget": "1/3"},
    )  # fmt: skip
    names = ("q", "budget", "writer", "system", "d", "b", "first", "second")
    yield Attacked(
        Guard(explorer_app(site), TOKEN, SERVED), SERVED, addresses, names, bodies,
        lambda: sorted(str(path) for path in library.rglob("*")),
    )  # fmt: skip


def _crawled(site: Site) -> set[str]:
    """The addresses that pages link to, from the first one on, and those of data."""
    found, waiting = {"/", "/verify"}, ["index.html"]
    while waiting and len(found) < MOST_ADDRESSES:
        address = waiting.pop(0)
        _, text = show(site, PAGES, address, {})
        for link in re.findall(r'href="([^"#?:]+)"', text):
            to = posixpath.normpath(f"/{posixpath.dirname(address)}/{link}")
            if to not in found:
                found.add(to)
                if to.endswith(".html"):
                    waiting.append(to.lstrip("/"))
    package = next(one for one in sorted(found) if one.startswith("/package/")).split("/")[2]
    run = next(one for one in sorted(found) if one.startswith("/run/")).split("/")[2]
    return found | {f"/{one.pattern}".format(package=package, run=run) for one in DATA}


ATTACKED = {"annotate": annotator, "explore": explorer}

"""The explorer section: how long a large library and a large package take to open."""

import http.client
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.packages import write_package
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.serving import cookie_name
from memaudit.lab.sweeps.generators.registry import named_distribution

PACKAGES = 1000
MANY, LARGE = "event_graph:experiences=14", "event_graph:experiences=700"
SEED = 3
REPEATS = 5
OPEN_TARGET = 1.0
"""Seconds until a page is there, its scripts run, on a server that has not shown it before."""

ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")

Open = Callable[[str], float]
"""Opens a page of a server at this address, token and all, and gives the seconds it took."""


@dataclass(frozen=True, slots=True)
class ExplorerLine:
    """One page: opened in a browser if there is one, else fetched."""

    name: str
    seconds: float
    bytes: int
    browser: str
    load: float
    """How many processes wanted a core meanwhile: a busy machine takes longer."""

    @property
    def reached(self) -> bool:
        return self.seconds < OPEN_TARGET


def explorer_lines() -> list[ExplorerLine]:
    """The list of a thousand packages, and the pages of a package with 2,500 candidates."""
    with tempfile.TemporaryDirectory() as name, _opener() as (opened, browser):
        many, large = Path(name) / "many", Path(name) / "large"
        for folder in (many, large):
            folder.mkdir()
        small = named_distribution(MANY)
        for seed in range(PACKAGES):
            write_package(small.package(seed), many / f"{seed}.json")
        write_package(named_distribution(LARGE).package(SEED), large / "large.json")
        (package,) = Library([large]).of("package")
        place = f"package/{package.slug}/"
        lines = [_line(f"{PACKAGES:,} packages", many, "index.html", opened, browser)]
        for page in ("index.html", "coverage.html", "stream.html"):
            title = f"{package.count('candidates'):,} candidates, {page}"
            lines.append(_line(title, large, place + page, opened, browser))
        return lines


def _line(name: str, folder: Path, address: str, opened: Open, browser: str) -> ExplorerLine:
    """A page that a fresh server shows for the first time; the median of some servers."""
    times, size = [], 0
    for _ in range(REPEATS):
        with _served(folder) as (origin, token):
            times.append(opened(f"{origin}/{address}?token={token}"))
            size = _fetched(origin, token, address)[1]
    return ExplorerLine(name, median(times), size, browser, os.getloadavg()[0])


SERVE = """
import sys
from memaudit.cli.main import main
from memaudit.kernel.parent_watch import end_with_parent
end_with_parent(int(sys.argv.pop(1)))
main()
"""


@contextmanager
def _served(folder: Path) -> Iterator[tuple[str, str]]:
    """`memaudit serve` in a process of its own: its address and its token."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(os.getpid()), "serve", str(folder), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        origin, _, token = process.stdout.readline().strip().partition("/?token=")
        if not token:
            raise MemAuditError("memaudit serve did not start")
        yield origin, token
    finally:
        process.terminate()
        process.communicate()


def _fetched(origin: str, token: str, address: str) -> tuple[float, int]:
    """Seconds and bytes of one page over HTTP."""
    port = int(origin.rpartition(":")[2])
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    start = perf_counter()
    cookie = f"{cookie_name({'server': ('127.0.0.1', port)})}={token}"
    link.request("GET", f"/{address}", headers={"cookie": cookie})
    body = link.getresponse().read()
    link.close()
    return perf_counter() - start, len(body)


@contextmanager
def _opener() -> Iterator[tuple[Open, str]]:
    """How pages are opened: by Chromium where it is installed, else by a plain request."""
    path = os.environ.get("MEMAUDIT_CHROMIUM") or shutil.which("chromium")
    try:
        driver: Any = importlib.import_module("playwright.sync_api")
    except ImportError:
        path = None
    if path is None:
        yield _plain, ""
        return
    with driver.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=path, args=list(ARGUMENTS))

        def opened(address: str) -> float:
            page = chromium.new_context().new_page()
            page.goto("about:blank")
            start = perf_counter()
            page.goto(address, wait_until="load")
            taken = perf_counter() - start
            page.context.close()
            return taken

        yield opened, f"Chromium {chromium.version}"
        chromium.close()


def _plain(address: str) -> float:
    origin, _, token = address.partition("?token=")
    host, _, page = origin.removeprefix("http://").partition("/")
    return _fetched(f"http://{host}", token, page)[0]

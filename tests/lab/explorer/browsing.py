"""The explorer in a real browser, served and from a folder.

Needs Python's `playwright` and a Chromium: Debian's, or the one MEMAUDIT_CHROMIUM names.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.lab.labels.annotate.small_frames import Served

BROWSER = os.environ.get("MEMAUDIT_CHROMIUM") or shutil.which("chromium") or ""
if not BROWSER:
    pytest.skip("no Chromium: install the package chromium", allow_module_level=True)
playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
expect = playwright.expect

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def chromium() -> Iterator[Any]:
    expect.set_options(timeout=30_000)  # a busy machine is no failure
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield found
        found.close()


@dataclass
class Visit:
    """An open browser window, and everything its pages did."""

    page: Any
    base: str
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def go(self, address: str) -> Any:
        """Open a page of the site; a new fragment alone is no new page to a browser."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.base}{address}")
        return self.page

    def arrives(self, address: str) -> None:
        """The page is there and its scripts listen: keys pressed before that are lost."""
        self.page.wait_for_url(re.compile(address), wait_until="load")

    def sees(self, place: str, text: Any) -> None:
        """The text is there, or comes within seconds."""
        expect(self.page.locator(place)).to_have_text(text)

    def contains(self, place: str, text: Any) -> None:
        expect(self.page.locator(place)).to_contain_text(text)

    def fits(self) -> bool:
        """Whether nothing makes the page scroll sideways."""
        root = "document.documentElement"
        return bool(self.page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth"))

    @property
    def outside(self) -> list[str]:
        """Requests for anything but files of this site."""
        own = (self.base, "about:blank", "data:,")
        return [url for url in self.asked if not url.startswith(own)]

    def close(self) -> None:
        self.page.context.close()


def visit(
    browser: Any, where: Served | Path, width: int = 1200, scheme: str = "light", **options: Any
) -> Visit:
    """A window on a server, or on a folder of files."""
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, **options
    )
    page = context.new_page()
    base = f"{where.as_uri()}/" if isinstance(where, Path) else f"{where.origin}/"
    seen = Visit(page, base)
    page.on("console", lambda message: seen.said.append(message.text))
    page.on("pageerror", lambda error: seen.said.append(str(error)))
    page.on("dialog", lambda dialog: seen.said.append(dialog.message))
    page.on("dialog", lambda dialog: dialog.dismiss())
    page.on("request", lambda request: seen.asked.append(request.url))
    if not isinstance(where, Path):
        page.goto(where.address)
    return seen

"""A real browser for the site and its pictures."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

BROWSER = os.environ.get("MEMAUDIT_CHROMIUM") or shutil.which("chromium") or ""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not BROWSER:
        pytest.skip("no Chromium: install the package chromium")
    driver = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    with driver.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield browser
        browser.close()

"""Where a picture goes, and what every picture must be."""

import os
import shutil
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

MOST_BYTES = 150_000
LEAST_BYTES = 5_000
"""A blank page of this size compresses to less."""

FOLDER = os.environ.get("MEMAUDIT_SCREENSHOTS")
BROWSER = os.environ.get("MEMAUDIT_CHROMIUM") or shutil.which("chromium") or ""
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--hide-scrollbars"]  # fmt: skip


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser, or a reason to skip."""
    if not BROWSER:
        pytest.skip("no Chromium: install the package chromium")
    driver = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    with driver.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield browser
        browser.close()


def take(page: Any, name: str, folder: Path) -> Path:
    """A picture of what the page shows; kept for the documentation if a folder is named."""
    path = Path(FOLDER or folder) / f"{name}.png"
    page.screenshot(path=path, animations="disabled", caret="hide")
    return path


def check_picture(path: Path) -> None:
    """A PNG with something on it that is small enough to be kept."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path.name} is no PNG"
    width, height = struct.unpack(">II", data[16:24])
    assert min(width, height) >= 300, f"{path.name} has {width} x {height} dots"
    assert LEAST_BYTES < len(data) < MOST_BYTES, f"{path.name} has {len(data)} bytes"

"""The pictures of the documentation: what they show is there, and they can be taken again.

`MEMAUDIT_SCREENSHOTS=docs/images python -m pytest tests/docs/test_screenshots.py` writes them.
"""

import os
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from tests.cli.running import done
from tests.docs.blocks import ROOT, page_text, pages
from tests.docs.walk import walk
from tests.lab.labels.annotate.small_frames import served

pytestmark = pytest.mark.slow

TUTORIAL = "docs/tutorial/score-a-mem0-store.md"
SIZE = {"width": 1100, "height": 720}
MOST_BYTES = 150_000
LEAST_BYTES = 5_000
"""A blank page of this size compresses to less."""


def take_picture(page: Any, name: str, folder: Path) -> None:
    """A picture of what the page shows; kept for the documentation if a folder is named."""
    path = Path(os.environ.get("MEMAUDIT_SCREENSHOTS") or folder) / f"{name}.png"
    page.screenshot(path=path, animations="disabled", caret="hide")
    page.close()
    check_picture(path)


def check_picture(path: Path) -> None:
    """A PNG with something on it that is small enough to be kept."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path.name} is not a PNG"
    width, height = struct.unpack(">II", data[16:24])
    assert min(width, height) >= 300, f"{path.name} has {width} x {height} dots"
    assert LEAST_BYTES < len(data) < MOST_BYTES, f"{path.name} has {len(data)} bytes"


def scroll_to(page: Any, heading: str) -> None:
    found = page.get_by_role("heading", name=heading, exact=True)
    found.evaluate("element => element.scrollIntoView()")


def test_annotate(browser: Any, tmp_path: Path) -> None:
    done("label", "frame", "short", "--candidate-kind", "skill", "--out", tmp_path / "frame")
    with served(tmp_path / "frame", "ann") as server:
        page = browser.new_page(viewport={"width": 1280, "height": 560})
        page.goto(server.address)
        page.get_by_text("Cell 1 of 13", exact=True).wait_for()
        for following in (2, 3, 4):
            page.keyboard.press("3")
            page.get_by_text(f"Cell {following} of 13", exact=True).wait_for()
        assert "choir" in page.locator("#unit").inner_text()
        assert page.locator("#guideline").is_visible()
        take_picture(page, "annotate", tmp_path)


def test_board(browser: Any, tmp_path: Path) -> None:
    """The page that the tutorial writes, from the tutorial's own files."""
    walk(TUTORIAL, page_text(TUTORIAL), tmp_path)
    page = browser.new_page(viewport={**SIZE, "height": 900})
    page.goto((tmp_path / "board.html").as_uri())
    text = page.locator("body").inner_text()
    assert "custom" in text
    assert "0.625" in text
    take_picture(page, "board", tmp_path)


def test_report(browser: Any, tmp_path: Path) -> None:
    done(
        "run --packages event_graph:experiences=14 --seeds 100-105",
        "--budgets 0.05,0.10",
        "--writers opt,gvt,estimated_gvt,mem0_style,recency_raw",
        "--set engine.name=serial --out",
        tmp_path / "run",
    )
    done("report", tmp_path / "run")
    page = browser.new_page(viewport=SIZE)
    page.goto((tmp_path / "run" / "report.html").as_uri())
    scroll_to(page, "Ranking")
    assert "Recency raw" in page.locator("body").inner_text()
    take_picture(page, "report", tmp_path)


def test_explorer(browser: Any, tmp_path: Path) -> None:
    """A package in the explorer, on a step of its exact frontier."""
    (tmp_path / "in").mkdir()
    package = next(package for package in short_set() if package.name == "film-night")
    write_package(package, tmp_path / "in" / "film-night.json")
    done("serve", tmp_path / "in", "--out", tmp_path / "site")
    (shown,) = (tmp_path / "site" / "package").glob("*/index.html")
    page = browser.new_page(viewport={"width": 1100, "height": 980})
    page.goto(shown.as_uri())
    page.get_by_text("no store within this budget is worth more").first.wait_for()
    assert "Exact at every budget" in page.locator("body").inner_text()
    take_picture(page, "explorer", tmp_path)


def test_pictures_in_the_documentation() -> None:
    """Every picture is small, is shown on some page, and says in words what it shows."""
    shown = [
        found for page in pages() for found in re.findall(r"!\[(.*?)\]\((\S+)\)", page_text(page))
    ]
    assert shown
    assert [target for words, target in shown if len(words.split()) < 5] == []
    kept = sorted((ROOT / "docs" / "images").glob("*"))
    assert {path.name for path in kept} == {Path(target).name for _, target in shown}
    for path in kept:
        check_picture(path)

"""The pictures of the documentation: what they show is there, and they can be taken again.

`MEMAUDIT_SCREENSHOTS=docs/images python -m pytest tests/docs/screenshots` writes them.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memaudit.io.packages import write_package
from memaudit.natural.named_packages import natural_set
from tests.cli.running import run
from tests.docs.blocks import ROOT, page_text, pages
from tests.docs.screenshots.taking import check_picture, chromium, take
from tests.docs.walk import walk
from tests.web.annotate.small_frames import served

pytestmark = pytest.mark.slow

TUTORIAL = "docs/tutorial/score-a-mem0-store.md"
SIZE = {"width": 1100, "height": 720}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def scroll_to(page: Any, heading: str) -> None:
    """Put a heading at the top of the window."""
    found = page.get_by_role("heading", name=heading, exact=True)
    found.evaluate("element => element.scrollIntoView()")


def test_annotate(browser: Any, tmp_path: Path) -> None:
    """The labelling page with a cell, the labels and the guideline."""
    run("audit", "frame", "natural", "--candidate-kind", "skill", "--out", tmp_path / "frame")
    with served(tmp_path / "frame", "ann") as server:
        page = browser.new_page(viewport={"width": 1280, "height": 560})
        page.goto(server.address)
        page.get_by_text("Cell 1 of 13", exact=True).wait_for()
        for following in (2, 3, 4):
            page.keyboard.press("3")
            page.get_by_text(f"Cell {following} of 13", exact=True).wait_for()
        assert "choir" in page.locator("#unit").inner_text()
        assert page.locator("#guideline").is_visible()
        check_picture(take(page, "annotate", tmp_path))
        page.close()


def test_leaderboard(browser: Any, tmp_path: Path) -> None:
    """The page that the tutorial writes, from the tutorial's own files."""
    walk(TUTORIAL, page_text(TUTORIAL), tmp_path)
    page = browser.new_page(viewport=SIZE)
    page.goto((tmp_path / "board.html").as_uri())
    scroll_to(page, "Standings")
    text = page.locator("body").inner_text()
    assert "custom" in text
    assert "0.950" in text
    check_picture(take(page, "leaderboard", tmp_path))
    page.close()


def test_report(browser: Any, tmp_path: Path) -> None:
    """The report of a short run."""
    result = run(
        "run", "--distributions", "event_graph:experiences=14", "--seeds", "100-105", "--budgets",
        "0.05,0.10", "--writers", "opt,gvt,estimated_gvt,mem0_style,recency_raw", "--engine",
        "serial", "--report", "--out", tmp_path / "run",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    page = browser.new_page(viewport=SIZE)
    page.goto((tmp_path / "run" / "report.html").as_uri())
    scroll_to(page, "Ranking")
    assert "Recency raw" in page.locator("body").inner_text()
    check_picture(take(page, "report", tmp_path))
    page.close()


def test_explorer(browser: Any, tmp_path: Path) -> None:
    """A package in the explorer, on a step of its exact frontier."""
    (tmp_path / "in").mkdir()
    package = next(one for one in natural_set() if one.name == "film-night")
    write_package(package, tmp_path / "in" / "film-night.json")
    result = run("bundle", tmp_path / "in", "--out", tmp_path / "site")
    assert result.exit_code == 0, result.output
    (shown,) = (tmp_path / "site" / "package").glob("*/index.html")
    page = browser.new_page(viewport={"width": 1100, "height": 980})
    page.goto(shown.as_uri())
    page.get_by_text("no store within this budget is worth more").first.wait_for()
    assert "Exact at every budget" in page.locator("body").inner_text()
    check_picture(take(page, "explorer", tmp_path))
    page.close()


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

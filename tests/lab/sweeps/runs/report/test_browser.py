"""The page in a real browser: quiet, alone, and fit for a phone and for the dark.

Needs Python's `playwright` and a Chromium: Debian's, or the one MEMAUDIT_CHROMIUM names.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

BROWSER = os.environ.get("MEMAUDIT_CHROMIUM") or shutil.which("chromium") or ""
if not BROWSER:
    pytest.skip("no Chromium: install the package chromium", allow_module_level=True)
playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield chromium
        chromium.close()


@dataclass
class Visit:
    """An open page and everything it did."""

    page: Any
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


def visit(browser: Any, path: Path, width: int = 1200, scheme: str = "light") -> Visit:
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    seen = Visit(page)
    page.on("console", lambda message: seen.said.append(message.text))
    page.on("pageerror", lambda error: seen.said.append(str(error)))
    page.on("dialog", lambda dialog: seen.said.append(dialog.message))
    page.on("dialog", lambda dialog: dialog.dismiss())
    page.on("request", lambda request: seen.asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_load_state("networkidle")
    return seen


@pytest.fixture(scope="module")
def files(
    plain_page: str, hostile_page: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    paths = {"plain": folder / "plain.html", "hostile": folder / "hostile.html"}
    paths["plain"].write_text(plain_page)
    paths["hostile"].write_text(hostile_page)
    return paths


@pytest.mark.parametrize("name", ["plain", "hostile"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_is_quiet_and_fits(browser: Any, files: dict[str, Path], name: str, width: int) -> None:
    seen = visit(browser, files[name], width)
    for details in seen.page.query_selector_all("details"):
        details.evaluate("element => element.open = true")
    root = "document.documentElement"
    assert seen.page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")
    assert seen.said == []
    assert seen.asked == [files[name].as_uri()]
    seen.page.close()


def test_attacks_do_nothing(browser: Any, files: dict[str, Path]) -> None:
    seen = visit(browser, files["hostile"])
    assert seen.page.locator("img, iframe, object, form, input, base").count() == 0
    assert seen.page.evaluate("getComputedStyle(document.body).display") == "block"
    assert "<script>alert(1)</script>" in seen.page.locator("h1").inner_text()
    for link in seen.page.locator("nav a").all():
        link.click()
    assert seen.said == []
    seen.page.close()


def luminance(colour: str) -> float:
    """Relative luminance of `rgb(r, g, b)`, as the contrast formula of WCAG defines it."""
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_dark_is_dark_and_readable(browser: Any, files: dict[str, Path]) -> None:
    papers = {}
    for scheme in ("light", "dark"):
        seen = visit(browser, files["plain"], scheme=scheme)
        style = "getComputedStyle(document.querySelector('{}')).{}"
        paper = luminance(seen.page.evaluate(style.format("body", "backgroundColor")))
        for place in ("body", ".muted", "a[href]", "caption", "svg.interval text"):
            colour = "fill" if place.startswith("svg") else "color"
            ink = luminance(seen.page.evaluate(style.format(place, colour)))
            contrast = (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05)
            assert contrast >= 4.5, (scheme, place, contrast)
        papers[scheme] = paper
        seen.page.close()
    assert papers["light"] > 0.8
    assert papers["dark"] < 0.05


def test_wide_tables_scroll_in_their_own_box(browser: Any, files: dict[str, Path]) -> None:
    seen = visit(browser, files["plain"], 360)
    scrolls = "box => box.scrollWidth > box.clientWidth"
    boxes = seen.page.query_selector_all(".wide")
    assert any(box.evaluate(scrolls) for box in boxes)
    assert all(box.get_attribute("tabindex") == "0" for box in boxes)
    seen.page.close()

"""Pages of records in a real browser: quiet, fit for a phone, the dark and no scripts."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.pages import PAGES
from memaudit.lab.explorer.site import Site, all_addresses
from tests.lab.explorer.browsing import expect, visit
from tests.lab.explorer.serving import exploring
from tests.lab.explorer.site_pages import entry_named, slug_of
from tests.lab.explorer.test_scores import line
from tests.lab.labels.annotate.small_frames import Served
from tests.lab.sweeps.runs.report.test_browser import luminance

pytestmark = pytest.mark.slow

OURS = ("store/", "scores/", "diagnosis/")


@pytest.fixture(scope="module")
def server(records: Path) -> Iterator[Served]:
    with exploring(records) as found:
        yield found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_and_can_be_read(
    browser: Any, records_bundle: Path, records: Path, scheme: str, tmp_path: Path
) -> None:
    """On a phone, by day and by night: ink and paper are far apart, bars have colours."""
    seen = visit(browser, records_bundle, 390, scheme)
    site = Site(Library([records]))
    for address in all_addresses(site, PAGES):
        if address.startswith(OURS):
            seen.go(address)
            assert seen.fits(), address
    page = seen.go(line(site, "cells", "digest", 24))
    ink, paper, bar = (
        page.evaluate(f"getComputedStyle(document.querySelector('{place}')).{name}")
        for place, name in (("body", "color"), ("body", "backgroundColor"), ("rect", "fill"))
    )
    lights = [luminance(one) for one in (ink, paper)]
    assert (lights[0] > lights[1]) == (scheme == "dark")
    assert abs(lights[0] - lights[1]) > 0.6
    assert bar not in (paper, "none")
    page.screenshot(path=tmp_path / "score.png", full_page=True)
    assert seen.said == []
    assert seen.outside == []
    seen.close()


def test_bars_hang_where_the_last_one_ended(
    browser: Any, records_bundle: Path, records: Path
) -> None:
    """In pixels: each bar's right end is the left end of the one above, and labels are beside."""
    seen = visit(browser, records_bundle)
    page = seen.go(line(Site(Library([records])), "cells", "digest", 24))
    boxes = page.evaluate(
        "[...document.querySelectorAll('#fall rect[class]')].map((r) => r.getBoundingClientRect())"
        ".map((b) => [b.left, b.right, b.top, b.bottom])"
    )
    assert len(boxes) == 6
    whole, *steps, rest = boxes
    edge = whole[1]
    for left, right, *_ in steps:
        assert abs(right - edge) < 1
        edge = left
    assert abs(rest[1] - edge) < 1
    assert all(low[2] > high[3] - 20 for high, low in pairwise(boxes))
    heights = page.evaluate(
        "[...document.querySelectorAll('.fall .line')].map((line) => line.offsetHeight)"
    )
    assert max(heights) < 80
    seen.close()


def test_without_scripts(browser: Any, records_bundle: Path, records: Path) -> None:
    """Numbers, texts and links are there; boxes that would do nothing are not."""
    site = Site(Library([records]))
    seen = visit(browser, records_bundle, java_script_enabled=False)
    page = seen.go(line(site, "cells", "digest", 24))
    expect(page.locator("#fall")).to_contain_text("77.8%")
    page.click("text=Which pillows does Ingrid need, and why? >> nth=0")
    expect(page.locator("h1")).to_have_text("Which pillows does Ingrid need, and why?")
    diagnosis = slug_of(site, "diagnosis", "diagnosis")
    page = seen.go(f"diagnosis/{diagnosis}/failures/index.html")
    assert page.locator("[data-filter]").count() == page.locator("[data-filter]:visible").count()
    page.click("#questions-table tbody a >> nth=0")
    expect(page.locator("details[open] .evidence").first).to_be_visible()
    page.click("details:not([open]) summary >> nth=0")
    assert page.locator("details[open]").count() >= 2
    seen.close()


@pytest.mark.parametrize("way", ["served", "bundled"])
def test_links_and_keys(
    browser: Any, server: Served, records_bundle: Path, records: Path, way: str
) -> None:
    """A link to one store of a question opens it; brackets turn the pages, u goes up."""
    site = Site(Library([records]))
    one = entry_named(site, "diagnosis", "diagnosis")
    first, second, *_ = site.library.diagnosis(one).questions
    seen = visit(browser, server if way == "served" else records_bundle)
    page = seen.go(f"diagnosis/{one.slug}/question/{first}.html")
    id = page.locator("details.chain").last.get_attribute("id")
    page = seen.go(f"diagnosis/{one.slug}/question/{first}.html#{id}")
    expect(page.locator(f"#{id}")).to_have_attribute("open", "")
    page.keyboard.press("]")
    seen.arrives(rf"/{second}\.html")
    page.keyboard.press("u")
    seen.arrives(rf"/{one.slug}/index\.html")
    assert seen.said == []
    seen.close()


def test_a_filter_is_part_of_the_address(browser: Any, plain: Path, bundle: Path) -> None:
    (entry,) = Library([plain]).of("run")
    seen = visit(browser, bundle)
    page = seen.go(f"run/{entry.slug}/index.html")
    page.fill("[data-filter]", "Mem0")
    expect(page.locator("#pairs tbody tr:visible")).to_have_count(4)
    where = page.url.removeprefix(seen.base)
    assert "f-pairs" in where
    page = seen.go(where)
    expect(page.locator("#pairs tbody tr:visible")).to_have_count(4)
    seen.close()

"""In a real browser nothing of a package runs, asks or hides; pages fit and can be read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memaudit.lab.explorer.addresses import anchor
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.pages import PAGES
from memaudit.lab.explorer.site import Site, all_addresses
from memaudit.lab.explorer.views.package_data import MOST_CHARACTERS
from memaudit.show.page_numbers import shortened, visible_text
from tests.lab.explorer.browsing import expect, visit
from tests.lab.explorer.libraries import IN_FIVES
from tests.lab.explorer.serving import exploring
from tests.lab.labels.annotate.small_frames import Served
from tests.lab.sweeps.runs.report.test_browser import luminance

pytestmark = pytest.mark.slow

RECORDS = ("store/", "scores/", "diagnosis/")
STRANGE = "img, iframe, object, embed, base, style, h1 ~ h1, [style*=display], [onerror]"


@pytest.fixture(scope="module")
def hostile_server(hostile_few: Path) -> Iterator[Served]:
    with exploring(hostile_few) as found:
        yield found


@pytest.fixture(scope="module")
def server(plain: Path) -> Iterator[Served]:
    with exploring(plain) as found:
        yield found


@pytest.fixture(scope="module")
def addresses(hostile_few: Path) -> list[str]:
    """Pages with texts: of each package the four that scripts work on and some queries, and the
    pages of records, of which some of those that are alike."""
    every = list(all_addresses(Site(Library([hostile_few]), seconds=20.0), PAGES))
    wanted = ("index.html", "stream.html", "coverage.html", "packages.html")
    records = [address for address in every if address.startswith(RECORDS)]
    alike = [address for address in records if address.count("/") > 2]
    packages = [address for address in every if address not in records]
    return [
        *(address for address in packages if address.endswith(wanted)),
        *[address for address in packages if "/query/" in address][::2],
        *(address for address in records if address not in alike),
        *alike[::8],
        "search.html",
    ]


@pytest.mark.parametrize("way", ["served", "bundled"])
def test_attacks_do_nothing(
    browser: Any, hostile_server: Served, hostile_bundle: Path, addresses: list[str], way: str
) -> None:
    """Every attack in every field: no dialog, no message, no request, no element; and it fits."""
    seen = visit(browser, hostile_server if way == "served" else hostile_bundle, 390)
    for address in addresses if way == "bundled" else addresses[::2]:  # the same pages
        page = seen.go(address)
        if "package/" in address and address.endswith("/index.html"):
            expect(page.locator("#slider-stage")).to_have_attribute("aria-busy", "false")
            if page.locator("#slider").is_enabled():
                page.select_option("#other", index=1)
                page.locator("#timeline").hover(position={"x": 3, "y": 10})
        if address.endswith("coverage.html"):
            page.focus("#map")
            page.keyboard.press("ArrowDown")
            expect(page.locator("#cell .big")).to_be_visible()
        assert page.locator(STRANGE).count() == 0, address
        assert page.evaluate("getComputedStyle(document.body).display") == "block"
        assert seen.fits(), address
    assert seen.said == []
    assert seen.outside == []
    seen.close()


@pytest.mark.parametrize("way", ["served", "bundled"])
def test_attacks_are_text(
    browser: Any, hostile_server: Served, hostile_bundle: Path, hostile_few: Path, way: str
) -> None:
    """Letter by letter, also where a script put them; hidden letters are written out."""
    seen = visit(browser, hostile_server if way == "served" else hostile_bundle)
    found = {one.name: one.slug for one in Library([hostile_few]).of("package")}
    for number, text in enumerate(IN_FIVES):
        shown = visible_text(shortened(f"memory {text}", MOST_CHARACTERS))
        why = visible_text(shortened(f"why {text}", MOST_CHARACTERS))
        slug = found[f"{number} {text}"]
        cell = f"{anchor('candidates', f'c0 {text}')}+{anchor('units', f'u0 {text}')}"
        page = seen.go(f"package/{slug}/index.html#b=3")
        expect(page.locator("#comparison .text").first).to_have_text(shown)
        page = seen.go(f"package/{slug}/coverage.html#cell={cell}")
        expect(page.locator("#cell .text").first).to_have_text(shown)
        expect(page.locator("#cell")).to_contain_text(why)
    assert seen.said == []
    seen.close()


@pytest.mark.parametrize("way", ["served", "bundled"])
def test_searching_for_an_attack(
    browser: Any, hostile_server: Served, hostile_bundle: Path, way: str
) -> None:
    seen = visit(browser, hostile_server if way == "served" else hostile_bundle)
    page = seen.go("index.html")
    page.fill(".find input", "<img src=x onerror=alert(1)>")
    page.keyboard.press("Enter")
    expect(page.locator("#found mark").first).to_have_text("<img")
    assert page.locator("img").count() == 0
    assert seen.said == []
    assert seen.outside == []
    seen.close()


PAGES_SHOWN = (
    "index.html",
    "{run}/index.html",
    "{run}/packages.html",
    "{package}/index.html",
    "{package}/stream.html",
    "{package}/coverage.html",
    "{package}/stores.html",
    "{package}/proofs.html",
    "search.html",
)


@pytest.mark.parametrize(("width", "scheme"), [(320, "light"), (390, "dark"), (1280, "light")])
def test_it_fits_and_can_be_read(
    browser: Any, server: Served, site: Site, width: int, scheme: str
) -> None:
    """No sideways scrolling, enough contrast, no message."""
    seen = visit(browser, server, width, scheme)
    (hotel,) = [entry.slug for entry in site.library.of("package") if entry.name == "hotel-rooms"]
    names = {"run": f"run/{site.library.of('run')[0].slug}", "package": f"package/{hotel}"}
    style = "getComputedStyle(document.querySelector('{}')).{}"
    for pattern in PAGES_SHOWN:
        page = seen.go(pattern.format(**names))
        for details in page.query_selector_all("details"):
            details.evaluate("element => element.open = true")
        assert seen.fits(), pattern
        paper = luminance(page.evaluate(style.format("body", "backgroundColor")))
        assert (paper > 0.8) == (scheme == "light")
        for place in ("body", ".muted", "a[href]", "th", ".badge.good", ".chip"):
            if page.locator(place).count() == 0:
                continue
            ground = paper
            if place in (".badge.good", ".chip"):
                ground = luminance(page.evaluate(style.format(place, "backgroundColor")))
            ink = luminance(page.evaluate(style.format(place, "color")))
            contrast = (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05)
            assert contrast >= 4.5, (pattern, place, contrast)
    assert seen.said == []
    seen.close()


def test_focus_is_seen_and_controls_have_names(browser: Any, server: Served, site: Site) -> None:
    seen = visit(browser, server)
    (hotel,) = [entry.slug for entry in site.library.of("package") if entry.name == "hotel-rooms"]
    for name in ("index.html", "coverage.html"):
        page = seen.go(f"package/{hotel}/{name}")
        for control in page.locator("input:visible, select:visible, canvas:visible").all():
            named = control.evaluate(
                "one => Boolean(one.labels?.length || one.ariaLabel || one.closest('[aria-label]'))"
            )
            assert named, control
        for _ in range(6):
            page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    seen.close()

"""What the pages do in a real browser: slider, comparison, map, run, checker, keys, search."""

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.io.packages import write_package
from memaudit.lab.explorer.addresses import anchor
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.site import Site
from memaudit.lab.explorer.views.store_comparison import compare
from tests.lab.explorer.browsing import Visit, expect, visit
from tests.lab.explorer.libraries import large_package
from tests.lab.explorer.serving import exploring
from tests.lab.explorer.site_pages import slug_of
from tests.lab.labels.annotate.small_frames import Served
from tests.lab.labels.test_unit_parts import PACKAGE as PARTS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(plain: Path) -> Iterator[Served]:
    with exploring(plain) as found:
        yield found


@pytest.fixture(params=["served", "bundled"])
def seen(
    request: pytest.FixtureRequest, browser: Any, server: Served, bundle: Path
) -> Iterator[Visit]:
    """A window on the same site, from a server and from a folder; it must stay quiet."""
    found = visit(browser, server if request.param == "served" else bundle)
    yield found
    assert found.said == []
    assert found.outside == []
    found.close()


@pytest.fixture(scope="module")
def hotel(site: Site) -> str:
    return f"package/{slug_of(site, 'package', 'hotel-rooms')}"


def test_the_slider_walks_the_frontier(seen: Visit, hotel: str) -> None:
    """OPT of hotel-rooms: 0, then 1 from 3, 2 from 8, 3 from 11, 4 from 19, 5 from 28."""
    page = seen.go(f"{hotel}/index.html#b=8")
    seen.sees("#opt-value", "2")
    seen.contains("#opt-words", "The same up to 11, then 3.")
    seen.contains("#proof", "certified")
    page.focus("#slider")
    for value in ("3", "4", "5"):
        page.keyboard.press("ArrowRight")
        seen.sees("#opt-value", value)
    assert page.url.endswith("#b=28")
    page.keyboard.press("ArrowLeft")
    seen.sees("#opt-value", "4")
    page.fill("#budget-number", "10")
    page.keyboard.press("Enter")
    seen.sees("#opt-value", "2")
    assert page.url.endswith("#b=10")
    seen.contains("#comparison", "The best store 2")
    page.reload()
    seen.sees("#opt-value", "2")
    expect(page.locator("#budget-number")).to_have_value("10")


def test_what_is_no_budget_is_said(seen: Visit, hotel: str) -> None:
    page = seen.go(f"{hotel}/index.html#b=10")
    seen.sees("#opt-value", "2")
    for text in ("abc", "1/0", "-1", "1/2/3", ""):
        page.fill("#budget-number", text)
        page.keyboard.press("Enter")
        seen.sees("#budget-problem", f"no budget: {text}".strip())
        seen.sees("#opt-value", "2")
        assert page.url.endswith("#b=10")
    page.fill("#budget-number", "37/2")
    page.keyboard.press("Enter")
    expect(page.locator("#budget-number")).to_have_value("18")  # every cost is whole
    seen.sees("#budget-problem", "")
    seen.sees("#opt-value", "3")
    page.fill("#budget-number", "1e9")
    page.keyboard.press("Enter")
    seen.contains("#opt-words", "More budget adds nothing.")
    most = page.input_value("#budget-number")
    assert page.url.endswith(f"#b={most}")
    assert int(most) < 1000
    seen.go(f"{hotel}/index.html#b=abc")
    seen.sees("#budget-problem", "no budget: abc")


def test_a_link_to_a_cell_that_is_gone_says_so(seen: Visit, hotel: str) -> None:
    seen.go(f"{hotel}/coverage.html#cell=6,26")
    seen.contains("#cell", "This package does not have the cell of the address.")


def test_a_writer_beside_opt_is_what_the_program_says(seen: Visit, site: Site, hotel: str) -> None:
    """Counts, ratio and waste of the script are those of the exact comparison."""
    indexed = site.package(hotel.removeprefix("package/"))
    optima = site.optima(indexed)
    budget = Fraction(19)  # a step of the frontier: the folder has stores at these
    best = optima.optimum(budget)
    opt = indexed.candidate_store("OPT", best.store)
    for name in ("mem0_style", "random_feasible", "estimated_gvt"):
        found = compare(indexed.package, opt, optima.written_by(name, budget))
        page = seen.go(f"{hotel}/index.html#b=19&with=w:{name}")
        ratio = f"{float(found.value / best.value):.3f}"
        seen.contains("#other-note", f"ratio {ratio}")
        heads = page.locator("#comparison h4 .count")
        expect(heads).to_have_text(
            [
                str(len(found.both)),
                str(len(found.missed)),
                str(len(found.instead)),
            ]
        )
        expect(page.locator("#comparison .tag")).to_have_count(len(found.wasted))
        if found.units:
            seen.contains("#comparison caption", f"{len(found.units)} unit")


def test_a_system_and_the_rows_of_a_run(seen: Visit, site: Site, hotel: str) -> None:
    page = seen.go(f"{hotel}/index.html#b=18")
    seen.sees("#opt-value", "3")
    page.select_option("#other", label="notes")
    seen.contains("#other-note", "an estimate from shared words")
    seen.contains("#comparison", "Ingrid wants hotel rooms away from the lift.")
    page = seen.go(f"package/{slug_of(site, 'package', 'base-1')}/index.html#b=1")
    expect(page.locator("#slider")).to_be_enabled()
    page.select_option("#other", label="Recency raw in a-run")
    seen.contains("#other-note", "Its store is known at budget")
    page.click("#other-note button >> text=4")
    seen.contains("#other-note", "ratio")
    assert "b=4" in page.url
    assert "with=r" in page.url


def test_the_map_by_keyboard(seen: Visit, hotel: str) -> None:
    """Arrows move the cursor, the address follows, Enter leads to the text."""
    page = seen.go(f"{hotel}/coverage.html")
    page.focus("#map")
    page.keyboard.press("ArrowDown")
    seen.contains("#cell", "Hotel rooms: always away from the lift, any floor.")
    seen.contains("#cell .big", "1 covered")
    seen.contains("#cell", "Ingrid wants hotel rooms away from the lift.")
    page.keyboard.press("ArrowRight")
    seen.contains("#cell .big", "0 covered")
    assert re.search(r"cell=c-[0-9a-f]{10}\+u-[0-9a-f]{10}", page.url)
    page.reload()
    seen.contains("#cell .big", "0 covered")
    page.focus("#map")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator(".target")).to_contain_text("Hotel rooms: always away from the lift")
    assert "/stream.html#c-" in page.url


def test_the_map_by_pointer(seen: Visit, hotel: str) -> None:
    page = seen.go(f"{hotel}/coverage.html#zoom=20&rows=worth")
    page.locator("#heat").hover(position={"x": 160, "y": 100})
    expect(page.locator("#cell .big")).to_be_visible()
    page.select_option("#row-order", "cost")
    page.uncheck("#covering")
    assert "rows=cost" in page.url
    assert "all=1" in page.url


def test_parts_stand_together_on_the_map(browser: Any, tmp_path: Path) -> None:
    """No candidate keeps when, which alone would come last; it follows what and who."""
    write_package(PARTS, tmp_path / "p.json")
    (found,) = Library([tmp_path]).of("package")
    with exploring(tmp_path) as server:
        seen = visit(browser, server)
        page = seen.go(f"package/{found.slug}/coverage.html")
        page.focus("#map")
        page.keyboard.press("ArrowDown")
        for words in ("(what: to Lisbon)", "(who: Ana)", "(when: in May)", "(what: a boat)"):
            seen.contains("#cell", words)
            page.keyboard.press("ArrowRight")


def test_a_map_of_a_million_cells(browser: Any, tmp_path: Path) -> None:
    """2,500 candidates by 400 units: only what is in view is painted, and any cell is reached."""
    write_package(large_package(2500, 400), tmp_path / "large.json")
    (found,) = Library([tmp_path]).of("package")
    with exploring(tmp_path) as server:
        seen = visit(browser, server)
        cell = f"{anchor('candidates', 'c2499')}+{anchor('units', 'u399')}"
        page = seen.go(f"package/{found.slug}/coverage.html#cell={cell}&zoom=12")
        seen.contains("#cell", "memory 2499")
        seen.contains("#cell .big", "1 covered")
        size = page.evaluate("[heat.width, heat.height, map.scrollHeight, map.scrollTop > 25000]")
        assert size[0] <= 1200
        assert size[1] <= 800
        assert size[2] > 2500 * 12
        assert size[3]
        page.locator("#overview").click(position={"x": 5, "y": 5})
        assert page.evaluate("map.scrollTop") < 1000
        page.focus("#map")
        page.keyboard.press("n")  # after the last covered cell comes the first
        seen.contains("#cell", "memory 0")
        page.keyboard.press("n")
        seen.contains("#cell", "memory 1")
        assert seen.said == []
        seen.close()


def test_keys(seen: Visit, hotel: str) -> None:
    page = seen.go("index.html")
    for _ in range(3):
        page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    seen.arrives(r"package/[^/]+/index\.html")
    page.keyboard.press("g")
    page.keyboard.press("s")
    seen.arrives(r"/stream\.html")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    page.keyboard.press("f")
    page.keyboard.type("zzz no such word")
    assert page.locator("li.said:visible").count() == 0
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    seen.arrives(r"index\.html#packages$")
    page.keyboard.press("/")
    page.keyboard.type("lift floor")
    page.keyboard.press("Enter")
    seen.arrives(r"search\.html[?#]q=lift")
    expect(page.locator("#found li").first).to_contain_text("hotel-rooms")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    seen.arrives(f"{hotel}/")


def test_a_table_sorts_and_narrows(seen: Visit) -> None:
    page = seen.go("index.html")
    names = page.locator("#packages-table tbody th")
    page.click("#packages-table thead >> text=Candidates")
    counts = page.locator("#packages-table tbody tr td:nth-child(3)").all_text_contents()
    known = [int(count) for count in counts if count.isdecimal()]
    assert known == sorted(known)
    page.click("#packages-table thead >> text=Package")
    assert names.all_text_contents() == sorted(names.all_text_contents())


def test_without_scripts(browser: Any, server: Served, bundle: Path, hotel: str) -> None:
    """Tables and links do all the work; what needs scripts is not there."""
    for where in (server, bundle):
        seen = visit(browser, where, java_script_enabled=False)
        page = seen.go("index.html")
        page.click("#packages-table >> text=hotel-rooms")
        expect(page.locator("#slider")).to_be_hidden()
        page.click("text=Stores as tables")
        expect(page.locator("#opt li").first).to_be_visible()
        seen.go(f"{hotel}/coverage.html")
        expect(page.locator("#heat")).to_be_hidden()
        expect(page.locator("#units-table tbody tr")).to_have_count(5)
        seen.go("index.html")
        page.click("#runs-table >> text=a-run")
        expect(page.locator("#ranking-table tbody tr")).to_have_count(5)
        if where is server:
            page.select_option("[name=d]", label="base")
            page.click("text=Show")
            assert "d=base" in page.url
            seen.contains("#ranking", "3 packages count here.")
            page.fill(".find input", "lift")
            page.keyboard.press("Enter")
            expect(page.locator("#found li").first).to_be_visible()
        assert seen.said == []
        seen.close()


def test_a_dead_server_is_noticed(browser: Any, plain: Path, hotel: str) -> None:
    with exploring(plain) as server:
        seen = visit(browser, server)
        page = seen.go(f"{hotel}/index.html#b=8")
        seen.sees("#opt-value", "2")
        server.kill()
        page.select_option("#other", label="notes")
        seen.contains("#other-note", "The server does not answer.")
        seen.close()

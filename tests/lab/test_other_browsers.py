"""A report, the explorer and the annotator in Firefox and WebKit: they work, and stay quiet."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.site import Site
from memaudit.lab.serving import POLICY
from tests.lab.explorer.conftest import hostile_few as hostile_few
from tests.lab.explorer.conftest import plain as plain
from tests.lab.explorer.conftest import records as records
from tests.lab.explorer.serving import exploring
from tests.lab.explorer.site_pages import slug_of
from tests.lab.labels.annotate.small_frames import frame_folder, served
from tests.lab.other_browsers import BROWSERS, Window, missing
from tests.lab.sweeps.runs.report.conftest import ATTACK
from tests.lab.sweeps.runs.report.conftest import hostile_page as hostile_page
from tests.lab.sweeps.runs.report.conftest import plain_page as plain_page
from tests.lab.sweeps.runs.report.conftest import plain_run as plain_run

pytestmark = pytest.mark.slow

STRANGE = "img, iframe, object, embed, base, [onerror]"


@pytest.fixture(params=BROWSERS)
def window(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Window]:
    if programs := missing(request.param):
        pytest.skip(f"not installed: {', '.join(programs)}")
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with BROWSERS[request.param][0](home) as found:
        yield found


@pytest.mark.parametrize(
    "body",
    [
        "<script src='wrong.js'></script>",
        "<p onclick='1'>x</p><script>alert(1)</script>",
        "<img src='http://127.0.0.1:9/x.png'>",
    ],
)
def test_noise_is_heard(window: Window, tmp_path: Path, body: str) -> None:
    """What the walks rely on: errors of scripts and blocked things do not go unnoticed."""
    policy = f'<meta http-equiv=Content-Security-Policy content="{POLICY}">'
    (tmp_path / "wrong.js").write_text("nobody.knows();")
    page = tmp_path / "page.html"
    allowed = policy.replace("script-src 'self'", "script-src 'self' file:")
    page.write_text(f"<!doctype html><meta charset=utf-8>{allowed}<title>x</title>{body}")
    window.go(page.as_uri(), tmp_path.as_uri())
    with pytest.raises(AssertionError):
        window.quiet()


@pytest.mark.parametrize("kind", ["plain", "hostile"])
def test_a_report(
    window: Window, tmp_path: Path, plain_page: str, hostile_page: str, kind: str
) -> None:
    page = tmp_path / "page.html"
    page.write_text(plain_page if kind == "plain" else hostile_page)
    window.go(page.as_uri())
    window.run("for (const one of document.querySelectorAll('details')) one.open = true")
    assert window.fits()
    assert window.run("return getComputedStyle(document.body).display") == "block"
    assert window.count(f"{STRANGE}, form, input, script:not([type='application/json'])") == 0
    assert ("<script>alert(1)</script>" in window.text("h1")) == (kind == "hostile")
    assert len(window.texts("table tbody tr")) > 5
    window.quiet()


def test_the_explorer(window: Window, plain: Path, records: Path) -> None:
    """Open, search, narrow, sort, the slider, the map, and the scores of a file."""
    hotel = slug_of(Site(Library([plain])), "package", "hotel-rooms")
    with exploring(plain, records) as server:
        base = f"{server.origin}/"
        window.go(server.address, base)
        window.arrives(r"/$")  # the token is gone from the address bar
        window.click("#packages-table thead th:nth-child(3) button")
        counts = [
            int(text)
            for text in window.texts("#packages-table tbody tr td:nth-child(3)")
            if text.isdecimal()
        ]
        assert counts == sorted(counts)
        assert len(counts) > 1
        window.press("/", *"lift floor", "Enter")
        window.arrives(r"search\.html[?#]q=lift")
        window.sees("#found li", "hotel-rooms")
        window.look()
        window.go(f"{base}package/{hotel}/index.html#b=8", base)
        window.sees("#opt-value", "2")
        window.run("document.querySelector('#slider').focus()")
        for value in ("3", "4", "5"):
            window.press("ArrowRight")
            window.sees("#opt-value", value)
        window.look()
        window.go(f"{base}package/{hotel}/coverage.html", base)
        window.arrives("coverage")
        window.run("document.querySelector('#map').focus()")
        window.press("ArrowRight")
        window.until("document.querySelector('#cell .big')")
        every = len(window.texts("#units-table tbody tr"))
        if every > 12:  # a shorter list has no box to narrow it
            window.press("f", *"lift")
            window.until("location.href.includes('f-units-table')")
            assert 0 < len(window.texts("#units-table tbody tr")) < every
        window.quiet()
        slug = slug_of(Site(Library([plain, records])), "scores", "cells")
        window.go(f"{base}scores/{slug}/index.html", base)
        window.arrives("scores")
        assert len(window.texts("#scores-table tbody tr")) == 4
        assert window.fits()
        window.quiet()


def test_attacks_in_the_explorer(window: Window, hostile_few: Path) -> None:
    with exploring(hostile_few) as server:
        base = f"{server.origin}/"
        window.go(server.address, base)
        for one in Library([hostile_few]).of("package"):
            for name in ("index", "stream", "coverage"):
                window.go(f"{base}package/{one.slug}/{name}.html", base)
                window.arrives(name)
                assert window.count(STRANGE) == 0
                assert window.run("return getComputedStyle(document.body).display") == "block"
                assert window.fits(), (one.slug, name)
                window.look()
        window.quiet()


def test_the_annotator(window: Window, tmp_path: Path) -> None:
    """Label, note, undo, reload; hostile texts are text."""
    attack = ATTACK.replace("\x00", "")
    texts = [("a memory", "a unit", "a quote"), (attack, attack, attack)]
    with served(frame_folder(tmp_path / "frame", 8, texts), "ann") as server:
        base = f"{server.origin}/"
        window.go(server.address, base)
        window.sees("#where", "Cell 1 of 8")
        for key, number in (("1", 2), ("p", 3), ("n", 4), ("4", 5)):
            window.press(key)
            window.sees("#where", f"Cell {number} of 8")
            assert window.count(STRANGE) == 0
        window.press("u")
        window.sees("#where", "Cell 4 of 8")
        window.sees("#done", "3 of 8 labelled")
        window.press("e", *"1 note u", "Escape")
        window.sees("#state", "Note")
        window.reload()
        window.sees("#where", "Cell 4 of 8")
        window.until("document.querySelector('#note').value === '1 note u'")
        window.press("ArrowLeft")
        window.sees("#state", "Your label: none.")
        window.click("[data-label=full]")
        window.sees("#where", "Cell 4 of 8")
        assert window.fits()
        window.quiet()
        rows = server.get("/labels.csv")[2].decode().splitlines()[1:]
    assert [row.split(",")[2] for row in rows] == ['"full"', '"partial"', '"full"']

"""The labelling page in a real browser, by keyboard.

Needs Python's `playwright` and a Chromium: Debian's, or the one MEMAUDIT_CHROMIUM names.
"""

import csv
import io
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memaudit.lab.labels.frame_files import write_frame
from tests.cli.running import run
from tests.lab.labels.annotate.small_frames import Served, frame_folder, frame_with_parts, served
from tests.lab.sweeps.runs.report.test_browser import ARGUMENTS, luminance

BROWSER = os.environ.get("MEMAUDIT_CHROMIUM") or shutil.which("chromium") or ""
if not BROWSER:
    pytest.skip("no Chromium: install the package chromium", allow_module_level=True)
playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = pytest.mark.slow

KEYS = "1f2p3n4c"
LABEL_OF = dict(
    zip(KEYS, ["full"] * 2 + ["partial"] * 2 + ["none"] * 2 + ["cannot_tell"] * 2, strict=True)
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright.expect.set_options(timeout=30_000)  # a busy machine is no failure
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield chromium
        chromium.close()


@dataclass
class Visit:
    """The open page and everything it did."""

    page: Any
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def sees(self, place: str, text: str | re.Pattern[str]) -> None:
        playwright.expect(self.page.locator(place)).to_have_text(text)

    def press(self, key: str, place: str, text: str | re.Pattern[str]) -> None:
        self.page.keyboard.press(key)
        self.sees(place, text)

    def label(self, key: str, following: str) -> None:
        self.press(key, "#where", following)


def visit(
    browser: Any, server: Served, width: int = 1200, scheme: str = "light", at: str = ""
) -> Visit:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    seen = Visit(context.new_page())
    seen.page.on("console", lambda message: seen.said.append(message.text))
    seen.page.on("pageerror", lambda error: seen.said.append(str(error)))
    seen.page.on("dialog", lambda dialog: seen.said.append(dialog.message))
    seen.page.on("dialog", lambda dialog: dialog.dismiss())
    seen.page.on("request", lambda request: seen.asked.append(request.url))
    seen.page.goto(server.address)
    seen.sees("#where", re.compile("Cell"))
    if at:
        seen.page.goto(f"{server.origin}/{at}")
        seen.page.reload()
        seen.sees("#where", re.compile(f"Cell {at[1:]} "))
    return seen


def exported(server: Served) -> list[list[str]]:
    text = server.get("/labels.csv")[2].decode()
    return list(csv.reader(io.StringIO(text, newline="")))[1:]


def test_fifty_cells_by_keyboard(browser: Any, tmp_path: Path) -> None:
    frame = frame_folder(tmp_path / "frame", 60)
    with served(frame, "ann") as server:
        seen = visit(browser, server)
        assert seen.page.url == f"{server.origin}/#1"  # the token is gone from the address bar
        for number in range(1, 21):
            seen.label(KEYS[number % 8], f"Cell {number + 1} of 60")
        seen.page.reload()
        seen.sees("#where", "Cell 21 of 60")
        seen.sees("#done", "20 of 60 labelled")
        for number in range(21, 41):
            seen.label(KEYS[number % 8], f"Cell {number + 1} of 60")
        assert seen.said == []
        assert {url.split("/")[2] for url in seen.asked} == {f"127.0.0.1:{server.port}"}
        seen.page.context.close()

        seen = visit(browser, server)
        seen.sees("#where", "Cell 41 of 60")
        for number in range(41, 51):
            seen.label(KEYS[number % 8], f"Cell {number + 1} of 60")
        seen.press("u", "#where", "Cell 50 of 60")
        seen.sees("#done", "49 of 60 labelled")
        assert seen.page.locator("[aria-pressed=true]").count() == 0
        seen.press("u", "#where", "Cell 49 of 60")
        seen.page.keyboard.press("/")
        seen.page.keyboard.type('1 note, "quoted"; u g ?')  # keys of the page are text in here
        seen.page.keyboard.press("Enter")
        seen.page.keyboard.type("two lines")
        seen.sees("#done", "48 of 60 labelled")
        seen.page.keyboard.press("Escape")
        seen.label("2", "Cell 50 of 60")
        seen.label("3", "Cell 51 of 60")
        with seen.page.expect_download() as waiting:
            seen.page.click("text=Save CSV")
        waiting.value.save_as(tmp_path / "page.csv")
        assert seen.said == []
        code, out, _ = server.interrupt()
        assert (code, out[:33]) == (0, "50 of 60 cells labelled by ann, s")
    expected = [[f"c{n:04}", "ann", LABEL_OF[KEYS[n % 8]], ""] for n in range(1, 49)]
    expected += [
        ["c0049", "ann", "partial", '1 note, "quoted"; u g ?\ntwo lines'],
        ["c0050", "ann", "none", ""],
    ]
    run("label", "annotate", frame, "--annotator", "ann", "--export", tmp_path / "line.csv")
    for name in ("page.csv", "line.csv"):
        with (tmp_path / name).open(newline="") as file:
            assert list(csv.reader(file)) == [
                ["cell_id", "annotator_id", "label", "notes"],
                *expected,
            ]
    seen.page.context.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(frame_folder(tmp_path_factory.mktemp("browser") / "frame", 40), "ann") as found:
        yield found


def test_moving_about(browser: Any, server: Served) -> None:
    seen = visit(browser, server, at="#10")
    seen.label("p", "Cell 11 of 40")
    seen.press("ArrowLeft", "#where", "Cell 10 of 40")
    seen.sees("#state", "Your label: partial.")
    assert seen.page.locator("[aria-pressed=true]").get_attribute("data-label") == "partial"
    seen.press("ArrowLeft", "#where", "Cell 9 of 40")
    seen.press("j", "#where", "Cell 11 of 40")
    seen.press("ArrowRight", "#where", "Cell 12 of 40")
    seen.page.click("[data-label=none]")
    seen.sees("#where", "Cell 13 of 40")
    seen.page.context.close()


def test_a_key_held_down_labels_once(browser: Any, server: Served) -> None:
    seen = visit(browser, server, at="#15")
    before = seen.page.locator("#done").inner_text()
    seen.page.keyboard.press("Control+c")
    seen.page.keyboard.down("1")
    seen.sees("#where", "Cell 16 of 40")
    for _ in range(5):
        seen.page.keyboard.down("1")  # again without up: a repeat
    seen.page.keyboard.up("1")
    seen.press("ArrowRight", "#where", "Cell 17 of 40")
    after = seen.page.locator("#done").inner_text()
    assert int(after.split()[0]) == int(before.split()[0]) + 1
    seen.page.context.close()


def test_a_note_survives(browser: Any, server: Served) -> None:
    seen = visit(browser, server, at="#20")
    seen.page.keyboard.press("e")
    seen.page.keyboard.type("half a thou")
    seen.page.reload()  # before the pause that saves a draft
    seen.sees("#where", "Cell 20 of 40")
    assert seen.page.locator("#note").input_value() == "half a thou"
    seen.page.focus("#note")
    seen.page.keyboard.press("End")
    seen.page.keyboard.type("ght")
    seen.sees("#state", "Note kept for when you label.")
    seen.page.context.close()

    seen = visit(browser, server, at="#20")
    assert seen.page.locator("#note").input_value() == "half a thought"
    seen.label("n", "Cell 21 of 40")
    assert seen.page.locator("#note").input_value() == ""
    seen.press("ArrowLeft", "#where", "Cell 20 of 40")
    seen.page.keyboard.press("e")
    seen.page.keyboard.press("ControlOrMeta+a")
    seen.page.keyboard.type("a whole one")
    seen.sees("#state", "Note kept for when you label.")
    seen.press("Escape", "#state", "Note saved.")
    assert ["c0020", "ann", "none", "a whole one"] in exported(server)
    seen.page.context.close()


def test_help_and_guideline(browser: Any, server: Served) -> None:
    seen = visit(browser, server, at="#25")
    guideline, help = seen.page.locator("#guideline"), seen.page.locator("#help")
    playwright.expect(guideline).to_be_visible()
    seen.page.keyboard.press("g")
    playwright.expect(guideline).to_be_hidden()
    seen.page.keyboard.press("?")
    playwright.expect(help).to_be_visible()
    seen.page.keyboard.press("1")
    seen.page.click("#help button")
    playwright.expect(help).to_be_hidden()
    seen.sees("#where", "Cell 25 of 40")
    seen.page.context.close()
    seen = visit(browser, server, 360, at="#25")
    playwright.expect(seen.page.locator("#guideline")).to_be_hidden()
    seen.page.click(".moves [data-move=guideline]")
    playwright.expect(seen.page.locator("#guideline")).to_be_visible()
    seen.page.keyboard.press("1")
    seen.page.keyboard.press("Escape")
    playwright.expect(seen.page.locator("#guideline")).to_be_hidden()
    seen.label("1", "Cell 26 of 40")
    assert seen.said == []
    seen.page.context.close()


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</p></main><h1>x</h1>",
    "<svg/onload=alert(1)>",
    "{{ 7*7 }} ${7*7} <%= 7 %>",
    "javascript:alert(1)",
    "<style>body{display:none}</style>",
    "'\"><iframe src=//evil.example>",
    "&lt;b&gt; &amp;",
    "<a href=http://evil.example>x</a>",
    "]]><!--",
    "\\u202e spelled out",
    "W" * 3000,
]


def test_texts_are_text(browser: Any, tmp_path: Path) -> None:
    texts = [(f"{text} memory", f"{text} unit", f"{text} quote") for text in HOSTILE]
    texts.append(("a\u202eevil\u2066\x00\x07", "\u200b", "\u202d"))
    texts = [(memory.replace("\x00", ""), unit, quote) for memory, unit, quote in texts]
    frame = frame_folder(tmp_path / "frame", len(texts), texts)
    with served(frame, "<img src=x onerror=alert(1)>") as server:
        seen = visit(browser, server, 360)
        root = "document.documentElement"
        for number, text in enumerate(HOSTILE, 1):
            seen.sees("#where", f"Cell {number} of {len(texts)}")
            for place in ("memory", "unit", "quote"):
                assert seen.page.locator(f"#{place}").text_content() == f"{text} {place}"
            assert seen.page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")
            seen.press("1", "#where", f"Cell {number + 1} of {len(texts)}")
        assert seen.page.locator("#memory").text_content() == "a\\u202eevil\\u2066\\x07"
        assert seen.page.locator("#memory code.escape").all_text_contents() == [
            "\\u202e",
            "\\u2066",
            "\\x07",
        ]
        assert seen.page.locator("img, iframe, svg, style, main h1 ~ h1").count() == 0
        assert "<img src=x onerror=alert(1)>" in seen.page.locator(".brand").inner_text()
        assert seen.said == []
        assert {url.split("/")[2] for url in seen.asked} == {f"127.0.0.1:{server.port}"}
        seen.page.context.close()


def test_a_dead_server_is_noticed(browser: Any, tmp_path: Path) -> None:
    with served(frame_folder(tmp_path / "frame", 5), "ann") as server:
        seen = visit(browser, server)
        seen.label("1", "Cell 2 of 5")
        server.kill()
        seen.press("1", "#trouble", re.compile("Not saved. The server does not answer."))
        seen.sees("#where", "Cell 2 of 5")
        seen.sees("#done", "1 of 5 labelled")
        seen.page.context.close()


def test_all_labelled(browser: Any, tmp_path: Path) -> None:
    with served(frame_folder(tmp_path / "frame", 2), "ann") as server:
        seen = visit(browser, server)
        seen.label("1", "Cell 2 of 2")
        seen.press("4", "#state", "Cell 2: cannot tell. All cells are labelled.")
        seen.sees("#done", "2 of 2 labelled")
        assert seen.page.locator("[aria-pressed=true]").get_attribute("data-label") == "cannot_tell"
        seen.press("j", "#state", "All cells are labelled.")
        seen.press("u", "#done", "1 of 2 labelled")
        seen.page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 360, 800, 1400])
def test_it_fits_and_can_be_read(browser: Any, server: Served, width: int, scheme: str) -> None:
    seen = visit(browser, server, width, scheme, at="#28")
    root = "document.documentElement"
    assert seen.page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")
    style = "getComputedStyle(document.querySelector('{}')).{}"
    paper = luminance(seen.page.evaluate(style.format("body", "backgroundColor")))
    assert (paper > 0.8) == (scheme == "light")
    for place in ("body", ".muted", ".brand", "#labels b", ".legend", "#note", "mark.shared"):
        ground = paper
        if place == "mark.shared":
            ground = luminance(seen.page.evaluate(style.format(place, "backgroundColor")))
        ink = luminance(seen.page.evaluate(style.format(place, "color")))
        assert (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) >= 4.5, place
    for button in seen.page.locator("button, a.button").all():
        assert button.get_attribute("aria-label")
    for _ in range(4):
        seen.page.keyboard.press("Tab")
    focused = "getComputedStyle(document.activeElement).outlineStyle"
    assert seen.page.evaluate(focused) == "solid"
    assert seen.said == []
    seen.page.context.close()


def test_a_statement_with_parts(browser: Any, tmp_path: Path) -> None:
    """Digits and clicks check its parts, p or Enter saves them. Without the core the others cannot
    be checked. It is one row of the labels, and can be undone and changed."""
    write_frame(frame_with_parts(), tmp_path / "f")
    with served(tmp_path / "f", "ann") as server:
        seen = visit(browser, server, at="#2")
        boxes = seen.page.locator("#parts input")
        seen.sees("#parts label >> nth=0", "1what (core): plays the cello")
        assert boxes.count() == 3
        assert [boxes.nth(n).is_disabled() for n in range(3)] == [False, True, True]
        for key in "213":
            seen.page.keyboard.press(key)
        assert [boxes.nth(n).is_checked() for n in range(3)] == [True, False, True]
        seen.label("Enter", "Cell 3 of 3")
        seen.sees("#state", "Cell 2: partial.")
        playwright.expect(seen.page.locator("#parts")).to_be_hidden()
        seen.label("1", "Cell 1 of 3")  # a digit is a label again where there are no parts
        seen.press("ArrowRight", "#where", "Cell 2 of 3")
        assert [boxes.nth(n).is_checked() for n in range(3)] == [True, False, True]
        boxes.nth(0).click()
        assert [boxes.nth(n).is_checked() for n in range(3)] == [False, False, False]
        seen.label("p", "Cell 1 of 3")
        seen.sees("#state", "Cell 2: none.")
        seen.press("u", "#state", "Undone: cell 2 is partial.")
        assert [boxes.nth(n).is_checked() for n in range(3)] == [True, False, True]
        seen.label("f", "Cell 1 of 3")
        seen.sees("#state", "Cell 2: full.")
        seen.press("u", "#state", "Undone: cell 2 is partial.")
        rows = exported(server)
        assert ["c0002", "ann", "partial", "", "what;when"] in rows
        assert ["c0003", "ann", "full", "", ""] in rows
        assert seen.said == []

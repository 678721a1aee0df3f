"""Every attack of the corpus, in every field, is text on every page; none becomes part of it."""

import json
import re
from pathlib import Path

import pytest

import memaudit.web.explorer as explorer
from memaudit.web.explorer.library.library import Library
from memaudit.web.explorer.pages.registry import PAGES
from memaudit.web.explorer.site import Site, all_addresses, show
from tests.report.html_tree import Tree

ELEMENTS = {
    "a", "aside", "b", "bdi", "blockquote", "body", "button", "canvas", "caption", "circle", "code",
    "dd", "details", "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer",
    "form", "h1", "h2", "h3", "h4", "head", "header", "html", "input", "kbd", "label", "legend",
    "li", "line", "link", "main", "mark", "meta", "nav", "ol", "option", "p", "path", "pre",
    "script", "section", "select", "span", "strong", "summary", "svg", "table", "tbody", "td",
    "text", "th", "thead", "title", "tr", "ul",
}  # fmt: skip
LINKS = re.compile(
    r"(\.\./)*([a-z0-9-]+/)*[a-z0-9_-]+\.(html|json|js|css)(#[a-z0-9-]*)?|#[a-z0-9-]*|data:,|"
    r"\?budget=[0-9%F]+"
)
"""Relative and made of slugs, a row of the same page, no icon, or a budget."""


def made(folder: Path, bundled: bool) -> dict[str, str]:
    site = Site(Library([folder]), bundled=bundled, seconds=20.0)
    return {address: show(site, PAGES, address, {})[1] for address in all_addresses(site, PAGES)}


@pytest.fixture(scope="module", params=[False, True], ids=["served", "bundled"])
def pages(request: pytest.FixtureRequest, hostile: Path) -> dict[str, str]:
    found = made(hostile, request.param)
    return {address: text for address, text in found.items() if address.endswith(".html")}


@pytest.mark.slow
def test_no_elements_and_no_links_come_of_it(pages: dict[str, str]) -> None:
    for address, text in pages.items():
        tree = Tree(text)
        assert {one.name for one in tree.elements} <= ELEMENTS, address
        assert not tree.comments
        for element in tree.elements:
            assert not any(name.startswith("on") or name == "style" for name in element.attributes)
            for name in ("href", "src", "action"):
                link = element.attributes.get(name)
                assert link is None or LINKS.fullmatch(link), (address, name, link)
            assert re.fullmatch(r"[a-z0-9 -]*", element.attributes.get("class") or ""), address
            assert re.fullmatch(r"[a-z0-9-]*", element.attributes.get("id") or ""), address


def test_nothing_invisible_is_left(pages: dict[str, str]) -> None:
    for address, text in pages.items():
        assert {letter for letter in text if not letter.isprintable()} == {"\n"}, address


def test_the_data_is_json_without_markup(pages: dict[str, str]) -> None:
    """The letters of the attack are there, visible, and end no element."""
    seen = 0
    for address, text in pages.items():
        for script in Tree(text).named("script"):
            if script.attributes.get("type") != "application/json":
                assert script.text == ""
                continue
            assert not set("<>&") & set(script.text), address
            data = json.dumps(json.loads(script.text), ensure_ascii=False)
            assert all(letter.isprintable() for letter in data), address
            seen += 1
    assert seen > 40


def test_attacks_can_be_read(pages: dict[str, str]) -> None:
    streams = [Tree(text).text for address, text in pages.items()
               if address.endswith("stream.html")]  # fmt: skip
    whole = "\n".join(streams)
    for text in ("memory <script>alert(1)</script>", "said <svg/onload=alert(1)>",
                 "speaker javascript:alert(1)", "memory {{ 7*7 }} ${7*7} <%= 7 %>",
                 "said ../../../etc/passwd", r"memory \u202egnp.exe\u2066"):  # fmt: skip
        assert text in whole


def test_addresses_are_made_of_slugs(hostile: Path) -> None:
    site = Site(Library([hostile]), seconds=20.0)
    for address in all_addresses(site, PAGES):
        assert re.fullmatch(r"[a-z0-9-]+(/[a-z0-9-]+)*\.(html|json)", address), address


def test_no_template_or_script_declares_anything_safe() -> None:
    folder = Path(explorer.__path__[0])
    for path in [*folder.rglob("*.html"), *folder.rglob("*.py")]:
        text = path.read_text()
        assert not re.search(r"\|\s*safe\b|Markup\(|autoescape\s+false|autoescape=False", text), (
            path
        )
        assert not re.search(r"<[^>]*\s(on[a-z]+|style)=", text), path
    for path in folder.rglob("*.js"):
        wrong = (
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|https?:"
        )
        found = re.findall(wrong, path.read_text())
        assert set(found) <= ({"http:"} if path.name == "common.js" else set()), path

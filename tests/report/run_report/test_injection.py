"""Every text of a package and a run is shown as text; none of it becomes part of the page."""

import json
import re
from pathlib import Path

import memaudit.report as page_package
from memaudit.report.page_numbers import visible_text
from tests.report.html_tree import Tree
from tests.report.run_report.conftest import ATTACK, SHOWN

NAMES = {
    "a", "body", "caption", "circle", "code", "dd", "details", "div", "dl", "dt", "em",
    "figcaption", "figure", "g", "h1", "h2", "h3", "h4", "head", "header", "html", "li", "line",
    "link", "main", "meta", "nav", "ol", "p", "path", "pre", "rect", "script", "section", "span",
    "strong", "style", "summary", "svg", "table", "tbody", "td", "text", "th", "thead", "title",
    "tr", "ul",
}  # fmt: skip
ATTRIBUTES = {
    "aria-hidden", "aria-label", "charset", "class", "colspan", "content", "cx", "cy", "d",
    "download", "height", "href", "http-equiv", "id", "lang", "name", "open", "overflow", "r",
    "rel", "role", "scope", "tabindex", "title", "transform", "type", "value", "viewbox",
    "width", "x", "x1", "x2", "y", "y1", "y2",
}  # fmt: skip


def test_attacks_make_no_elements_and_no_attributes(hostile_page: str) -> None:
    tree = Tree(hostile_page)
    assert {element.name for element in tree.elements} <= NAMES
    assert {name for element in tree.elements for name in element.attributes} <= ATTRIBUTES
    assert not tree.comments
    for element in tree.elements:
        assert re.fullmatch(r"[a-z0-9 -]*", element.attributes.get("class") or "")
        assert re.match(
            r"#[a-z]+$|data:(application/json;base64)?,", element.attributes.get("href") or "#x"
        )


def test_attacks_are_readable_where_they_belong(hostile_page: str) -> None:
    tree = Tree(hostile_page)
    (h1,) = tree.named("h1")
    assert h1.text == f"title {SHOWN}"
    for place in ("said", "session session", "time", "speaker", "memory", "kind1", "sort1"):
        assert re.search(rf"{place}\d </style>", tree.text), place
    assert f"failed {SHOWN}".strip() in tree.text
    assert SHOWN in tree.text
    assert "49" not in h1.text, "a template ran inside a text"


def test_nothing_invisible_is_left(hostile_page: str) -> None:
    assert {letter for letter in hostile_page if not letter.isprintable()} == {"\n"}


def test_the_json_block_holds_and_says_the_same(hostile_page: str) -> None:
    (script,) = Tree(hostile_page).named("script")
    assert script.attributes["type"] == "application/json"
    assert not set("<>&") & set(script.text)
    data = json.loads(script.text)
    assert ATTACK in {row["writer"] for row in data["ranking"]}


def test_no_template_or_module_declares_anything_safe() -> None:
    folder = Path(page_package.__path__[0])
    for path in [*folder.rglob("*.html"), *folder.rglob("*.py")]:
        text = path.read_text()
        assert not re.search(r"\|\s*safe\b|Markup\(|autoescape\s+false|autoescape=False", text), (
            path
        )


def test_visible_text_keeps_letters_and_lines() -> None:
    assert visible_text("né\n漢字 ☕") == "né\n漢字 ☕"
    assert visible_text("a\u202eb\x00\t\r\u200d\U000e0001") == r"a\u202eb\x00\t\r\u200d\U000e0001"

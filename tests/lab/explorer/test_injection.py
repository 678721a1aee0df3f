"""Attacks in every field of packages and records are text on every page, served and bundled."""

import json
import re
from pathlib import Path

import pytest

import memaudit.lab.explorer as explorer
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.pages import PAGES
from memaudit.lab.explorer.site import Site, all_addresses, show
from tests.show.html_tree import Tree

_NAMES = (
    "a aside b bdi blockquote body br button canvas caption circle code dd defs details "
    "dialog div dl dt fieldset figcaption figure footer form g h1 h2 h3 h4 head header html "
    "input kbd label legend li line link main mark meta nav ol option p path pattern pre "
    "rect script section select span strong summary svg table tbody td text th thead title "
    "tr ul"
)
ELEMENTS = frozenset(_NAMES.split())
LINKS = re.compile(
    r"(\.\./)*([a-z0-9-]+/)*[a-z0-9_-]+\.(html|json|js|css)(#[a-z0-9-]*)?|#[a-z0-9-]*|data:,|"
    r"\?budget=[0-9%F]+"
)
"""Relative and made of slugs, a row of the same page, no icon, or a budget."""
RECORDS = ("store", "scores", "diagnosis")


@pytest.fixture(
    scope="module",
    params=[False, pytest.param(True, marks=pytest.mark.slow)],
    ids=["served", "bundled"],
)
def pages(request: pytest.FixtureRequest, hostile: Path) -> dict[str, str]:
    site = Site(Library([hostile]), bundled=request.param, seconds=20.0)
    assert [entry.place for entry in site.library.unreadable] == ["library/bad <b>.json"]
    pages = {}
    for address in all_addresses(site, PAGES):
        assert re.fullmatch(r"[a-z0-9-]+(/[a-z0-9-]+)*\.(html|json)", address), address
        status, text = show(site, PAGES, address, {})
        assert status == 200 or not address.startswith(RECORDS), (address, text)
        if address.endswith(".html"):
            pages[address] = text
    return pages


def test_no_elements_and_no_links_come_of_it(pages: dict[str, str]) -> None:
    for address, text in pages.items():
        tree = Tree(text)
        assert {element.name for element in tree.elements} <= ELEMENTS, address
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
        assert {character for character in text if not character.isprintable()} == {"\n"}, address


def test_the_data_is_json_without_markup(pages: dict[str, str]) -> None:
    """The characters of the attack are there, visible, and end no element."""
    seen = 0
    for address, text in pages.items():
        for script in Tree(text).named("script"):
            if script.attributes.get("type") != "application/json":
                assert script.text == ""
                continue
            assert not set("<>&") & set(script.text), address
            data = json.dumps(json.loads(script.text), ensure_ascii=False)
            assert all(character.isprintable() for character in data), address
            seen += 1
    assert seen > 40


def test_attacks_can_be_read(pages: dict[str, str]) -> None:
    """In the text fields of packages and of every kind of record."""
    texts = {
        kind: "\n".join(
            Tree(text).text
            for address, text in pages.items()
            if address.startswith(kind) or address.endswith(kind)
        )
        for kind in (*RECORDS, "stream.html")
    }
    for text in (
        "<script>alert(1)</script>",
        "javascript:alert(1)",
        r"\u202egnp.exe\u2066",
        "../../../etc/passwd",
        "{{ 7*7 }} ${7*7} <%= 7 %>",
    ):
        for kind, fields in (
            ("stream.html", ("memory", "said", "speaker")),
            ("store", ("memory", "made")),
            ("scores", ("what", "asked", "advice")),
            ("diagnosis", ("asked", "gold", "said", "memory", "kind")),
        ):
            for field in fields:
                assert f"{field} {text}" in texts[kind], (kind, field)


def test_no_template_or_script_declares_anything_safe() -> None:
    folder = Path(explorer.__path__[0])
    for path in [*folder.rglob("*.html"), *folder.rglob("*.py")]:
        text = path.read_text()
        assert not re.search(r"\|\s*safe\b|Markup\(|autoescape\s+false|autoescape=False", text), (
            path
        )
        assert not re.search(r"<[^>]*\s(on[a-z]+|style)=", text), path
    wrong = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|https?:"
    for path in folder.rglob("*.js"):
        allowed = {"http:"} if path.name == "common.js" else set()
        assert set(re.findall(wrong, path.read_text())) <= allowed, path

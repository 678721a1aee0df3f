"""Attacks in every field of records are text on every page, served and bundled."""

import re
from pathlib import Path
from urllib.parse import unquote, urljoin

import pytest

from memaudit.web.explorer.library.library import Library
from memaudit.web.explorer.pages.registry import PAGES
from memaudit.web.explorer.site import Site, all_addresses, show
from tests.report.html_tree import Tree
from tests.web.explorer.test_injection import ELEMENTS

MORE = {"rect", "g", "br"}
KIND = "run|package|certificate|store|scores|frame|diagnosis"
LINKS = re.compile(
    rf"(\.\./)*(({KIND})/[a-z0-9/-]+\.(html|json)|(index|search)\.html|static/[a-z_]+\.(js|css))?"
    r"(#[a-z0-9-]*)?|data:,"
)


@pytest.fixture(scope="module", params=[False, True], ids=["served", "bundled"])
def pages(request: pytest.FixtureRequest, hostile: Path) -> dict[str, str]:
    site = Site(Library([hostile]), bundled=request.param)
    assert site.library.unreadable == ()
    found = {}
    for address in all_addresses(site, PAGES):
        status, found[address] = show(site, PAGES, address, {})
        assert status == 200, (address, found[address])
    return found


def test_no_elements_and_no_links_come_of_it(pages: dict[str, str]) -> None:
    for address, text in pages.items():
        tree = Tree(text)
        assert {one.name for one in tree.elements} <= ELEMENTS | MORE, address
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


def test_attacks_can_be_read(pages: dict[str, str]) -> None:
    """In a text field of every kind of record."""
    said = {
        kind: "\n".join(Tree(text).text for address, text in pages.items()
                        if address.startswith(kind))
        for kind in ("store", "scores", "frame", "diagnosis")
    }  # fmt: skip
    for text in ("<script>alert(1)</script>", "javascript:alert(1)", r"\u202egnp.exe\u2066",
                 "../../../etc/passwd", "{{ 7*7 }} ${7*7} <%= 7 %>"):  # fmt: skip
        assert f"memory {text}" in said["store"]
        assert f"made {text}" in said["store"]
        assert f"what {text}" in said["scores"]
        assert f"asked {text}" in said["scores"]
        assert f"advice {text}" in said["scores"]
        assert text in said["frame"]
        for field in ("asked", "gold", "said", "memory", "kind"):
            assert f"{field} {text}" in said["diagnosis"], field


def test_links_lead_to_pages_and_rows(bundle: Path, hostile_bundle: Path) -> None:
    """Every link and every row that it names is in the bundle; ids are unique."""
    for folder in (bundle, hostile_bundle):
        trees = {
            str(path.relative_to(folder)): Tree(path.read_text()) for path in folder.rglob("*.html")
        }
        ids = {
            name: [one.attributes["id"] for one in tree.elements if "id" in one.attributes]
            for name, tree in trees.items()
        }
        assert all(len(found) == len(set(found)) for found in ids.values())
        for name, tree in trees.items():
            for element in tree.elements:
                link = element.attributes.get("href") or element.attributes.get("src")
                if link is None or link == "data:,":
                    continue
                whole = urljoin(f"http://x/{name}", link).removeprefix("http://x/")
                address, _, row = whole.partition("#")
                assert (folder / unquote(address)).is_file(), (name, link)
                if row:
                    assert row in ids[address], (name, link)

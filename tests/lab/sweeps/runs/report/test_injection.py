"""Every text of a package and a run is shown as text; none of it becomes part of the page."""

import re
from pathlib import Path

import memaudit.show as page_package
from memaudit.show.page_numbers import visible_text
from tests.lab.sweeps.runs.report.conftest import SHOWN
from tests.show.html_tree import Tree, assert_sound


def test_attacks_make_no_elements_and_no_attributes(hostile_page: str) -> None:
    assert_sound(hostile_page)


def test_attacks_are_readable_where_they_belong(hostile_page: str) -> None:
    tree = Tree(hostile_page)
    (h1,) = tree.named("h1")
    assert h1.text == f"title {SHOWN}"
    for place in ("kind1", "sort1"):
        assert re.search(rf"{place}\d </style>", tree.text), place
    assert SHOWN in tree.text
    assert "49" not in h1.text, "a template ran inside a text"


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

"""Nothing in a package can steer the terminal."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from memaudit.cli.terminal import safe, safe_markup


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\u202eb\u2066c", r"a\u202eb\u2066c"),
        ("a\nb\r\t", r"a\nb\r\t"),
        ("\x9b2J", r"\x9b2J"),
        ("\u2028", r"\u2028"),
        ("née 東京", "née 東京"),
        ("\x00\x7f", r"\x00\x7f"),
    ],
)
def test_controls_are_written_out(text: str, shown: str) -> None:
    assert safe(text) == shown


@given(st.text())
def test_nothing_unprintable_is_left(text: str) -> None:
    assert safe(text).isprintable()


@pytest.mark.parametrize("text", ["[red]x[/red]", "[link=http://a]b[/link]", "\\[bold]", "x\\y"])
def test_rich_markup_is_shown_not_obeyed(text: str) -> None:
    out = io.StringIO()
    Console(file=out, width=200).print(safe_markup(text), highlight=False)
    assert out.getvalue() == f"{safe(text)}\n"

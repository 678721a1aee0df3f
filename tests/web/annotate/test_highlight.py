"""Shared words, and letters that nobody would see."""

from hypothesis import given
from hypothesis import strategies as st

from memaudit.web.annotate.labelling import Piece, compared


def marked(pieces: list[Piece], mark: str) -> list[str]:
    return [text for text, found in pieces if found == mark]


def test_shared_and_quoted() -> None:
    """Endings, numbers in words and case do not matter; words of grammar never count."""
    memory, unit, quote = compared(
        "She was painting two Lakes in Turku.", "Mara painted 2 lakes.", "off to Turku, to paint"
    )
    assert marked(memory, "shared") == ["painting", "two", "Lakes"]
    assert marked(memory, "quoted") == ["Turku"]
    assert marked(unit, "shared") == ["painted", "2", "lakes"]
    assert marked(unit, "quoted") == []
    assert marked(quote, "shared") == ["paint"]
    assert marked(quote, "quoted") == ["Turku"]


def test_nothing_in_common() -> None:
    """One plain piece; none for no text."""
    assert compared("It was in the house.", "This is for us.", "") == (
        [("It was in the house.", "")], [("This is for us.", "")], [],
    )  # fmt: skip


def test_hidden_letters_are_seen() -> None:
    """Bidirectional overrides, zero widths and controls, apart from text that spells them."""
    memory, _, _ = compared("a\u202eb \\u202e\x1b[0m\u200b\r\nc", "", "")
    assert marked(memory, "escape") == ["\\u202e", "\\x1b", "\\u200b"]
    assert "".join(text for text, _ in memory) == "a\\u202eb \\u202e\\x1b[0m\\u200b\nc"


@given(st.text(), st.text(), st.text())
def test_pieces_are_the_text(memory: str, unit: str, quote: str) -> None:
    """Every letter is there once, in order; all but line ends are printable."""
    for text, pieces in zip((memory, unit, quote), compared(memory, unit, quote), strict=True):
        plain = [shown for shown, mark in pieces if mark != "escape"]
        kept = [letter for letter in text.replace("\r\n", "\n")
                if letter.isprintable() or letter == "\n"]  # fmt: skip
        assert "".join(plain) == "".join(kept)
        assert all(shown.replace("\n", "").isprintable() and shown for shown, _ in pieces)

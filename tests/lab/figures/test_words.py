"""Texts are made harmless and cut to the room there is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.lab.figures.style import (
    fitted,
    fitted_name,
    inches,
    shown,
    wrapped,
    writer_label,
)


def test_shown() -> None:
    """Whitespace is one space; what cannot be drawn has a sign; marks do not pile up."""
    assert shown("a\n\tb  c") == "a b c"
    assert shown("\x1b[31m\u202e") == "\ufffd[31m\ufffd"
    assert shown("日本") == "□□"
    assert shown("e" + "\u0301" * 50) == "é\u0301"
    assert len(shown("x" * 10_000)) == 400


@given(st.text(max_size=60), st.floats(0.3, 3))
@pytest.mark.slow
def test_fitted(text: str, room: float) -> None:
    """Never wider than the room; unchanged where it fits."""
    for cut in (fitted(text, room, 8), fitted_name(text, room, 8)):
        assert inches(cut, 8) <= room
        if inches(shown(text), 8) <= room:
            assert cut == shown(text)
        else:
            assert "…" in cut


def test_names_keep_their_ends() -> None:
    """Prose loses its end, a name its middle."""
    text = "estimated_writer_number_17"
    assert fitted(text, 1.0, 8).startswith("estimated_wr")
    assert fitted(text, 1.0, 8).endswith("…")
    assert fitted_name(text, 1.0, 8).startswith("estim")
    assert fitted_name(text, 1.0, 8).endswith("_17")


@given(st.text(alphabet="ab c", max_size=80), st.integers(1, 4))
def test_wrapped(text: str, most: int) -> None:
    """At most so many lines, each within the room; all words where nothing is cut."""
    lines = wrapped(text, 1.0, 8, most)
    assert len(lines) <= most
    assert all(inches(line, 8) <= 1.0 for line in lines)
    if not any("…" in line for line in lines):
        assert " ".join(lines).split() == text.split()


def test_writer_label() -> None:
    """The registry's label, else the name itself."""
    assert writer_label("gvt") == "GVT"
    assert writer_label("un\x00known") == "un\ufffdknown"

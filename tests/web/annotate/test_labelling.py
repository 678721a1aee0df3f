"""The desk: where it goes next, and what it says of a cell."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.core.errors import MemAuditError
from memaudit.web.annotate.label_database import LabelDatabase
from memaudit.web.annotate.labelling import (
    RECENT,
    LabellingSession,
    PageState,
    Piece,
    RefusedRequest,
    cells_per_minute,
    checked_name,
    compared,
    frame_digest,
)
from tests.web.annotate.small_frames import frame_of

CELLS = frame_of(4).cells


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[LabellingSession]:
    store = LabelDatabase(tmp_path / "labels.sqlite", frame_digest(CELLS), len(CELLS))
    yield LabellingSession(CELLS, store, "ann")
    store.close()


def position(view: PageState) -> int | None:
    return view["cell"] and view["cell"]["position"]


def test_on_to_the_next_unlabelled(desk: LabellingSession) -> None:
    assert position(desk.resume()) == 1
    assert position(desk.decide(3, "none", "")) == 4
    assert position(desk.decide(4, "none", "")) == 1
    assert position(desk.resume()) == 1
    assert position(desk.decide(2, "full", "")) == 1
    view = desk.decide(1, "full", "")
    assert view["cell"] is None
    assert (view["progress"]["done"], view["progress"]["total"]) == (4, 4)
    assert position(desk.resume()) == 4
    assert position(desk.unlabelled(2)) is None
    assert position(desk.undo()) == 1


def test_resume_after_the_last_decision(desk: LabellingSession) -> None:
    desk.decide(3, "none", "")
    assert position(desk.resume()) == 4


def test_moving_stays_inside(desk: LabellingSession) -> None:
    assert [position(desk.at(place)) for place in (0, 1, 4, 99)] == [1, 1, 4, 4]
    for place in (0, 5, -1):
        with pytest.raises(RefusedRequest, match=f"no cell {place}"):
            desk.decide(place, "full", "")
    assert desk.labels().labels == {}


def test_notes(desk: LabellingSession) -> None:
    view = desk.note(2, "hm", finished=True)
    assert view["cell"] is not None
    assert (view["cell"]["note"], view["cell"]["is_draft"]) == ("hm", True)
    assert desk.labels().notes == {}
    desk.decide(2, "full", "hm")
    desk.note(2, "hm, ye", finished=False)
    assert desk.labels().notes == {"c0002": "hm"}
    view = desk.note(2, "hm, yes", finished=True)
    assert view["cell"] is not None
    assert (view["cell"]["note"], view["cell"]["is_draft"]) == ("hm, yes", False)
    assert desk.labels().notes == {"c0002": "hm, yes"}
    desk.undo()
    assert desk.labels().labels == {"c0002": "full"}
    assert desk.labels().notes == {"c0002": "hm"}


def test_a_cell_is_shown_blindly(desk: LabellingSession) -> None:
    view = desk.at(1)
    assert view["cell"] is not None
    assert sorted(view["cell"]) == [
        "is_draft", "label", "memory", "note", "position", "quote", "unit",
    ]  # fmt: skip


def test_the_digest_names_the_cells() -> None:
    other = replace(CELLS[0], quote="another quote")
    digests = {
        frame_digest(cells)
        for cells in (CELLS, CELLS[:3], CELLS[::-1], (other, *CELLS[1:]), tuple(CELLS))
    }
    assert len(digests) == 4


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\u202eb", "x" * 101])
def test_names(name: str) -> None:
    with pytest.raises(MemAuditError, match="an annotator's name is 1 to 100 printable characters"):
        checked_name(name)
    assert checked_name(" Ann B. ") == "Ann B."


def marked(pieces: list[Piece], mark: str) -> list[str]:
    return [text for text, found in pieces if found == mark]


def test_shared_and_quoted() -> None:
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
    assert compared("It was in the house.", "This is for us.", "") == (
        [("It was in the house.", "")], [("This is for us.", "")], [],
    )  # fmt: skip


def test_hidden_letters_are_seen() -> None:
    memory, _, _ = compared("a\u202eb \\u202e\x1b[0m\u200b\r\nc", "", "")
    assert marked(memory, "escape") == ["\\u202e", "\\x1b", "\\u200b"]
    assert "".join(text for text, _ in memory) == "a\\u202eb \\u202e\\x1b[0m\\u200b\nc"


@given(st.text(), st.text(), st.text())
def test_pieces_are_the_text(memory: str, unit: str, quote: str) -> None:
    for text, pieces in zip((memory, unit, quote), compared(memory, unit, quote), strict=True):
        plain = [shown for shown, mark in pieces if mark != "escape"]
        kept = [letter for letter in text.replace("\r\n", "\n")
                if letter.isprintable() or letter == "\n"]  # fmt: skip
        assert "".join(plain) == "".join(kept)
        assert all(shown.replace("\n", "").isprintable() and shown for shown, _ in pieces)


def at(*seconds: float) -> list[str]:
    return [f"2026-05-01T{12 + int(s // 3600):02}:{int(s // 60) % 60:02}:{s % 60:06.3f}+00:00"
            for s in seconds]  # fmt: skip


def test_unknown_at_first() -> None:
    assert cells_per_minute([]) is None
    assert cells_per_minute(at(5)) is None
    assert cells_per_minute(at(5, 5)) is None


def test_the_mean_gap() -> None:
    """Gaps of 4, 8 and 3 seconds: 3 in 15 seconds, 12 a minute."""
    assert cells_per_minute(at(0, 4, 12, 15)) == 12


def test_breaks_do_not_count() -> None:
    """Ten minutes away leave gaps of 4 and 8: 10 a minute. So does a clock set back."""
    assert cells_per_minute(at(0, 4, 604, 612)) == 10
    assert cells_per_minute(at(100, 104, 50, 58)) == 10


def test_only_the_last_count() -> None:
    """A slow beginning is forgotten: 40 gaps of 2 seconds, 30 a minute."""
    slow = [100.0 * number for number in range(10)]
    fast = [1000 + 2.0 * number for number in range(RECENT + 1)]
    assert cells_per_minute(at(*slow, *fast)) == 30

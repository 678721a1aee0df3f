"""A labelling session: the next cell, what is shown of it, and notes."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.labels.annotate.labelling import (
    LabelDatabase,
    LabellingSession,
    PageState,
    Piece,
    RefusedRequest,
    checked_name,
    compared,
    frame_digest,
)
from tests.lab.labels.annotate.small_frames import frame_of, frame_with_parts

CELLS = frame_of(4).cells


@pytest.fixture
def session(tmp_path: Path) -> Iterator[LabellingSession]:
    store = LabelDatabase(tmp_path / "labels.sqlite", frame_digest(CELLS), len(CELLS))
    yield LabellingSession(CELLS, store, "ann")
    store.close()


def position(view: PageState) -> int | None:
    return view["cell"] and view["cell"]["position"]


def test_on_to_the_next_unlabelled(session: LabellingSession) -> None:
    assert position(session.resume()) == 1
    assert position(session.decide(3, "none", "")) == 4
    assert position(session.decide(4, "none", "")) == 1
    assert position(session.resume()) == 1
    assert position(session.decide(2, "full", "")) == 1
    view = session.decide(1, "full", "")
    assert view["cell"] is None
    assert (view["progress"]["done"], view["progress"]["total"]) == (4, 4)
    assert position(session.resume()) == 4
    assert position(session.unlabelled(2)) is None
    assert position(session.undo()) == 1


def test_resume_after_the_last_decision(session: LabellingSession) -> None:
    session.decide(3, "none", "")
    assert position(session.resume()) == 4


def test_moving_stays_inside(session: LabellingSession) -> None:
    assert [position(session.at(place)) for place in (0, 1, 4, 99)] == [1, 1, 4, 4]
    for place in (0, 5, -1):
        with pytest.raises(RefusedRequest, match=f"no cell {place}"):
            session.decide(place, "full", "")
    assert session.labels().labels == {}


def test_notes(session: LabellingSession) -> None:
    view = session.note(2, "hm", finished=True)
    assert view["cell"] is not None
    assert (view["cell"]["note"], view["cell"]["is_draft"]) == ("hm", True)
    assert session.labels().notes == {}
    session.decide(2, "full", "hm")
    session.note(2, "hm, ye", finished=False)
    assert session.labels().notes == {"c0002": "hm"}
    view = session.note(2, "hm, yes", finished=True)
    assert view["cell"] is not None
    assert (view["cell"]["note"], view["cell"]["is_draft"]) == ("hm, yes", False)
    assert session.labels().notes == {"c0002": "hm, yes"}
    session.undo()
    assert session.labels().labels == {"c0002": "full"}
    assert session.labels().notes == {"c0002": "hm"}


def test_a_cell_is_shown_blindly(session: LabellingSession) -> None:
    view = session.at(1)
    assert view["cell"] is not None
    assert sorted(view["cell"]) == [
        "is_draft",
        "label",
        "memory",
        "note",
        "parts",
        "position",
        "quote",
        "unit",
    ]


def test_a_statement_with_parts(tmp_path: Path) -> None:
    """The label and the parts must say the same. A finished note keeps the parts."""
    cells = frame_with_parts().cells
    with closing(LabelDatabase(tmp_path / "l.sqlite", frame_digest(cells), 3)) as database:
        session = LabellingSession(cells, database, "ann")
        for label, kept, message in (
            ("partial", None, "does not say which parts: what, who, when"),
            ("partial", ["who"], "keeps parts without the core, 'what'"),
            ("full", ["what"], "is full, and its parts say partial"),
            ("partial", ["what", "x"], "unknown part 'x'"),
        ):
            with pytest.raises(RefusedRequest, match=message):
                session.decide(2, label, "", kept)  # type: ignore[arg-type]
        with pytest.raises(RefusedRequest, match="this unit has no parts"):
            session.decide(1, "full", "", ["what"])
        session.decide(2, "partial", "", ["what", "when"])
        session.note(2, "hm", finished=True)
        session.decide(1, "none", "")
        assert session.labels().kept == {"c0002": {"what", "when"}}
        view = session.at(2)
        assert view["cell"] is not None
        assert [part["kept"] for part in view["cell"]["parts"]] == [True, False, True]
    assert frame_digest(cells) != frame_digest(frame_of(3).cells)
    pinned = "9777d30cf4a350b127982f02e49ef17372616abe72bc2200fc8029286278a8ec"
    assert frame_digest(frame_of(3).cells) == pinned


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
        [("It was in the house.", "")],
        [("This is for us.", "")],
        [],
    )


def test_hidden_letters_are_seen() -> None:
    memory, _, _ = compared("a\u202eb \\u202e\x1b[0m\u200b\r\nc", "", "")
    assert marked(memory, "escape") == ["\\u202e", "\\x1b", "\\u200b"]
    assert "".join(text for text, _ in memory) == "a\\u202eb \\u202e\\x1b[0m\\u200b\nc"


@given(st.text(), st.text(), st.text())
def test_pieces_are_the_text(memory: str, unit: str, quote: str) -> None:
    for text, pieces in zip((memory, unit, quote), compared(memory, unit, quote), strict=True):
        plain = [shown for shown, mark in pieces if mark != "escape"]
        kept = [
            letter
            for letter in text.replace("\r\n", "\n")
            if letter.isprintable() or letter == "\n"
        ]
        assert "".join(plain) == "".join(kept)
        assert all(shown.replace("\n", "").isprintable() and shown for shown, _ in pieces)

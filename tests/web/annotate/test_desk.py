"""The desk: where it goes next, and what it says of a cell."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.web.annotate.label_database import Decisions
from memaudit.web.annotate.labelling import Desk, Refused, View, checked_name, frame_digest
from tests.web.annotate.frames import frame_of

CELLS = frame_of(4).cells


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    store = Decisions(tmp_path / "labels.sqlite", frame_digest(CELLS), len(CELLS))
    yield Desk(CELLS, store, "ann")
    store.close()


def position(view: View) -> int | None:
    return view["cell"] and view["cell"]["position"]


def test_on_to_the_next_unlabelled(desk: Desk) -> None:
    """Past labelled cells, round the end, until none is left."""
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


def test_resume_after_the_last_decision(desk: Desk) -> None:
    """Not at a cell that was passed over before."""
    desk.decide(3, "none", "")
    assert position(desk.resume()) == 4


def test_moving_stays_inside(desk: Desk) -> None:
    """Beyond the ends is the end; a decision beyond them is refused."""
    assert [position(desk.at(place)) for place in (0, 1, 4, 99)] == [1, 1, 4, 4]
    for place in (0, 5, -1):
        with pytest.raises(Refused, match=f"no cell {place}"):
            desk.decide(place, "full", "")
    assert desk.labels().labels == {}


def test_notes(desk: Desk) -> None:
    """A draft until the label; then a finished note is a decision of its own to undo."""
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


def test_a_cell_is_shown_blindly(desk: Desk) -> None:
    """Texts, position, own label and note; nothing else has a place."""
    view = desk.at(1)
    assert view["cell"] is not None
    assert sorted(view["cell"]) == [
        "is_draft", "label", "memory", "note", "position", "quote", "unit",
    ]  # fmt: skip


def test_the_digest_names_the_cells() -> None:
    """Order, ids and texts make a frame."""
    other = replace(CELLS[0], quote="another quote")
    digests = {
        frame_digest(cells)
        for cells in (CELLS, CELLS[:3], CELLS[::-1], (other, *CELLS[1:]), tuple(CELLS))
    }
    assert len(digests) == 4


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\u202eb", "x" * 101])
def test_names(name: str) -> None:
    """One printable line."""
    with pytest.raises(MemAuditError, match="an annotator's name is 1 to 100 printable letters"):
        checked_name(name)
    assert checked_name(" Ann B. ") == "Ann B."

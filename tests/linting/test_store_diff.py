"""Two stores compared: what was added, changed and removed, and units gained and lost."""

from fractions import Fraction as F
from pathlib import Path

from memaudit.linting.store_diff import diff_data, store_diff
from tests.linting.stores import memory, store
from tests.linting.test_lint import SAID, labelled, subject


def test_memories() -> None:
    """By id and text, by text alone, by content; what is left was added or removed."""
    before = store(
        memory("a", "Likes green tea"),
        memory("b", "Lives in Leeds"),
        memory("c", "Owns a sailing boat"),
        memory("d", "User works night shifts at the harbour clinic"),
        memory("e", "Plays chess"),
        memory("f", "Node version of the project is 20 LTS"),
    )
    after = store(
        memory("a", "Likes green tea."),
        memory("b", "Lives in Bristol"),
        memory("z", "Owns a sailing boat"),
        memory("y", "The user works night shifts at the harbour clinic, always"),
        memory("x", "Mail: ann@example.org"),
        memory("w", "Node version of the project is 22 LTS"),
    )
    found = store_diff(before, after)
    assert found.unchanged == 2
    assert [(one.before.id, one.after.id, one.how) for one in found.changed] == [
        ("b", "b", "same id"),
        ("d", "y", "same content"),
        ("f", "w", "edited"),
    ]
    assert [one.id for one in found.removed] == ["e"]
    data = diff_data(found)
    assert data["added"] == [{"id": "x", "text": "Mail: a***@example.org"}]
    assert data["costs"] == [28, 30]


def test_units(tmp_path: Path) -> None:
    """m5 was deleted: Bristol is lost, and with it 1 of the value."""
    earlier = store(*(one.model_copy(update={"state": "active"}) for one in SAID.memories))
    found = store_diff(earlier, SAID, subject(), labelled(tmp_path))
    assert [unit.unit for unit in found.lost] == ["u3"]
    assert found.gained == []
    assert found.values == (F(7, 2), F(5, 2))
    assert [one.id for one in found.removed] == ["m5"]

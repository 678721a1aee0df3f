"""The common shape refuses what does not hold together."""

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.datasets.conversation import Conversation, Question, Representation, Session, Turn


def session(id: str, index: int, timestamp: str | None, *turns: str) -> Session:
    rows = [Turn(turn, id, place, "a", "user", "x") for place, turn in enumerate(turns)]
    return Session(id, index, timestamp, tuple(rows))


ONE = session("s", 0, "2024-02-01", "t1")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"sessions": (ONE, session("r", 1, None, "t1"))}, "two turns with id 't1'"),
        ({"sessions": (ONE, session("s", 1, None))}, "two sessions with id 's'"),
        ({"questions": (Question("q", "?", None, "k"),) * 2}, "two questions with id 'q'"),
        ({"questions": (Question("q", "?", None, "k", ("t2",)),)}, "the unknown turn 't2'"),
        ({"questions": (Question("q", "?", None, "k", (), ("r",)),)}, "the unknown session 'r'"),
        ({"representations": (Representation("o", "k", "x", sources=("t9",)),)}, "turn 't9'"),
    ],
)
def test_what_does_not_hold_together(parts: dict[str, tuple[object, ...]], message: str) -> None:
    with pytest.raises(MemAuditError, match=message):
        Conversation("c", **{"sessions": (ONE,), **parts})  # type: ignore[arg-type]


def test_time_order() -> None:
    """By time where every session has one; ties and missing times keep the file's order."""
    late, same, early = ONE, session("b", 1, "2024-02-01"), session("c", 2, "2024-01-31T23:00")
    talk = Conversation("c", (late, same, early))
    assert [one.id for one in talk.in_time_order] == ["c", "s", "b"]
    assert not talk.is_in_time_order
    assert Conversation("c", (late, same)).is_in_time_order
    untimed = Conversation("c", (late, session("n", 1, None), early))
    assert [one.id for one in untimed.in_time_order] == ["s", "n", "c"]
    assert not untimed.is_in_time_order

"""HaluMem and BEAM, on small files in their published layouts."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.building.annotations import AnnotationRecipe, build_package
from memaudit.conversations.conversation import Conversation, MemoryPoint, Question
from memaudit.conversations.registry import read_conversations
from memaudit.kernel.errors import MemAuditError
from tests.conversations.files import FIXTURES, kinds, load


def test_halumem_user() -> None:
    loaded = load("halumem")[0]
    user = loaded.conversation
    assert loaded.irregularities == ()
    assert [(one.id, one.timestamp) for one in user.sessions] == [
        ("session-1", "2025-01-06T09:00:00"),
        ("session-2", "2025-03-14T12:10:00"),
    ]
    assert [(turn.id, turn.role, turn.text) for turn in user.sessions[1].turns] == [
        ("session-2:1", "user", "I eat fish now."),
        ("session-2:2", "assistant", "Noted."),
    ]


def test_halumem_points() -> None:
    """All that the file says of a point is kept; none is a representation, which writers see."""
    user = load("halumem")[0].conversation
    assert user.representations == ()
    eats, bees, fish = user.memory_points
    assert fish == MemoryPoint(
        "session-2/point-1",
        "session-2",
        "Ada eats fish.",
        "Persona Memory",
        "secondary",
        0.9,
        True,
        ("Ada eats vegetarian.",),
        "2025-03-14T12:40:00",
    )
    assert (eats.source, eats.importance, eats.is_update) == ("primary", 0.75, False)
    assert (bees.id, bees.source, bees.importance) == ("session-1/point-2", "interference", 0.0)


def test_halumem_questions() -> None:
    """Evidence is points, and the sessions that they belong to; asked when a session has ended."""
    first, unknown, update = load("halumem")[0].conversation.questions
    assert (first.id, first.kind, first.asked_at) == (
        "q1",
        "Basic Fact Recall",
        "2025-01-06T09:20:00",
    )
    assert (first.evidence, first.evidence_points) == ((), ("session-1/point-1",))
    assert (unknown.abstention, unknown.references) == (True, 0)
    assert update.evidence_points == ("session-2/point-1", "session-1/point-1")
    assert update.evidence_sessions == ("session-2", "session-1")


def test_halumem_irregularities() -> None:
    """Two points of one text and kind: which is meant is not guessed."""
    second = load("halumem")[1]
    assert kinds([second]) == {
        "repeated id": 2,
        "time not understood": 2,
        "wrong type": 2,
        "unknown category": 1,
        "ambiguous reference": 1,
        "reference to nothing": 1,
        "empty session": 1,
        "empty text": 1,
        "no evidence": 1,
        "number for text": 1,
        "sessions out of order": 1,
        "unknown speaker": 1,
    }
    points = second.conversation.memory_points
    assert [(one.id, one.source, one.importance) for one in points] == [
        ("session-1/point-1", "unknown", None),
        ("session-1/point-1#2", "primary", 0.5),
    ]
    assert second.conversation.questions[0].asked_at is None


def test_a_point_of_the_own_session_is_meant(tmp_path: Path) -> None:
    """The same text in two sessions: the question's own session states it."""
    data = json.loads(FIXTURES["halumem"].read_text().splitlines()[0])
    again = {**data["sessions"][0]["memory_points"][0], "index": 2}
    data["sessions"][1]["memory_points"].append(again)
    (tmp_path / "h.json").write_text(json.dumps(data))
    (loaded,) = read_conversations(tmp_path / "h.json")
    first, _, update = loaded.conversation.questions
    assert first.evidence_points == ("session-1/point-1",)
    assert update.evidence_points == ("session-2/point-1", "session-2/point-2")


def test_a_build_shows_no_points() -> None:
    """Neither candidates nor experiences are made of memory points, which are labels."""
    package = build_package(load("halumem")[0], AnnotationRecipe("halumem")).package
    texts = [one.text for one in package.candidates] + [one.text for one in package.experiences]
    assert not any("Ada eats" in (text or "") for text in texts)


def test_points_become_units() -> None:
    """Importance is the weight; what is updated later is stale; what nobody should write weighs
    nothing; questions require the points they cite."""
    package = build_package(load("halumem")[0], AnnotationRecipe("halumem")).package
    assert {unit.text: (unit.kind, package.weights[unit.id]) for unit in package.units} == {
        "Ada eats vegetarian.": ("stale", Fraction(3, 4)),
        "Ada keeps bees.": ("interference", 0),
        "Ada eats fish.": ("current", Fraction(9, 10)),
    }
    assert [query.required for query in package.queries] == [
        ("session-1/point-1",),
        (),
        ("session-2/point-1", "session-1/point-1"),
    ]


def test_points_must_hold_together() -> None:
    point = MemoryPoint("p", "s", "x", "k", "primary")
    with pytest.raises(MemAuditError, match="'p' in 'c' points to the unknown session 's'"):
        Conversation("c", (), memory_points=(point,))
    with pytest.raises(MemAuditError, match="'q' in 'c' cites the unknown memory point 'p'"):
        Conversation("c", (), (Question("q", "?", None, "k", evidence_points=("p",)),))


def test_beam_chat() -> None:
    talk = load("beam")[0].conversation
    assert [(one.id, one.timestamp, len(one.turns)) for one in talk.sessions] == [
        ("batch-1", "2025-01-06", 2),
        ("batch-2", "2025-03-14", 4),
    ]
    assert [turn.id for turn in talk.turns] == ["0", "1", "2", "3", "4", "4#2"]
    assert {turn.timestamp for turn in talk.sessions[1].turns} == {"2025-03-14"}
    assert next(talk.turns).text == "I eat vegetarian. ->-> 1,1"


def test_beam_questions() -> None:
    """Answers are in a field by kind; cited messages are a list, or lists by name."""
    questions = load("beam")[0].conversation.questions
    assert [(one.id, one.kind, one.answer) for one in questions] == [
        ("abstention-1", "abstention", "There is no information about wine."),
        ("knowledge_update-1", "knowledge-update", "Fish."),
        ("summarization-1", "summarization", "First vegetarian, then fish."),
        ("preference_following-1", "preference-following", "Suggests fish."),
        ("contradiction_resolution-1", "contradiction-resolution", "You said two things."),
    ]
    assert [one.evidence for one in questions] == [(), ("0", "2"), ("0", "1", "2", "3"), (), ("2",)]
    assert [one.references for one in questions] == [0, 2, 6, 0, 2]
    assert [one.abstention for one in questions] == [True] + [False] * 4
    assert questions[1].evidence_sessions == ("batch-1", "batch-2")


def test_beam_irregularities() -> None:
    first, second, third = load("beam")
    assert kinds([first]) == {
        "repeated id": 1,
        "repeated reference": 1,
        "reference to nothing": 1,
        "no evidence": 1,
        "ambiguous reference": 1,
    }
    assert kinds([second]) == {
        "empty session": 2,
        "wrong type": 1,
        "empty text": 1,
        "malformed reference": 1,
        "missing field": 1,
        "missing id": 1,
        "sessions out of order": 1,
        "time not understood": 1,
        "unknown category": 1,
        "unknown speaker": 1,
    }
    assert kinds([third]) == {"repeated id": 1, "wrong type": 1}
    assert [question.evidence for question in second.conversation.questions] == [("0", "5"), ("0",)]


@pytest.mark.parametrize(
    "text",
    ["(" * 9999, "open('x')", "{1, 2}", "[1]", "b'x'", "9" * 9999, "{'abstention': {1}}", "\0"],
)
def test_beam_questions_that_are_no_literal(text: str, tmp_path: Path) -> None:
    """Nothing is evaluated but a literal; anything else is said in one irregularity."""
    row = {"conversation_id": "1", "chat": [], "probing_questions": text}
    (tmp_path / "b.json").write_text(json.dumps([row]))
    (loaded,) = read_conversations(tmp_path / "b.json")
    assert kinds([loaded]) == {"wrong type": 1}


def test_beam_10m_has_plans_of_batches_of_turns(tmp_path: Path) -> None:
    """Plans in the order of their numbers; an id that two plans use is ambiguous as evidence."""

    def batch(*texts: str, first: int = 0, time: str | None = None) -> dict[str, object]:
        messages = [
            {"role": "user", "id": first + at, "content": text, "time_anchor": time}
            for at, text in enumerate(texts)
        ]
        return {"batch_number": 1, "turns": [messages[:1], messages[1:]]}

    item = {"plan-1": None, "plan-10": [batch("Last.", first=9)], "plan-2": None}
    chat = [
        item,
        {"plan-1": [batch("One.", "Two.", time="March-15-2024"), batch("Three.", first=2)]},
        {"plan-2": [batch("Other.", first=1)], "odd": 1},
        {"plan-2": ["no batch"], "plan-3": [{"turns": [1]}]},
    ]
    asked = {
        "information_extraction": [{"question": "?", "answer": "!", "source_chat_ids": [0, 1, 9]}]
    }
    row = {"conversation_id": "1", "chat": chat, "probing_questions": repr(asked), "plans": []}
    (tmp_path / "b.json").write_text(json.dumps([row]))
    (loaded,) = read_conversations(tmp_path / "b.json")
    talk = loaded.conversation
    found = [(one.id, one.timestamp, [turn.text for turn in one.turns]) for one in talk.sessions]
    assert found == [
        ("plan-1/batch-1", "2024-03-15", ["One.", "Two."]),
        ("plan-1/batch-2", None, ["Three."]),
        ("plan-2/batch-1", None, ["Other."]),
        ("plan-2/batch-2", None, []),
        ("plan-3/batch-1", None, []),
        ("plan-10/batch-1", None, ["Last."]),
    ]
    assert talk.questions[0].evidence == ("0", "9")
    assert kinds([loaded]) == {
        "ambiguous reference": 1,
        "empty session": 2,
        "repeated id": 1,
        "wrong type": 2,
    }

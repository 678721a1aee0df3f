"""LongMemEval: evidence by mark, abstention by id, and what the fixture gets wrong."""

from memaudit.datasets.irregularities import Irregularity
from tests.datasets.files import kinds, load


def test_a_plain_record() -> None:
    first, abstains = (loaded.conversation for loaded in load("longmemeval")[:2])
    assert [(one.id, one.index, one.timestamp) for one in first.sessions] == [
        ("s_old", 0, "2024-01-08T12:00"),
        ("s_new", 1, "2024-02-11T18:05"),
    ]
    assert [(turn.id, turn.role, turn.text) for turn in first.turns] == [
        ("s_old:1", "user", "I eat vegetarian."),
        ("s_old:2", "assistant", "Noted."),
        ("s_new:1", "user", "I eat fish now."),
    ]
    (question,) = first.questions
    assert (question.id, question.kind, question.answer) == (
        "q_plain", "knowledge-update", "Pescatarian ones",
    )  # fmt: skip
    assert question.evidence == ("s_old:1", "s_new:1")
    assert question.evidence_sessions == ("s_old", "s_new")
    assert (question.asked_at, question.abstention) == ("2024-03-01T09:30", False)
    assert abstains.questions[0].abstention
    assert kinds(load("longmemeval")[:2]) == {}


def test_every_irregularity_is_noted() -> None:
    """Repeated ids: of the question and of a session. Unknown fields: `comment`, and `mood` once
    though two turns have it. Wrong types: has_answer is text, a turn is text, an answer a list.
    """
    third, fourth = load("longmemeval")[2:]
    assert kinds([third]) == {
        "repeated id": 2, "unknown field": 2, "lists of different lengths": 1,
        "unknown speaker": 1, "broken character": 1, "wrong type": 2, "empty text": 1,
        "empty session": 1, "time not understood": 1, "ambiguous reference": 1,
        "reference to nothing": 1, "malformed reference": 1,
        "evidence outside the cited sessions": 1, "number for text": 1, "missing field": 1,
        "sessions out of order": 1,
    }  # fmt: skip
    assert kinds([fourth]) == {
        "missing id": 1, "repeated reference": 1, "session after the question": 1,
        "no evidence": 1, "wrong type": 1,
    }  # fmt: skip


def test_what_is_made_of_them() -> None:
    third, fourth = load("longmemeval")[2:]
    talk = third.conversation
    assert talk.id == "q_plain#2"
    assert [session.id for session in talk.sessions] == ["twice", "twice#2", "7"]
    assert [session.id for session in talk.in_time_order] == ["twice#2", "twice", "7"]
    (question,) = talk.questions
    assert (question.answer, question.evidence, question.evidence_sessions) == (
        "3.50", ("7:1",), (),
    )  # fmt: skip
    assert next(talk.turns).text == "Half \N{REPLACEMENT CHARACTER} of an emoji"
    assert fourth.conversation.questions[0].answer is None
    assert third.irregularities[0] == Irregularity(
        "q_plain#2", "question_id", "q_plain#2", "repeated id", "q_plain",
        "renamed with #2, #3, ...",
    )  # fmt: skip

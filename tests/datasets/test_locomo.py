"""LoCoMo: references repaired only where they can mean one thing."""

import pytest

from memaudit.datasets.fields import IdRegistry
from memaudit.datasets.locomo import repaired
from tests.datasets.files import kinds, load


@pytest.mark.parametrize(
    ("reference", "pieces"),
    [
        ("D1:2", [("D1:2", "")]),
        ("D8:6; D9:17, D4:4 D4:6", [("D8:6", ""), ("D9:17", ""), ("D4:4", ""), ("D4:6", "")]),
        ("D30:05", [("D30:5", "zero-padded reference")]),
        *((text, [(text, "malformed reference")]) for text in ("D:11:26", "D", "", "D0:1")),
        (" D1:1;", [("D1:1", "")]),
        ("odd id", [("odd id", "")]),  # it is one: some turn has it
    ],
)
def test_repairs(reference: str, pieces: list[tuple[str, str]]) -> None:
    ids = IdRegistry()
    ids.assign("odd id")
    assert repaired(reference, ids) == pieces


def test_turns_and_sessions() -> None:
    """Session 10 comes after session 2; captions stay apart from what was said."""
    (loaded,) = load("locomo")
    talk = loaded.conversation
    assert [(one.id, one.timestamp) for one in talk.sessions] == [
        ("session_1", "2023-05-08T13:56"),
        ("session_2", "2023-06-01T00:05"),
        ("session_10", "2023-05-31"),
    ]
    turns = list(talk.turns)
    assert [turn.id for turn in turns] == ["D1:1", "D1:2", "D2:1", "D2:2", "D2:2#2", "session_2:4"]
    assert [turn.role for turn in turns[:4]] == ["speaker_a", "speaker_b", "speaker_a", "unknown"]
    assert (turns[1].text, turns[1].caption) == ("Look at mine!", "a photo of a brown dog")
    assert turns[5].index == 3


def test_questions() -> None:
    questions = load("locomo")[0].conversation.questions
    assert [(one.id, one.kind, one.evidence) for one in questions] == [
        ("qa0", "single-hop", ("D1:1",)),
        ("qa1", "temporal", ("D1:1", "D2:1")),
        ("qa2", "multi-hop", ("D1:2",)),
        ("qa3", "open-domain", ()),
        ("qa4", "adversarial", ("D1:1",)),
        ("qa5", "adversarial", ("D2:1",)),
        ("qa6", "unknown", ()),
    ]
    assert [one.references for one in questions] == [1, 1, 4, 0, 2, 1, 3]
    assert [one.abstention for one in questions] == [False] * 4 + [True, False, False]
    assert (questions[4].answer, questions[4].adversarial_answer) == (None, "A dog")
    assert (questions[1].answer, questions[1].evidence_sessions) == (
        "2023", ("session_1", "session_2"),
    )  # fmt: skip


def test_representations() -> None:
    found = load("locomo")[0].conversation.representations
    assert [(one.id, one.speaker, one.session, one.sources) for one in found] == [
        ("session_1_observation:Ada:1", "Ada", "session_1", ("D1:1",)),
        ("session_1_observation:Bo:1", "Bo", "session_1", ("D1:2", "D1:1")),
        ("session_2_observation:Ada:1", "Ada", "session_2", ("D2:1", "D1:1")),
        ("session_1_summary", None, "session_1", ()),
        ("session_7_summary", None, None, ()),
        ("events_session_1:Ada:1", "Ada", "session_1", ()),
        ("events_session_2:Bo:1", "Bo", "session_2", ()),
    ]
    assert [one.kind for one in found] == (
        ["observation"] * 3 + ["session_summary"] * 2 + ["event_summary"] * 2
    )
    assert (found[5].timestamp, found[6].timestamp) == ("2023-05-08", None)


def test_every_irregularity_is_noted() -> None:
    """Two references in one: a question's and an observation's. Malformed: D, D:1:2, 12, a list.

    To nothing: D9:9 and a summary of no session.
    """
    assert kinds(load("locomo")) == {
        "date without a session": 1, "unknown field": 2, "unknown speaker": 1, "empty text": 1,
        "repeated id": 1, "missing id": 1, "empty session": 1, "several references in one": 2,
        "number for text": 1, "zero-padded reference": 1, "malformed reference": 4,
        "reference to nothing": 2, "no evidence": 1, "repeated reference": 1,
        "unknown category": 1, "ambiguous reference": 1, "wrong type": 1,
        "time not understood": 1, "sessions out of order": 1,
    }  # fmt: skip

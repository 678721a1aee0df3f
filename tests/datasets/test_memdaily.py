"""MemDaily: nested by type and scenario; steps are places in the stream."""

import json
from pathlib import Path

from memaudit.datasets.registry import read_conversations
from tests.datasets.files import FIXTURES, kinds, load


def test_a_plain_trajectory() -> None:
    loaded = load("memdaily")[0]
    talk = loaded.conversation
    assert (talk.id, talk.topic, loaded.irregularities) == ("simple/roles/0", "roles", ())
    assert [(turn.id, turn.timestamp, turn.place) for turn in talk.turns] == [
        ("0", "2024-04-01T08:39", "Lyon"),
        ("1", "2024-04-01T19:35", "Lyon"),
    ]
    (question,) = talk.questions
    assert (question.kind, question.answer, question.evidence) == ("simple", "44", ("1",))
    assert question.choices == (("A", "40"), ("B", "44  "))
    assert question.asked_at == "2024-04-05T11:59"


def test_every_irregularity_is_noted() -> None:
    _, noisy, late, failed = load("memdaily")
    assert kinds([noisy]) == {
        "repeated id": 1, "wrong type": 1, "repeated reference": 1, "reference to nothing": 1,
        "malformed reference": 1,
    }  # fmt: skip
    assert noisy.conversation.questions[0].evidence == ("0", "2")
    assert noisy.conversation.questions[0].answer == "My aunt"  # the right choice
    assert kinds([late]) == {
        "missing id": 1, "unknown field": 1, "number differs from place": 1,
        "time not understood": 1, "no evidence": 1, "answer differs from the right choice": 1,
    }  # fmt: skip
    assert kinds([failed]) == {"failed generation": 1, "empty session": 1}
    assert failed.conversation.questions == ()


def test_a_bare_list_of_trajectories(tmp_path: Path) -> None:
    rows = json.loads(FIXTURES["memdaily"].read_text())["simple"]["roles"]
    (tmp_path / "x.json").write_text(json.dumps(rows))
    first = read_conversations(tmp_path / "x.json")[0].conversation
    assert (first.id, first.topic, first.questions[0].kind) == ("0", None, "unknown")

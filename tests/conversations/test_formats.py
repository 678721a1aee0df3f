"""What is particular to each format, on its fixture; clear references are repaired."""

import json
import re
from pathlib import Path

import pytest

from memaudit.conversations.locomo import repaired
from memaudit.conversations.records import REMEDIES, IdRegistry, Irregularity
from memaudit.conversations.registry import LOADERS, guess_format, read_conversations
from memaudit.kernel.errors import MemAuditError
from tests.conversations.files import FIXTURES, kinds, load

PAGE = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text()


def test_the_example_of_the_page(tmp_path: Path) -> None:
    found = re.search(r"^```jsonl chat\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert found
    assert len(found[1].splitlines()) == 10
    (tmp_path / "chat.jsonl").write_text(found[1])
    assert guess_format(tmp_path / "chat.jsonl") == "chat"
    (loaded,) = read_conversations(tmp_path / "chat.jsonl")
    assert loaded.irregularities == ()
    talk = loaded.conversation
    sessions = [(session.id, len(session.turns)) for session in talk.sessions]
    assert sessions == [("monday", 2), ("friday", 2)]
    update, wine = talk.questions
    assert update.evidence == ("fish", "monday:1")
    assert update.evidence_sessions == ("friday", "monday")
    assert (wine.abstention, wine.answer) == (True, None)


def test_the_page_explains_every_irregularity_and_format() -> None:
    rows = dict(re.findall(r"^\| `([a-z-][a-z -]*)` \| [^|]+ \| ([^|]+) \|$", PAGE, re.MULTILINE))
    assert rows == REMEDIES
    assert re.findall(r"^### `([\w-]+)`", PAGE, re.MULTILINE) == list(LOADERS)


def test_a_chat_in_full() -> None:
    """Turn times beat session times and become UTC; a whole session can be evidence."""
    lunch, again, nameless = (loaded.conversation for loaded in load("chat"))
    fish, noted, second = lunch.turns
    assert (fish.id, fish.speaker, fish.role) == ("fish", "Ada", "user")
    assert (fish.timestamp, noted.timestamp) == ("2025-03-14T12:10:30", "2025-03-14T12:10")
    assert (noted.id, noted.role, second.id, second.speaker) == (
        "late:2",
        "assistant",
        "fish#2",
        "user",
    )
    assert (lunch.topic, again.id) == ("food", "lunch#2")
    first, *_ = lunch.questions
    assert (first.evidence, first.evidence_sessions) == (("late:2",), ("late", "early"))
    assert (first.kind, lunch.questions[1].evidence) == ("update", ())
    assert [session.id for session in again.sessions] == ["session-1"]
    assert nameless.questions[0].evidence == ("1",)


def test_chat_irregularities() -> None:
    assert kinds(load("chat")) == {
        "unknown field": 1,
        "repeated id": 2,
        "empty session": 1,
        "ambiguous reference": 1,
        "reference to nothing": 1,
        "time not understood": 1,
        "no evidence": 1,
        "number for text": 1,
        "missing id": 1,
        "sessions out of order": 1,
    }
    lost = [one for one in load("chat")[0].irregularities if one.what == "reference to nothing"]
    assert [(one.id, one.found) for one in lost] == [("line 10", "cod")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"text": "a"}\n{"say": "b"}', "c.jsonl:2: a row has exactly one of the keys"),
        ('{"text": "a"}\n{"text": "b", "question": "c"}', "this one has 'question' and 'text'"),
        ('{"text": "a"}\n[1]', "c.jsonl:2: is a list, expected one object per line"),
        ('{"text": "a"}\n{"text": "ä"', r"c.jsonl:2: .* \(at byte 27, or the file was cut off"),
        ('{"text": "a"}\n{"text": 1, "text": 2}\n', "c.jsonl:2: the key 'text' appears twice"),
        ('{"text": "a"}\n' + "[" * 9999, "c.jsonl:2: nests too deeply"),
        ("", "c.jsonl: is empty"),
    ],
)
def test_chat_bad_rows(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "c.jsonl").write_text(text)
    with pytest.raises(MemAuditError, match=message) as caught:
        read_conversations(tmp_path / "c.jsonl", "chat")
    assert len(str(caught.value).splitlines()) == 1


def test_chat_encodings(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_bytes(b'{"text": "a"}\n{"text": "\xff"}')
    with pytest.raises(MemAuditError, match=r"c.jsonl:2: is not UTF-8; .*at byte 24"):
        read_conversations(tmp_path / "c.jsonl", "chat")
    (tmp_path / "c.jsonl").write_bytes(b'\xef\xbb\xbf{"text": "a"}')
    for format in ("chat", None):
        assert len(read_conversations(tmp_path / "c.jsonl", format)) == 1


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
def test_locomo_repairs(reference: str, pieces: list[tuple[str, str]]) -> None:
    ids = IdRegistry()
    ids.assign("odd id")
    assert repaired(reference, ids) == pieces


def test_locomo_turns_and_sessions() -> None:
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


def test_locomo_questions() -> None:
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
        "2023",
        ("session_1", "session_2"),
    )


def test_locomo_representations() -> None:
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


def test_locomo_irregularities() -> None:
    """Two references in one: a question's and an observation's. Malformed: D, D:1:2, 12, a list.

    To nothing: D9:9 and a summary of no session.
    """
    assert kinds(load("locomo")) == {
        "date without a session": 1,
        "unknown speaker": 1,
        "empty text": 1,
        "repeated id": 1,
        "missing id": 1,
        "empty session": 1,
        "several references in one": 2,
        "number for text": 1,
        "zero-padded reference": 1,
        "malformed reference": 4,
        "reference to nothing": 2,
        "no evidence": 1,
        "repeated reference": 1,
        "unknown category": 1,
        "ambiguous reference": 1,
        "wrong type": 1,
        "time not understood": 1,
        "sessions out of order": 1,
    }


def test_longmemeval_record() -> None:
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
        "q_plain",
        "knowledge-update",
        "Pescatarian ones",
    )
    assert question.evidence == ("s_old:1", "s_new:1")
    assert question.evidence_sessions == ("s_old", "s_new")
    assert (question.asked_at, question.abstention) == ("2024-03-01T09:30", False)
    assert abstains.questions[0].abstention
    assert kinds(load("longmemeval")[:2]) == {}


def test_longmemeval_irregularities() -> None:
    """Repeated ids: of the question and of a session. Wrong types: has_answer is text, a turn is
    text, an answer a list.
    """
    third, fourth = load("longmemeval")[2:]
    assert kinds([third]) == {
        "repeated id": 2,
        "lists of different lengths": 1,
        "unknown speaker": 1,
        "broken character": 1,
        "wrong type": 2,
        "empty text": 1,
        "empty session": 1,
        "time not understood": 1,
        "ambiguous reference": 1,
        "reference to nothing": 1,
        "malformed reference": 1,
        "evidence outside the cited sessions": 1,
        "number for text": 1,
        "missing field": 1,
        "sessions out of order": 1,
    }
    assert kinds([fourth]) == {
        "missing id": 1,
        "repeated reference": 1,
        "session after the question": 1,
        "no evidence": 1,
        "wrong type": 1,
    }


def test_longmemeval_repairs() -> None:
    third, fourth = load("longmemeval")[2:]
    talk = third.conversation
    assert talk.id == "q_plain#2"
    assert [session.id for session in talk.sessions] == ["twice", "twice#2", "7"]
    assert [session.id for session in talk.in_time_order] == ["twice#2", "twice", "7"]
    (question,) = talk.questions
    assert (question.answer, question.evidence, question.evidence_sessions) == (
        "3.50",
        ("7:1",),
        (),
    )
    assert next(talk.turns).text == "Half \N{REPLACEMENT CHARACTER} of an emoji"
    assert fourth.conversation.questions[0].answer is None
    assert third.irregularities[0] == Irregularity(
        "q_plain#2",
        "question_id",
        "q_plain#2",
        "repeated id",
        "q_plain",
        "renamed with #2, #3, ...",
    )


def test_memdaily_trajectory() -> None:
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


def test_memdaily_irregularities() -> None:
    _, noisy, late, failed = load("memdaily")
    assert kinds([noisy]) == {
        "repeated id": 1,
        "wrong type": 1,
        "repeated reference": 1,
        "reference to nothing": 1,
        "malformed reference": 1,
    }
    assert noisy.conversation.questions[0].evidence == ("0", "2")
    assert noisy.conversation.questions[0].answer == "My aunt"  # the right choice
    assert kinds([late]) == {
        "missing id": 1,
        "number differs from place": 1,
        "time not understood": 1,
        "no evidence": 1,
        "answer differs from the right choice": 1,
    }
    assert kinds([failed]) == {"failed generation": 1, "empty session": 1}
    assert failed.conversation.questions == ()


def test_memdaily_bare_list(tmp_path: Path) -> None:
    rows = json.loads(FIXTURES["memdaily"].read_text())["simple"]["roles"]
    (tmp_path / "x.json").write_text(json.dumps(rows))
    first = read_conversations(tmp_path / "x.json")[0].conversation
    assert (first.id, first.topic, first.questions[0].kind) == ("0", None, "unknown")

"""Chats written by hand, as docs/datasets.md shows."""

import re
from pathlib import Path

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.datasets.irregularities import REMEDIES
from memaudit.datasets.registry import LOADERS, guess_format, read_conversations
from tests.datasets.files import kinds, load

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
    found = [(session.id, len(session.turns)) for session in talk.sessions]
    assert found == [("monday", 2), ("friday", 2)]
    update, wine = talk.questions
    assert update.evidence == ("fish", "monday:1")
    assert update.evidence_sessions == ("friday", "monday")
    assert (wine.abstention, wine.answer) == (True, None)


def test_the_page_explains_every_irregularity_and_format() -> None:
    rows = dict(re.findall(r"^\| `([a-z-][a-z -]*)` \| [^|]+ \| ([^|]+) \|$", PAGE, re.MULTILINE))
    assert rows == REMEDIES
    assert re.findall(r"^### `(\w+)`", PAGE, re.MULTILINE) == list(LOADERS)


def test_a_chat_in_full() -> None:
    """Turn times beat session times and become UTC; a whole session can be evidence."""
    lunch, again, nameless = (loaded.conversation for loaded in load("chat"))
    fish, noted, second = lunch.turns
    assert (fish.id, fish.speaker, fish.role) == ("fish", "Ada", "user")
    assert (fish.timestamp, noted.timestamp) == ("2025-03-14T12:10:30", "2025-03-14T12:10")
    assert (noted.id, noted.role, second.id, second.speaker) == (
        "late:2", "assistant", "fish#2", "user",
    )  # fmt: skip
    assert (lunch.topic, again.id) == ("food", "lunch#2")
    first, *_ = lunch.questions
    assert (first.evidence, first.evidence_sessions) == (("late:2",), ("late", "early"))
    assert (first.kind, lunch.questions[1].evidence) == ("update", ())
    assert [session.id for session in again.sessions] == ["session-1"]
    assert nameless.questions[0].evidence == ("1",)


def test_every_irregularity_is_noted() -> None:
    assert kinds(load("chat")) == {
        "unknown field": 1, "repeated id": 2, "empty session": 1, "ambiguous reference": 1,
        "reference to nothing": 1, "time not understood": 1, "no evidence": 1,
        "number for text": 1, "missing id": 1, "sessions out of order": 1,
    }  # fmt: skip
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
def test_bad_rows(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "c.jsonl").write_text(text)
    with pytest.raises(MemAuditError, match=message) as caught:
        read_conversations(tmp_path / "c.jsonl", "chat")
    assert len(str(caught.value).splitlines()) == 1


def test_other_encodings(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_bytes(b'{"text": "a"}\n{"text": "\xff"}')
    with pytest.raises(MemAuditError, match=r"c.jsonl:2: is not UTF-8; .*at byte 24"):
        read_conversations(tmp_path / "c.jsonl", "chat")
    (tmp_path / "c.jsonl").write_bytes(b'\xef\xbb\xbf{"text": "a"}')
    for format in ("chat", None):
        with pytest.raises(MemAuditError, match="byte order mark"):
            read_conversations(tmp_path / "c.jsonl", format)

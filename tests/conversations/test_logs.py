"""Chats that people have: message logs, exports of accounts, and folders of transcripts."""

import json
import os
from pathlib import Path

import pytest

from memaudit.conversations.registry import guess_format, read_conversations
from memaudit.conversations.transcripts import dataset_hash
from memaudit.kernel.errors import MemAuditError
from tests.conversations.files import FIXTURES, kinds, load


def test_messages() -> None:
    """A name is the speaker; the texts of parts are joined, images and calls of tools left out."""
    plain, parts, empty = (loaded.conversation for loaded in load("messages"))
    assert [(turn.id, turn.speaker, turn.role, turn.text) for turn in plain.turns] == [
        ("session-1:1", "system", "system", "Be brief."),
        ("session-1:2", "Ada", "user", "I eat fish now."),
        ("session-1:3", "assistant", "assistant", "Noted."),
    ]
    assert (plain.id, parts.id, empty.id) == ("record-1", "parts", "parts#2")
    assert [(turn.id, turn.role, turn.text) for turn in parts.turns] == [
        ("session-1:1", "user", "This is my dog.\nRex is brown."),
        ("session-1:3", "tool", "A brown dog."),
        ("session-1:4", "narrator", "They wait."),
    ]
    assert kinds(load("messages")) == {
        "part without text": 1,
        "message without text": 1,
        "unknown speaker": 1,
        "wrong type": 1,
        "repeated id": 1,
        "empty session": 1,
    }


def test_messages_as_a_list_and_as_one_record(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in FIXTURES["messages"].read_text().splitlines() if line]
    for data, found in ((rows, load("messages")), (rows[0], load("messages")[:1])):
        (tmp_path / "x.json").write_text(json.dumps(data, indent=1))
        assert read_conversations(tmp_path / "x.json") == found


@pytest.mark.parametrize("lines", [True, False])
def test_bare_messages_are_one_conversation(lines: bool, tmp_path: Path) -> None:
    rows = [{"role": "user", "content": "I moved."}, {"role": "assistant", "content": "Where?"}]
    text = "\n".join(map(json.dumps, rows)) if lines else json.dumps(rows)
    (tmp_path / "log.jsonl").write_text(text)
    (loaded,) = read_conversations(tmp_path / "log.jsonl")
    assert loaded.conversation.id == "log"
    assert not loaded.irregularities
    assert [(turn.role, turn.text) for turn in loaded.conversation.turns] == [
        ("user", "I moved."),
        ("assistant", "Where?"),
    ]


def test_sharegpt() -> None:
    path = FIXTURES["messages_sharegpt"]
    assert guess_format(path) == "messages"
    talk, other = read_conversations(path)
    assert (talk.conversation.id, other.conversation.id) == ("talk", "record-2")
    assert [turn.role for turn in talk.conversation.turns] == ["system", "user", "assistant"]
    assert talk.irregularities == ()
    assert kinds([other]) == {"unknown speaker": 1, "message without text": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"messages": [{"user": "U1", "text": "Hi"}]}', "no message of 'messages' has the field"),
        ('{"conversations": [{"uuid": "u"}]}', "has the field 'from'; this is another kind of log"),
        ('{"messages": []}\n{"prompt": "x"}', "record 2 must have either 'messages' or"),
        ('{"messages": []}\n[1]', "record 2 is a list, an object was expected"),
        ('{"messages": []}\n{"messages": [', "the file ends in the middle of a value"),
        ("", "m.jsonl: is empty"),
    ],
)
def test_bad_messages(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text(text)
    with pytest.raises(MemAuditError, match=message) as caught:
        read_conversations(tmp_path / "m.jsonl", "messages")
    assert len(str(caught.value).splitlines()) == 1


def test_claude_account() -> None:
    """The chats of an account are sessions in order of time, those without a time last."""
    (loaded,) = load("claude-conversations")
    account = loaded.conversation
    assert [(one.id, one.index, one.timestamp) for one in account.sessions] == [
        ("c-early", 0, "2025-01-06T09:00"),
        ("c-late", 1, "2025-03-14T12:10"),
        ("c-empty", 2, None),
    ]
    assert [(turn.id, turn.role, turn.timestamp) for turn in account.turns] == [
        ("m-1", "user", "2025-01-06T09:00:05"),
        ("m-2", "assistant", "2025-01-06T09:00:09"),
        ("m-3", "user", "2025-03-14T12:10:30"),
        ("m-4", "assistant", "2025-03-14T12:10"),
        ("c-late:4", "guest", "2025-03-14T12:10"),
    ]
    assert kinds([loaded]) == {
        "attachment": 2,
        "empty session": 1,
        "message without text": 1,
        "missing field": 1,
        "missing id": 1,
        "repeated id": 1,
        "time not understood": 1,
        "unknown speaker": 1,
    }


def test_chatgpt_account() -> None:
    """The branch to `current_node`: no system, no tools, no answer that was generated again."""
    (loaded,) = load("chatgpt-conversations")
    account = loaded.conversation
    assert [(one.id, one.timestamp, len(one.turns)) for one in account.sessions] == [
        ("chat-2", "2025-01-06T09:00", 1),
        ("g-round", "2025-01-07T09:00", 0),
        ("g-late", "2025-03-14T12:10", 2),
        ("g-late#2", None, 0),
    ]
    assert [(turn.id, turn.index, turn.role, turn.text) for turn in account.turns] == [
        ("n7#2", 0, "guest", "I eat vegetarian.\n7"),
        ("n2", 0, "user", "I eat fish now."),
        ("n7", 1, "assistant", "Noted."),
    ]
    assert [turn.timestamp for turn in account.sessions[2].turns] == [
        "2025-03-14T12:10:30",
        "2025-03-14T12:10:50",
    ]


def test_chatgpt_irregularities() -> None:
    """A call of the memory tool, its result and the system: 3. A missing parent and node: 2."""
    assert kinds(load("chatgpt-conversations")) == {
        "system or tool message": 3,
        "message on another branch": 1,
        "message without text": 1,
        "part without text": 1,
        "reference to nothing": 2,
        "repeated reference": 1,
        "repeated id": 2,
        "empty session": 2,
        "missing field": 1,
        "number differs from place": 1,
        "number for text": 1,
        "time not understood": 1,
        "unknown speaker": 1,
    }


@pytest.mark.parametrize("format", ["claude-conversations", "chatgpt-conversations"])
def test_an_account_without_chats(format: str, tmp_path: Path) -> None:
    (tmp_path / "conversations.json").write_text("[]")
    assert read_conversations(tmp_path / "conversations.json", format) == []


def test_transcripts() -> None:
    """Three ways to write who speaks; the date is in the name or in the first line."""
    (loaded,) = load("transcripts")
    talk = loaded.conversation
    assert talk.id == "transcripts"
    assert [(one.id, one.timestamp, len(one.turns)) for one in talk.sessions] == [
        ("first#2", "2025-01-06", 4),
        ("first", "2025-02-01", 2),
        ("2025-03-14 lunch", "2025-03-14", 2),
        ("2025-02-31", None, 0),
        ("undated", None, 2),
    ]
    plain, heading, bold, _, undated = (session.turns for session in talk.sessions)
    assert [(turn.speaker, turn.role, turn.text) for turn in plain] == [
        ("Ada", "user", "I eat vegetarian."),
        ("Assistant", "assistant", "Good to know."),
        ("Ada", "user", "Yes."),
        ("Bo", "user", "Me too."),
    ]
    assert [(turn.id, turn.text) for turn in heading] == [
        ("first:1", "My dog is called Rex."),
        ("first:2", ""),
    ]
    assert bold[0].text == (
        "I eat fish now.\nNote: no meat.\n\n```\n**Bo:** is not speaking here\n```"
    )
    assert [turn.role for turn in undated] == ["user", "system"]


def test_transcript_irregularities() -> None:
    assert kinds(load("transcripts")) == {
        "text before the first turn": 3,
        "speaker named once": 2,
        "empty session": 1,
        "empty text": 1,
        "missing field": 1,
        "not a transcript": 1,
        "repeated id": 1,
        "time not understood": 1,
    }


def test_folders(tmp_path: Path) -> None:
    """The hash is of the transcripts alone; other formats do not take a folder."""
    folder = tmp_path / "talks"
    folder.mkdir()
    with pytest.raises(MemAuditError, match="talks: is a folder without transcripts"):
        guess_format(folder)
    (folder / "a.md").write_text("**Ada:** Hi\r\nthere\r\n")
    first = dataset_hash(folder)
    (folder / "b.png").write_text("x")
    (folder / ".hidden.md").write_text("**Ada:** Secret")
    assert dataset_hash(folder) == first
    (loaded,) = read_conversations(folder)
    assert [turn.text for turn in loaded.conversation.turns] == ["Hi\nthere"]
    (folder / "a.md").rename(folder / "c.md")
    assert dataset_hash(folder) != first
    with pytest.raises(MemAuditError, match="has the format transcripts, not chat"):
        read_conversations(folder, "chat")
    with pytest.raises(MemAuditError, match=r"c\.md: is not a folder; transcripts are read from a"):
        read_conversations(folder / "c.md", "transcripts")
    with pytest.raises(MemAuditError, match="gone: cannot be read"):
        read_conversations(tmp_path / "gone", "transcripts")


def test_transcripts_that_are_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Ada: Caf\xe9\n")
    with pytest.raises(MemAuditError, match="is not UTF-8") as caught:
        read_conversations(tmp_path)
    assert len(str(caught.value).splitlines()) == 1


def test_file_names_of_any_bytes(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"a\xff.md")).write_text("**Ada:** Hi")
    except OSError:
        pytest.skip("this file system takes no such names")
    (loaded,) = read_conversations(tmp_path)
    assert loaded.conversation.sessions[0].id.encode()
    assert dataset_hash(tmp_path)


@pytest.mark.parametrize(
    ("first", "date"),
    [
        ("2024-05-03", "2024-05-03"),
        ("**Date:** 2024-05-03", "2024-05-03"),
        ("# 3 May 2024", "2024-05-03"),
        ("date: 2024-05-03 10:30", "2024-05-03T10:30"),
        ("Ada: 2024-05-03", None),
        ("# 2024-05-03 and more", "2024-05-03"),
        ("# 2024-99-99", None),
        ("*" * 5000, None),
    ],
)
def test_first_lines(first: str, date: str | None, tmp_path: Path) -> None:
    (tmp_path / "talk.md").write_text(f"{first}\n\nAda: Hi.\nBo: Hi.\n")
    (loaded,) = read_conversations(tmp_path)
    (session,) = loaded.conversation.sessions
    assert session.timestamp == date
    assert [turn.speaker for turn in session.turns][-2:] == ["Ada", "Bo"]


def test_claude_code() -> None:
    """Messages of the user and the assistant, a session per id; subagents, tools and events are
    counted and left out."""
    (loaded,) = load("claude-code")
    talk = loaded.conversation
    said = [(turn.session, turn.role, turn.text) for one in talk.sessions for turn in one.turns]
    assert said == [
        ("s1", "user", "Please use tabs in this project."),
        ("s1", "assistant", "I will use tabs."),
        ("s2", "guest", "Deploys are on Tuesdays now."),
    ]
    assert talk.sessions[0].timestamp is not None
    assert kinds([loaded]) == {
        "system or tool message": 2,
        "part without text": 2,
        "message on another branch": 1,
        "repeated id": 1,
        "message without text": 1,
        "unknown speaker": 1,
        "time not understood": 1,
    }

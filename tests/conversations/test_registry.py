"""Every registered format: guessed from content, conforming; a wrong type anywhere is reported."""

import json
import os
import shutil
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from memaudit.conversations.conversation import (
    Conversation,
    Question,
    Representation,
    Session,
    Turn,
)
from memaudit.conversations.records import REMEDIES, Irregularity
from memaudit.conversations.registry import (
    LOADERS,
    guess_format,
    iter_conversations,
    read_conversations,
)
from memaudit.conversations.transcripts import dataset_hash
from memaudit.kernel.errors import MemAuditError
from tests.conversations.files import FIXTURES, Way, changed, kinds, load, ways


@pytest.mark.parametrize("format", LOADERS)
def test_conformance(format: str, tmp_path: Path) -> None:
    """Each has a fixture, is told by content alone, and gives unique ids and writable text."""
    if FIXTURES[format].is_dir():
        copy = tmp_path / FIXTURES[format].name  # which names the conversation
        shutil.copytree(FIXTURES[format], copy)
    else:
        copy = tmp_path / "anything.txt"
        copy.write_bytes(FIXTURES[format].read_bytes())
    assert guess_format(copy) == format
    assert LOADERS[format].name == format
    assert LOADERS[format].about
    found = read_conversations(copy)
    assert found == load(format)
    ids = [loaded.conversation.id for loaded in found]
    assert len(set(ids)) == len(ids) > 0
    for loaded in found:
        json.dumps(asdict(loaded), ensure_ascii=False).encode()
        for one in loaded.irregularities:
            assert (one.conversation, one.done) == (loaded.conversation.id, REMEDIES[one.what])


def test_fixtures_show_every_irregularity() -> None:
    assert {what for format in LOADERS for what in kinds(load(format))} == set(REMEDIES)


@pytest.mark.parametrize("format", ["longmemeval", "locomo"])
def test_one_record_without_its_list(format: str, tmp_path: Path) -> None:
    rows = json.loads(FIXTURES[format].read_text())
    (tmp_path / "one.json").write_text(json.dumps(rows[0]))
    assert read_conversations(tmp_path / "one.json") == load(format)[:1]


@pytest.mark.parametrize("text", ["[]", "{}", "[1]", "3", '[{"a": 1}]', '{"a": {"b": []}}'])
def test_nothing_known(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(MemAuditError, match=r"x.json: its first record has no known format; .*"):
        iter_conversations(tmp_path / "x.json")
    with pytest.raises(MemAuditError, match="unknown format 'pdf'; known formats: longmemeval,"):
        iter_conversations(tmp_path / "x.json", "pdf")


def test_another_format_than_the_one_asked_for() -> None:
    """Each fixture under each wrong name is refused at once, before anything is built of it."""
    for format in LOADERS:
        for wrong in set(LOADERS) - {format}:
            line = f"has the format {format}, not {wrong}; check format"
            with pytest.raises(MemAuditError, match=line):
                iter_conversations(FIXTURES[format], wrong)


@pytest.mark.parametrize(
    "row",
    [
        {"conversations": [], "split": "100K", "questions": 3},  # a table of contents
        {"messages": [], "conversations": []},
        {"mapping": {}, "title": "t"},
        {"sessions": [], "uuid": "u"},
        {"chat": [], "id": 1},
        {"message": "m"},
    ],
)
def test_records_of_no_format(row: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps([row]))
    with pytest.raises(MemAuditError, match="has no known format"):
        guess_format(tmp_path / "x.json")


def test_each_fixture_is_claimed_once() -> None:
    """No two formats recognise one record, so that their order in the registry does not matter."""
    for format in IGNORED:
        first = documents(format)
        while isinstance(first, list) or (format == "memdaily" and "message_list" not in first):
            first = first[0] if isinstance(first, list) else next(iter(first.values()))
        claims = [name for name, loader in LOADERS.items() if loader.recognises(frozenset(first))]
        assert claims == [format]


def test_a_list_of_rows_with_questions_is_no_chat(tmp_path: Path) -> None:
    row = {"question_id": "q", "question": "When?", "golden_answer": "2022", "category": 2}
    (tmp_path / "errors.json").write_text(json.dumps([row]))
    with pytest.raises(MemAuditError, match="has no known format"):
        iter_conversations(tmp_path / "errors.json")


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, message in [
        ("none.json", "none.json: does not exist"),
        ("", "is a folder"),
        ("pipe", "pipe: is not a regular file"),
        ("a\0b", "cannot be read"),
    ]:
        for read in (guess_format, dataset_hash):
            with pytest.raises(MemAuditError, match=message):
                read(tmp_path / name)


def test_the_hash_is_of_the_bytes(tmp_path: Path) -> None:
    data = b"\0abc" * 50_000
    (tmp_path / "x").write_bytes(data)
    assert dataset_hash(tmp_path / "x") == sha256(data).hexdigest()


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


IGNORED: dict[str, set[str | int]] = {
    "longmemeval": {"mood", "comment"},
    "locomo": {"img_url", "query", "mood", "place"},
    "memdaily": {"weather"},
    "chat": {"mood"},
    "halumem": {
        "persona_info",
        "memory_points_count",
        "dialogue_turn_num",
        "dialogue_token_length",
        "dialogue_turn",
        "difficulty",
        "question_count",
        "total_dialogue_token_length",
        "total_question_count",
        "token_cost",
        "title",
        "is_generated_qa_session",
        "generation_source",
        "session_id",
        "mood",
    },
    "beam": {
        "conversation_seed",
        "narratives",
        "user_profile",
        "conversation_plan",
        "user_questions",
        "index",
        "question_type",
        "mood",
        "hint",
    },
    "messages": {"tool_calls", "comment"},
    "claude-conversations": {"name", "updated_at", "account", "content", "mood"},
    "claude-code": {
        "parentUuid",
        "userType",
        "cwd",
        "version",
        "model",
        "mood",
        "snapshot",
        "messageId",
        "summary",
        "leafUuid",
    },
    "chatgpt-conversations": {"title", "children", "mood", "n0"},
}
"""Fields the loaders do not read, or unknown ones that the fixtures already have."""

LEFT_OUT: list[Way] = [
    (0, "qa", 6, "evidence", 2),
    (0, "observation", "session_2_observation", "Ada", 1),
    ("simple", "roles", 1, "QA", "target_step_id", 4),
    ("noisy", "events", 1, "question_list", 0),
    (1, "probing_questions", "event_ordering", 0, "source_chat_ids", 2),
    (1, "messages", 0, "content", 1),
    (2, "message", "content", 1),
    (3, "message"),  # of a subagent
    (4, "message", "content", 0),
    (0, "chat_messages", 0, "attachments", 0),
    (0, "chat_messages", 0, "files", 0),
    (0, "mapping", "n2", "message", "content", "parts", 0),
    (0, "mapping", "n3"),
    (0, "mapping", "n6", "message", "content"),
]
"""What the fixtures hold that is left out as a whole."""


def documents(format: str) -> Any:
    """A fixture as data: the rows of a JSONL file are a list."""
    text = FIXTURES[format].read_text()
    if FIXTURES[format].suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines() if line]
    return json.loads(text)


def write(data: Any, format: str, path: Path) -> Path:
    if FIXTURES[format].suffix == ".jsonl" and isinstance(data, list):
        path.write_text("".join(f"{json.dumps(row)}\n" for row in data))
    else:
        path.write_text(json.dumps(data))
    return path


def outcome(path: Path, format: str | None) -> tuple[Irregularity, ...] | str:
    try:
        found = read_conversations(path, format)
    except MemAuditError as error:
        message = str(error)
    else:
        return tuple(one for loaded in found for one in loaded.irregularities)
    (line,) = message.splitlines()
    return line


@pytest.mark.parametrize("format", IGNORED)
def test_a_wrong_type_anywhere_is_said(format: str, tmp_path: Path) -> None:
    """An object in place of any part changes what is reported: nothing is dropped in silence."""
    data = documents(format)
    before = outcome(FIXTURES[format], format)
    silent = []
    for way in ways(data):
        if IGNORED[format] & set(way) or any(way[: len(out)] == out for out in LEFT_OUT):
            continue
        spoiled = changed(data, way, {"zz": [1]})
        if outcome(write(spoiled, format, tmp_path / "f"), format) == before:
            silent.append(way)
    assert silent == []

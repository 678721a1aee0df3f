"""Records of captures: what they keep, how they answer, and what they say of other requests."""

import gzip
import json
import random
import string
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.models.record import (
    Call,
    Record,
    RecordFile,
    Spent,
    read_record,
)
from memaudit.workspace.journal import to_line

CHAT = "chat/completions"
LONG = "A long text that is repeated in every request of a growing conversation. " * 5


def chat(*texts: str, answer: str = "yes", place: int = 1, status: int = 200) -> Call:
    request = {"model": "m", "messages": [{"role": "user", "content": text} for text in texts]}
    return Call("ann", place, CHAT, request, status, {"choices": [{"text": answer}]}, 10, 2)


def written(path: Path, *calls: Call) -> Path:
    with RecordFile(path) as file:
        file.begin({"system": "notebook", "clock": "conversation"})
        for call in calls:
            file.keep(call)
        file.fed("ann", 1, Spent.of(calls, 1.5))
    return path


def test_round_trip(tmp_path: Path) -> None:
    """Whatever JSON: also a reply that looks like one of our own numbers of parts."""
    odd: Any = {
        "a": ["part", 0],
        "b": {"part": 3},
        "c": [],
        "d": None,
        "e": LONG,
        "f": [[1.5], LONG],
    }
    calls = [
        chat(LONG, LONG),
        Call("ann", 1, "embeddings", {"input": ["x"]}, 200, odd),
        Call("bob", 0, CHAT, {"x": "é\ud800"}, 200, "text"),
    ]
    path = written(tmp_path / "r.jsonl", *calls)
    record = read_record(path)
    assert record.calls == calls
    assert record.spent["ann", 1].tokens_in is None  # one chat did not say
    packed = tmp_path / "r.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_record(packed).calls == calls


def test_what_comes_again_is_stored_once(tmp_path: Path) -> None:
    dice = random.Random(1)
    texts = ["".join(dice.choices(string.ascii_letters, k=500)) for _ in range(40)]
    calls = [chat(*texts[: n + 1]) for n in range(40)]
    size = written(tmp_path / "r.jsonl", *calls).stat().st_size
    assert sum(len(json.dumps(call.request)) for call in calls) > 400_000
    assert size < 60_000


def test_equal_requests_get_their_replies_in_order() -> None:
    record = Record("r")
    for answer, status in (("busy", 429), ("first", 200), ("second", 200)):
        record.add(chat("a", answer=answer, status=status))

    def ask() -> str | None:
        call = record.next_reply("ann", CHAT, chat("a").request)
        return str(call.reply["choices"][0]["text"]) if call else None

    assert [ask(), ask(), ask()] == ["first", "second", None]
    record.begin("ann")
    assert ask() == "first"
    assert record.next_reply("bob", CHAT, chat("a").request) is None


def test_the_nearest_request() -> None:
    record = Record("r")
    for text in ("We talk of the sea.", "Ann has a parrot.\nIt is green.", "Bob sings."):
        record.add(chat(LONG, text))
    told = record.nearest("ann", CHAT, chat(LONG, "Ann has a canary.\nIt is green.").request)
    assert "differs in 2 lines" in told
    assert "-messages[1].content: Ann has a parrot." in told
    assert "+messages[1].content: Ann has a canary." in told
    assert "nothing was recorded for x of 'ann'" in record.nearest("ann", "x", {})


def test_a_killed_run_leaves_a_record_that_goes_on(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", chat(LONG))
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    with RecordFile(path) as file:
        assert file.record.calls == [chat(LONG)]
        file.keep(chat(LONG, "more"))
    assert len(read_record(path).calls) == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not a record"),
        (b"{}\n", "line 1: is damaged"),
        (b"\x1f\x8bx", "cannot be read"),
    ],
)
def test_files_that_are_no_records(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(data)
    with pytest.raises(MemAuditError, match=message):
        read_record(path)


@pytest.mark.parametrize(
    "row",
    [
        {
            "kind": "call",
            "example": "a",
            "place": 0,
            "path": "p",
            "request": {"x": ["part", 0]},
            "status": 200,
            "reply": {},
        },
        {
            "kind": "call",
            "example": "a",
            "place": 0,
            "path": "p",
            "request": {},
            "status": -7,
            "reply": {},
        },
        {
            "kind": "call",
            "example": "a",
            "place": 0,
            "path": {},
            "request": {},
            "status": 200,
            "reply": {},
        },
        {"kind": "fed", "example": "a", "place": 0, "calls": "many"},
        {"kind": "fed", "example": "a", "place": 0, "seconds": float("inf")},
        {"kind": "record", "version": 1, "options": []},
    ],
)
def test_rows_of_other_types(row: dict[str, Any], tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", chat("a"))
    path.write_bytes(path.read_bytes() + to_line(row).encode())
    head = to_line({"kind": "record", "version": 1, "system": "x"})
    (tmp_path / "s.jsonl").write_text(head + to_line(row))
    with pytest.raises(MemAuditError, match="line 2: is not of a record"):
        read_record(tmp_path / "s.jsonl")


def test_a_small_record_that_unpacks_to_gigabytes(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"kind": "record", "version": 1, "system": "x"},
        {"kind": "part", "value": "x" * 1_000_000},
        {
            "kind": "call",
            "example": "a",
            "place": 0,
            "path": "p",
            "status": 200,
            "reply": {},
            "request": {"input": ["list", [0] * 20_000]},
        },
    ]
    (tmp_path / "r.jsonl").write_text("".join(map(to_line, rows)))
    with pytest.raises(MemAuditError, match="line 3: is not of a record"):
        read_record(tmp_path / "r.jsonl")


def test_a_damaged_archive(tmp_path: Path) -> None:
    whole = gzip.compress(written(tmp_path / "r.jsonl", chat(LONG)).read_bytes())
    for place in range(12, len(whole), 7):
        (tmp_path / "r.gz").write_bytes(whole[:place] + b"\xff\x00" + whole[place + 2 :])
        with pytest.raises(MemAuditError):
            read_record(tmp_path / "r.gz")

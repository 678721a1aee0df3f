"""Reading JSON value by value: the same values, bounded memory, errors with their byte."""

import io
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.conversations.registry import iter_conversations
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.foreign_json import JsonCursor

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


def cursor(data: bytes, chunk: int = 4) -> JsonCursor:
    return JsonCursor(io.BytesIO(data), "f", chunk)


def values(data: bytes, chunk: int) -> list[object]:
    found = cursor(data, chunk)
    rows = [found.value() for _ in found.elements()]
    found.done()
    return rows


@settings(max_examples=60)
@given(st.lists(JSON, max_size=5), st.integers(1, 40), st.booleans())
def test_any_list_at_any_chunk_size(rows: list[object], chunk: int, ascii: bool) -> None:
    text = json.dumps(rows, ensure_ascii=ascii, indent=chunk % 3)
    assert values(text.encode("utf-8", "surrogatepass"), chunk) == json.loads(text)


def test_every_truncation_is_said() -> None:
    data = json.dumps([{"a": "é\\n", "b": [1.5, True]}, {}], ensure_ascii=False).encode()
    for end in range(1, len(data)):
        with pytest.raises(MemAuditError) as caught:
            values(data[:end], 3)
        cut = f"f: the file ends in the middle of a value; it was cut off (at byte {end})"
        assert str(caught.value) == cut


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"é": 1} {}]', "is not valid JSON: expected , or ], found '{' (at byte 11)"),
        ('[{"é": 1, "b" 2}, {}]' + " " * 99, "expecting ':' delimiter (at byte 15)"),
        ("[1] 2", "more text after the end of the JSON document (at byte 4)"),
        ('[{"a": 1, "a": 2}]', "the key 'a' appears twice in one object (in the value at byte 1)"),
        ("[" + "9" * 99 + "]", "a number has more than 60 digits (in the value at byte 1)"),
        ("[1e999999999999999999999]", "is out of range (in the value at byte 1)"),
        ("[" * 99999, "nests too deeply (at byte 1)"),
        ("", "f: is empty (at byte 0)"),
        ("hello", "expected [, found 'h' (at byte 0)"),
        ("\ufeff[1 2]", "expected , or ], found '2' (at byte 6)"),
        ("[\ufeff]", "expecting value (at byte 1)"),
    ],
)
def test_malformed_files(text: str, message: str) -> None:
    with pytest.raises(MemAuditError) as caught:
        values(text.encode(), 16)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_bad_bytes_are_located() -> None:
    for chunk in range(1, 9):
        with pytest.raises(MemAuditError, match=r"is not UTF-8; save it as UTF-8 \(at byte 4\)"):
            values(b'["\xc3\xa9\xff"]', chunk)


def test_malformed_early_is_found_early() -> None:
    file = io.BytesIO(b'[{"a" 1}, ' + b'{"b": 2}, ' * 100_000)
    found = JsonCursor(file, "f", 64)
    places = found.elements()
    next(places)
    with pytest.raises(MemAuditError, match="byte 6"):
        found.value()
    assert file.tell() < 1000


def test_members_step_through_objects() -> None:
    found = cursor(b'{"a": {"b": [1, 2]}, "c": {}}')
    for key in found.members():
        for inner in found.members():
            assert (key, inner) == ("a", "b")
            assert [found.value() for _ in found.elements()] == [1, 2]
    found.done()
    repeated = cursor(b'{"a": 1, "a": 2}')
    keys = repeated.members()
    assert (next(keys), repeated.value()) == ("a", 1)
    with pytest.raises(MemAuditError, match="'a' appears twice"):
        next(keys)


def test_memory_is_bounded_by_a_record(tmp_path: Path) -> None:
    turn = {"role": "user", "content": "word " * 60}
    path = tmp_path / "long.json"
    with path.open("w") as file:
        for number in range(400):
            record = {
                "question_id": f"q{number}",
                "question_type": "multi-session",
                "question": "?",
                "answer": "a",
                "question_date": "2024/01/02",
                "haystack_session_ids": ["s"],
                "haystack_dates": ["2024/01/01"],
                "answer_session_ids": ["s"],
                "haystack_sessions": [[{**turn, "has_answer": True}, *[turn] * 49]],
            }
            file.write(("[" if number == 0 else ",\n") + json.dumps(record))
        file.write("]")
    assert path.stat().st_size > 6_000_000
    next(iter_conversations(path))  # imports and caches do not count
    tracemalloc.start()
    count = sum(1 for _ in iter_conversations(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 400
    assert peak < 1_000_000

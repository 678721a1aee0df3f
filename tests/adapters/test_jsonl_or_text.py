"""The plain format takes what nothing else does, but not everything."""

import json
from pathlib import Path

import pytest

from memaudit.adapters.failed_exports import is_status, no_memories
from memaudit.adapters.registry import import_store
from memaudit.core.errors import MemAuditError

STATUSES = [
    "No memories found", "no memories found.", "0 results", "There are no memories yet!",
    "No memories found for user_42", "null", "None", "\"not found\"", "404 Not Found",
    "HTTP/1.1 503 Service Unavailable", "Internal Server Error", "Unauthorized",
    "Error: connection refused", "requests.exceptions.HTTPError: 401", "Rate limit exceeded",
    "curl: (7) Failed to connect", "Failed to fetch memories", "The store is empty.",
]  # fmt: skip
PAGES = [
    "<html><body>Sign in</body></html>", "<!DOCTYPE html>\n<p>no</p>",
    "<head>\n<title>502</title>", "<?xml version='1.0'?>\n<Error><Code>NoSuchKey</Code></Error>",
    "Traceback (most recent call last):\n  File x\nKeyError: 'a'",
]  # fmt: skip
MEMORIES = [
    "Ann eats fish.", "No memories of the accident, Ann says", "Nothing beats tea for Bo.",
    "None of the cats is Ann's", "Error-prone: Ann's old car", "2024 was a hard year for Bo",
    "404 is Ann's room number", "OK Computer is Bo's favourite record",
    "Ann failed to fetch the parcel", "<3 Bo likes hearts", "<b>Ann</b> moved to Rome",
]  # fmt: skip


@pytest.mark.parametrize("text", ["null", "5", "Internal Server Error"])
def test_a_stray_json_file_is_no_memory(text: str, tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text(text)
    with pytest.raises(MemAuditError, match="no known format"):
        import_store([tmp_path / "export.json"])


@pytest.mark.parametrize("format", [None, "plain"])
@pytest.mark.parametrize("text", [*STATUSES, *PAGES])
def test_a_status_saved_as_text_is_no_memory(text: str, format: str | None, tmp_path: Path) -> None:
    path = tmp_path / "export.txt"
    path.write_text(f"{text}\n")
    with pytest.raises(MemAuditError) as caught:
        import_store([path], format)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "body", [{"error": "x"}, {"detail": "Not found"}, {"message": "no"}, ["No memories found"], "x"]
)
def test_an_error_body_is_no_memory(body: object, tmp_path: Path) -> None:
    path = tmp_path / "export.txt"
    path.write_text(json.dumps(body))
    with pytest.raises(MemAuditError):
        import_store([path])


@pytest.mark.parametrize("text", MEMORIES)
def test_a_memory_is_one(text: str, tmp_path: Path) -> None:
    """A store of one memory stays one, also where a word of it is a status elsewhere."""
    assert no_memories(text) is None
    path = tmp_path / "export.txt"
    path.write_text(f"{text}\n")
    (memory,) = import_store([path]).memories
    assert memory.text == text


def test_a_status_among_memories_is_kept(tmp_path: Path) -> None:
    assert is_status("No memories found")
    path = tmp_path / "export.txt"
    path.write_text("Ann eats fish.\nNo memories found\n")
    assert len(import_store([path]).memories) == 2


def test_lines_are_those_of_an_editor(tmp_path: Path) -> None:
    """A form feed, a vertical tab or U+2028 stands inside a memory; any newline ends one."""
    path = tmp_path / "notes.txt"
    path.write_bytes("Ann\u2028eats fish.\r\nBo\x0clikes\x0btea.\nCy\x85swims.\r\n".encode())
    found = import_store([path]).memories
    assert [(one.id, one.text) for one in found] == [
        ("line-1", "Ann\u2028eats fish."), ("line-2", "Bo\x0clikes\x0btea."),
        ("line-3", "Cy\x85swims."),
    ]  # fmt: skip


def test_a_salience_that_is_no_number(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text('{"text": "a", "salience": 0.4}\n{"text": "b", "salience": "high"}\n')
    store = import_store([path], "plain")
    assert [one.salience for one in store.memories] == [0.4, None]
    assert any("salience is not a number" in line for line in store.warnings)

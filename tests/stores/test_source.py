"""Files that are no export, or hide something: distinguished, never opened, never half read."""

import json
import os
import pickle
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.stores.protocol import ImportOptions
from memaudit.stores.registry import import_store
from memaudit.stores.source import open_source
from tests.stores.exports import EXPORTS, MEM0, attempt


def refused(path: Path, content: bytes, format: str | None = None) -> str:
    path.write_bytes(content)
    store, error = attempt([path], format)
    assert store is None
    return error


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is an empty file"),
        (b" \n", "is an empty file"),
        (b"[]", "is an empty list, which any system may have written"),
        (b"\xef\xbb\xbf[]", "is an empty list"),
        (b"\xff\xfe[\0", "UTF-16"),
        (b'{"results": [{"memory": "\xff"}]}', "is not UTF-8: bad byte 0xff"),
        (b'{"results": [', "is not valid JSON: expecting value (at byte 13, or the file was cut"),
        (b'{"a": 1, "a": 2}', "the key 'a' appears twice"),
        (b"[" * 100_000, "nests too deeply"),
        (b'{"error": "unauthorized"}', "is the error of an API, not a store: unauthorized"),
        (b'{"detail": [{"msg": "no such id"}]}', "an API, not a store: no such id"),
        (b'{"message": "Not found", "statusCode": 404}', "an API, not a store: Not found"),
        (b'{"errno": 500, "errmsg": "down", "data": null}', "an API, not a store: down"),
        (b'{"success": false, "message": "quota"}', "an API, not a store: quota"),
        (b"<!DOCTYPE html><p>502", "is a web page"),
        (b"\x1f\x8babc", "is a gzip archive"),
        (b"PK\x03\x04abc", "is a zip archive, which is not opened"),
        (b"SQLite format 3\0garbage", "cannot be read as SQLite"),
        (b'{"weather": "fine"}', "has no known format"),
        (b"null", "a failed export"),
        (b"5", "no known format"),
        (b"Internal Server Error", "a failed export"),
        (b'{"format": "memaudit-store", "version": 1}', "is already a store"),
    ],
)
def test_distinguished(content: bytes, said: str, tmp_path: Path) -> None:
    error = refused(tmp_path / "export.json", content)
    assert error.startswith("export.json")
    assert said in error


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"results": [], "error": {"message": "rate limit"}}', "not a store: rate limit"),
        (
            b'[{"memory": null, "user_id": "a"}, 3]',
            "e: none of 2 rows could be read: e.json: [0]: no memory",
        ),
    ],
)
def test_refused_under_a_given_format(content: bytes, said: str, tmp_path: Path) -> None:
    assert said in refused(tmp_path / "e.json", content, "mem0")


def test_missing_file(tmp_path: Path) -> None:
    assert attempt([tmp_path / "no.json"])[1] == "no.json: does not exist (check the path)"
    assert "is an empty folder" in attempt([tmp_path])[1]


@pytest.mark.parametrize("format", ["mem0", "letta", "amem", "langgraph", "graphiti", "plain"])
def test_empty_list_is_an_empty_store(format: str, tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text("[]")
    store = import_store([tmp_path / "e.json"], format)
    assert store.memories == ()
    assert store.count.read == 0
    assert "the store is empty: a valid export that holds no memory" in store.warnings


def test_pickle_is_never_opened(tmp_path: Path) -> None:
    for protocol in (2, 3, 4, 5):
        content = pickle.dumps({"memories": ["x"]}, protocol=protocol)
        assert "is a pickle, which is not opened" in refused(tmp_path / "e.json", content)


def test_broken_line_is_a_counted_skip(tmp_path: Path) -> None:
    """A line of JSONL that is not UTF-8 or not JSON costs that line, with its byte."""
    path = tmp_path / "e.jsonl"
    path.write_bytes(b'{"text": "a"}\n{"text": "\xff"}\n{"text": \n{"text": "b"}\n')
    store = import_store([path])
    assert [memory.text for memory in store.memories] == ["a", "b"]
    assert store.count.read == 4
    skips = [warning for warning in store.warnings if "skipped, " in warning]
    assert "1 row skipped, not UTF-8: e.jsonl:2 (at byte 24)" in skips
    assert any("not valid JSON: e.jsonl:3 (" in skip for skip in skips)


def test_surrogates_are_replaced_and_noted(tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    path.write_text('[{"text": "a\\ud800"}]')
    store = import_store([path])
    assert store.memories[0].text == "a\ufffd"
    assert any("broken character" in warning for warning in store.warnings)


def test_unknown_times_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    path.write_text('[{"text": "a", "created_at": "one fine day"}]')
    store = import_store([path])
    assert store.memories[0].created_at is None
    assert "1 row: created_at is not a time, left empty: e.json: [0]" in store.warnings


def test_rows_in_the_log_of_a_database_are_read(tmp_path: Path) -> None:
    """A write-ahead log that was not merged yet is part of the store; nothing is written to it."""
    path = tmp_path / "store.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE store (prefix, key, value, created_at, updated_at)")
    value = json.dumps({"content": "Ann eats fish."})
    connection.execute(
        "INSERT INTO store VALUES ('a', 'k', ?, '2025-01-01', '2025-01-01')", (value,)
    )
    connection.commit()
    log = tmp_path / "store.db-wal"
    before = {one.name: one.read_bytes() for one in (path, log)}
    assert [memory.text for memory in import_store([path]).memories] == ["Ann eats fish."]
    assert {one.name: one.read_bytes() for one in (path, log)} == before
    connection.close()


def test_broken_text_in_a_database(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE store (prefix, key, value)")
        rows = [("a", "1", b'{"content": "x"}'), ("a", "2", b"\xff"), ("a", "3", b"{")]
        connection.executemany("INSERT INTO store VALUES (?, ?, ?)", rows)
    store = import_store([path])
    assert store.count.kept == 1
    assert any("not UTF-8: store.db: store row 2 (" in one for one in store.warnings)
    assert any("not valid JSON: store.db: store row 3 (" in one for one in store.warnings)


def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "a.md").write_text("Ann eats fish.")
    (folder / "b.md").symlink_to(tmp_path / "secret.md")
    (folder / "c").symlink_to(tmp_path)
    store = import_store([folder])
    assert [memory.text for memory in store.memories] == ["Ann eats fish."]
    assert any("b.md (symbolic link)" in warning for warning in store.warnings)


def test_two_files_of_one_name(tmp_path: Path) -> None:
    paths = []
    for home in ("ann", "bo"):
        (tmp_path / home).mkdir()
        paths.append(tmp_path / home / "export.json")
        paths[-1].write_text(json.dumps([{"id": home, "text": home}, {"id": f"{home}2"}]))
    store = import_store([*paths, paths[1]], "plain")
    assert list(store.origin.files) == ["ann/export.json", "bo/export.json", "bo/export.json#2"]
    assert any("no text: ann/export.json: [1], bo/export.json: [1]" in w for w in store.warnings)


def test_a_folder_inside_that_cannot_be_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its memories would be missing without a word: the whole folder is refused."""
    folder = EXPORTS["markdown folder"].write(tmp_path)
    listed = os.scandir

    def scandir(path: Any) -> Any:
        if str(path).endswith("system"):
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr("os.scandir", scandir)
    assert attempt([folder])[1] == "export/system: cannot be read: Permission denied"


def test_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memaudit.stores.source.MAX_BYTES", 10)
    path = EXPORTS["mem0"].write(tmp_path)
    with pytest.raises(MemAuditError, match="is too large"):
        open_source([path])


def test_namespace(tmp_path: Path) -> None:
    path = EXPORTS["mem0"].write(tmp_path)
    store = import_store([path], options=ImportOptions(namespace="bo"))
    assert [memory.id for memory in store.memories] == ["m3"]
    assert store.count.skipped == {"other namespace": 2}
    with pytest.raises(
        MemAuditError, match="has the namespace 'cy'; the namespaces are 'ann', 'bo'"
    ):
        import_store([path], options=ImportOptions(namespace="cy"))


def test_equal_ids(tmp_path: Path) -> None:
    """The same row twice is one memory; another text under the same id is another memory."""
    row = MEM0["results"][2]
    path = tmp_path / "e.json"
    path.write_text(json.dumps([row, row, {**row, "memory": "Bo likes coffee."}]))
    store = import_store([path])
    assert [memory.id for memory in store.memories] == ["m3", "m3#2"]
    assert store.count.skipped == {"repeated row": 1}
    assert any("id used twice" in warning and "[2]" in warning for warning in store.warnings)


BODIES = [{"error": "x"}, {"detail": "Not found"}, {"message": "no"}, ["No memories found"], "x"]
FAILURES = [
    "No memories found",
    "no memories found.",
    "0 results",
    "There are no memories yet!",
    "No memories found for user_42",
    "null",
    "None",
    '"not found"',
    "404 Not Found",
    "HTTP/1.1 503 Service Unavailable",
    "Internal Server Error",
    "Unauthorized",
    "Error: connection refused",
    "requests.exceptions.HTTPError: 401",
    "Rate limit exceeded",
    "curl: (7) Failed to connect",
    "Failed to fetch memories",
    "The store is empty.",
]
PAGES = [
    "<html><body>Sign in</body></html>",
    "<!DOCTYPE html>\n<p>no</p>",
    "<head>\n<title>502</title>",
    "<?xml version='1.0'?>\n<Error><Code>NoSuchKey</Code></Error>",
    "Traceback (most recent call last):\n  File x\nKeyError: 'a'",
]
MEMORIES = [
    "Ann eats fish.",
    "No memories of the accident, Ann says",
    "No memories found their way into the album, says Ann",
    "Nothing beats tea for Bo.",
    "None of the cats is Ann's",
    "Error-prone: Ann's old car",
    "2024 was a hard year for Bo",
    "404 is Ann's room number",
    "OK Computer is Bo's favourite record",
    "Ann failed to fetch the parcel",
    "<3 Bo likes hearts",
    "<b>Ann</b> moved to Rome",
    "Ann eats fish.\nNo memories found",
]


@pytest.mark.parametrize("format", [None, "plain"])
@pytest.mark.parametrize("text", [*FAILURES, *PAGES, *map(json.dumps, BODIES)])
def test_an_error_saved_as_text_is_no_memory(text: str, format: str | None, tmp_path: Path) -> None:
    path = tmp_path / "export.txt"
    path.write_text(f"{text}\n")
    with pytest.raises(MemAuditError) as caught:
        import_store([path], format)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", MEMORIES)
def test_a_memory_is_one(text: str, tmp_path: Path) -> None:
    """Also where a word of it is a failure elsewhere, or a failure stands among other memories."""
    path = tmp_path / "export.txt"
    path.write_text(f"{text}\n")
    assert [memory.text for memory in import_store([path]).memories] == text.split("\n")


def test_lines_are_those_of_an_editor(tmp_path: Path) -> None:
    """A form feed, a vertical tab or U+2028 stands inside a memory; any newline ends one."""
    path = tmp_path / "notes.txt"
    path.write_bytes("Ann\u2028eats fish.\r\nBo\x0clikes\x0btea.\nCy\x85swims.\r\n".encode())
    found = import_store([path]).memories
    assert [(one.id, one.text) for one in found] == [
        ("line-1", "Ann\u2028eats fish."),
        ("line-2", "Bo\x0clikes\x0btea."),
        ("line-3", "Cy\x85swims."),
    ]


def test_a_salience_that_is_no_number(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text('{"text": "a", "salience": 0.4}\n{"text": "b", "salience": "high"}\n')
    store = import_store([path], "plain")
    assert [one.salience for one in store.memories] == [0.4, None]
    assert any("salience is not a number" in line for line in store.warnings)

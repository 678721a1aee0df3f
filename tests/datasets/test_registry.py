"""Every registered format: guessed from content, conforming, described."""

import json
import os
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.datasets.irregularities import REMEDIES
from memaudit.datasets.json_records import dataset_hash
from memaudit.datasets.registry import LOADERS, guess_format, iter_conversations, read_conversations
from tests.datasets.files import FIXTURES, kinds, load


@pytest.mark.parametrize("format", LOADERS)
def test_conformance(format: str, tmp_path: Path) -> None:
    """Each has a fixture, is told by content alone, and gives unique ids and writable text."""
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
            line = f"has the format {format}, not {wrong}; check --format"
            with pytest.raises(MemAuditError, match=line):
                iter_conversations(FIXTURES[format], wrong)


def test_a_list_of_rows_with_questions_is_no_chat(tmp_path: Path) -> None:
    row = {"question_id": "q", "question": "When?", "golden_answer": "2022", "category": 2}
    (tmp_path / "errors.json").write_text(json.dumps([row]))
    with pytest.raises(MemAuditError, match="has no known format"):
        iter_conversations(tmp_path / "errors.json")


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, message in [
        (tmp_path / "none.json", "none.json: does not exist"),
        (tmp_path, "is a folder"),
        (tmp_path / "pipe", "pipe: is not a regular file"),
        (tmp_path / "a\0b", "cannot be read"),
    ]:
        for read in (guess_format, dataset_hash):
            with pytest.raises(MemAuditError, match=message):
                read(path)


def test_the_hash_is_of_the_bytes(tmp_path: Path) -> None:
    data = b"\0abc" * 50_000
    (tmp_path / "x").write_bytes(data)
    assert dataset_hash(tmp_path / "x") == sha256(data).hexdigest()

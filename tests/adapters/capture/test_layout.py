"""Rows as the files that the importers read."""

import json
from pathlib import Path

from memaudit.adapters.capture.systems import blocks_and_passages, one_list
from memaudit.adapters.registry import import_store

BLOCK = {"id": "block-1", "label": "human", "value": "Ann swims."}
PASSAGE = {"id": "passage-1", "text": "Ann owns a boat.", "archive_id": "archive-1"}


def test_one_list() -> None:
    """Under the key the importer knows."""
    assert one_list("results", [{"id": "1"}]) == {".json": {"results": [{"id": "1"}]}}


def test_core_memory_and_archive_apart(tmp_path: Path) -> None:
    """Two files, which Letta's importer reads together without a warning."""
    paths = []
    for end, document in blocks_and_passages("passages", [PASSAGE, BLOCK]).items():
        paths.append(tmp_path / f"export{end}")
        paths[-1].write_text(json.dumps(document))
    assert [path.name for path in paths] == ["export.json", "export.passages.json"]
    store = import_store(paths)
    assert [(one.text, one.namespace) for one in store.memories] == [
        ("Ann swims.", "human"),
        ("Ann owns a boat.", "archival"),
    ]
    assert store.warnings == ()


def test_an_agent_that_wrote_nothing(tmp_path: Path) -> None:
    """Both files are there, and the store is empty, not unreadable."""
    paths = []
    for end, document in blocks_and_passages("passages", []).items():
        paths.append(tmp_path / f"export{end}")
        paths[-1].write_text(json.dumps(document))
    assert import_store(paths, "letta").memories == ()

"""Damaged rows are accounted for; tests/hardening damages the bytes of every export."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.io.store_file import ExportedStore, store_text
from tests.conversations.files import changed, ways
from tests.stores.exports import EXPORTS, Export, attempt, balanced

DEEP: Any = "x"
for _ in range(100):
    DEEP = [DEEP]

JUNK: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    1e300,
    10**59,
    "",
    " ",
    "x",
    "\ud800",
    "\u202e",
    [],
    [[]],
    [None],
    {},
    {"": {}},
    [{"id": 1}],
    float("nan"),
    DEEP,
    "9" * 13,
    {"error": "no"},
    "x" * 1_000_001,
]


DOCUMENTS = {
    name: export
    for name, export in EXPORTS.items()
    if export.document is not None or export.lines is not None
}


def check(store: ExportedStore | None, error: str, name: str, before: ExportedStore) -> None:
    """An error names the file; a store is whole, or says what it lacks and where."""
    if store is None:
        assert name in error, error
        assert "\n" not in error
        assert len(error) < 500
        return
    assert balanced(store)
    store_text(store).encode()  # can be written
    skipped, skipped_before = (sum(one.count.skipped.values()) for one in (store, before))
    assert (
        store.count.kept >= before.count.kept
        or skipped > skipped_before
        or store.count.read < before.count.read  # the row or the list itself is gone
    )
    for reason, count in store.count.skipped.items():
        (warning,) = [one for one in store.warnings if f"skipped, {reason}: " in one]
        assert warning.startswith(f"{count} row")
        assert name in warning
    if not store.memories:
        assert any("the store is empty" in one for one in store.warnings)


def data_of(export: Export) -> Any:
    """The export as data; a document that is a string stands for what is in it."""
    data = export.lines if export.lines is not None else export.document
    return json.loads(data) if isinstance(data, str) else data


def written(path: Path, data: Any, lines: bool) -> Path:
    rows = data if lines and isinstance(data, list) else [data]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("export", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_every_part_exchanged_or_dropped(export: Export, tmp_path: Path) -> None:
    """Missing keys, nulls, wrong types, huge texts, deep nesting: a seeded sample of all pairs."""
    data, lines = data_of(export), export.lines is not None
    before, error = attempt([written(tmp_path / "before.json", data, lines)], export.format)
    assert before is not None, error
    cases = [(way, junk) for way in ways(data) for junk in range(-1, len(JUNK))]
    for way, junk in random.Random(7).sample(cases, min(120, len(cases))):
        new = changed(data, way, JUNK[junk] if junk >= 0 else None, drop=junk < 0)
        path = written(tmp_path / "export.json", new, lines)
        check(*attempt([path], export.format), "export", before)
        store, error = attempt([path])
        assert store is None or balanced(store)
        assert "\n" not in error


@pytest.mark.parametrize("export", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_rows_doubled(export: Export, tmp_path: Path) -> None:
    """Duplicated ids: an equal row is skipped and named, another one renamed and named."""
    data, lines = data_of(export), export.lines is not None
    path = written(tmp_path / "export.json", data, lines)
    pages = [path, written(tmp_path / "export2.json", data, lines)]
    before, _ = attempt([path], export.format)
    store, error = attempt(pages, export.format)
    assert before is not None
    assert store is not None, error
    assert balanced(store)
    if export.format == "mem0-search":  # the same memory retrieved again is no other row
        assert store.count == before.count
        return
    assert store.count.read == 2 * before.count.read
    if store.count.kept > before.count.kept:
        assert any("renamed" in one or "numbered" in one for one in store.warnings)
    again, _ = attempt(pages, export.format)
    assert again == store

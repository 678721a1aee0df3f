"""Store files and published judgements: exact values; what is edited or damaged is refused."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import (
    MISSING_MEMORIES,
    ExportWarning,
    export_warning,
    missing_memories,
    read_store,
    store_digest,
    write_store,
)
from memaudit.stores.published import (
    CoverageCell,
    SalienceScore,
    read_coverage_calls,
    read_salience_calls,
)
from memaudit.stores.registry import import_store
from tests.stores.exports import EXPORTS


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "store.json"
    write_store(import_store([EXPORTS["mem0"].write(tmp_path)]), path)
    return path


def edited(path: Path, **changes: Any) -> Path:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return path


def test_one_memory_a_line(written: Path) -> None:
    lines = written.read_text().splitlines()
    assert sum(line.startswith('    {"id": "m') for line in lines) == 3


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "other"}, "is not a store"),
        ({"version": 2}, "is a store of version 2"),
        ({"memories": [{"id": "a", "text": "x", "state": "asleep"}]}, "memories.0.state: input"),
        ({"memories": [{"id": "a", "text": "x"}] * 2}, "repeats the id 'a'"),
        ({"memories": None}, "memories: input"),
        ({"extra": 1}, "extra: unknown field"),
    ],
)
def test_not_a_store(written: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(MemAuditError) as caught:
        read_store(edited(written, **changes))
    assert str(caught.value).startswith("store.json: ")
    assert said in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_damaged(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "store.json").write_bytes(content)
    with pytest.raises(MemAuditError, match=r"^store\.json:"):
        read_store(tmp_path / "store.json")


WRITTEN_BEFORE = {
    "truncated: holds 20 of 30 rows; export every page": ExportWarning.TRUNCATED,
    "maybe truncated: exactly 20 rows, the default limit": ExportWarning.MAYBE_TRUNCATED,
    "incomplete: 2 packages are not in this store: p, q": ExportWarning.INCOMPLETE,
    "core memory only: an agent file holds no archival passages": ExportWarning.CORE_MEMORY_ONLY,
    "archival passages only: core memory is in the agent file": ExportWarning.ARCHIVAL_ONLY,
    "a union of search results, not a dump: 9 retrieved rows hold 3": ExportWarning.SEARCH_RESULTS,
    "rows carry a search score: a search result holds only what it found": (
        ExportWarning.SEARCH_SCORES
    ),
    "partly read: 1 of 5 rows were skipped": ExportWarning.PARTLY_READ,
    "order of writing unknown: 2 of 3 memories have no creation time": ExportWarning.ORDER_UNKNOWN,
}
"""Texts in stores on disk. They are never removed from here."""


@pytest.mark.parametrize("text", WRITTEN_BEFORE)
def test_texts_of_earlier_versions(text: str) -> None:
    """A reworded warning still clears no caveat of a store on disk."""
    assert export_warning(text) is WRITTEN_BEFORE[text]


def test_what_is_written_is_recognised() -> None:
    """Whatever the detail says; and every member has a text of an earlier version above."""
    assert [export_warning(member.text("anything")) for member in ExportWarning] == list(
        ExportWarning
    )
    assert set(WRITTEN_BEFORE.values()) == set(ExportWarning)
    assert export_warning("the store is empty") is None


def test_missing_memories() -> None:
    """All but the order of writing and rows that are counted anyway."""
    texts = [member.text("x") for member in ExportWarning]
    assert len(missing_memories([*texts, "expiry dates"])) == len(MISSING_MEMORIES)
    partly = ExportWarning.PARTLY_READ.text("x")
    assert missing_memories([partly, ExportWarning.ORDER_UNKNOWN.text("y")]) == ()


def test_digest_is_of_the_memories(written: Path) -> None:
    store = read_store(written)
    assert store_digest(store.model_copy(update={"name": "x"})) == store_digest(store)
    fewer = store.model_copy(update={"memories": store.memories[1:]})
    assert store_digest(fewer) != store_digest(store)
    written.write_text(written.read_text().replace("tea", "coffee"))
    with pytest.raises(MemAuditError, match="does not match its digest"):
        read_store(written)


def saved(folder: Path, *rows: Any) -> Path:
    path = folder / "calls.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def edge(coverage: object, memory: str = "m0", unit: str = "q1::u") -> dict[str, object]:
    return {"memory_id": memory, "unit_id": unit, "coverage": coverage}


def test_coverage(tmp_path: Path) -> None:
    """Ids as the imported store has them; values exact; an example judged empty is judged."""
    path = saved(
        tmp_path,
        {"instance_id": "q1", "coverage_edges": [edge(0.1), edge(1, memory="q1::m1")]},
        {"instance_id": "q2", "coverage_edges": []},
    )
    calls = read_coverage_calls(path)
    assert calls.rows == (
        CoverageCell("q1", "q1::m0", "q1::u", Fraction(1, 10)),
        CoverageCell("q1", "q1::m1", "q1::u", Fraction(1)),
    )
    assert (calls.examples, calls.skipped) == (("q1", "q2"), {})


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"instance_id": "q2", "coverage_edges": None}, "coverage_edges is nothing"),
        ({"instance_id": "q2", "error": "timeout", "coverage_edges": []}, "the call failed"),
        ({"instance_id": "q2", "coverage_edges": [edge(2)]}, "not between 0 and 1"),
        ({"instance_id": "q2", "coverage_edges": [edge("much")]}, "is not a number"),
        ({"instance_id": "q2", "coverage_edges": [edge(True)]}, "not true or false"),
        ({"instance_id": "q2", "coverage_edges": [edge(1), edge(0)]}, "two edges"),
        ({"instance_id": "q2", "coverage_edges": [{"unit_id": "u"}]}, "no memory_id"),
        ({"instance_id": "q1", "coverage_edges": []}, "second line"),
        ({"coverage_edges": []}, "no instance_id"),
        (3, "a number, not an object"),
    ],
)
def test_a_failed_call_is_not_zero_coverage(row: object, said: str, tmp_path: Path) -> None:
    path = saved(tmp_path, {"instance_id": "q1", "coverage_edges": [edge(1)]}, row)
    calls = read_coverage_calls(path)
    assert calls.examples == ("q1",)
    assert len(calls.rows) == 1
    ((place, reason),) = calls.skipped.items()
    assert place == "calls.jsonl:2"
    assert said in reason


def test_salience(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        {"instance_id": "q1", "scores": {"m0": {"salience": 0.25}}},
        {"instance_id": "q2", "scores": {"m0": {"reason": "?"}}},
    )
    calls = read_salience_calls(path)
    assert calls.rows == (SalienceScore("q1", "q1::m0", Fraction(1, 4)),)
    assert calls.skipped == {"calls.jsonl:2": "no salience"}


def test_nothing_readable(tmp_path: Path) -> None:
    with pytest.raises(MemAuditError, match=r"^calls\.jsonl:1: no line could be read"):
        read_coverage_calls(saved(tmp_path, {"instance_id": "q1"}, {"instance_id": "q2"}))

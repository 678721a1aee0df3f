"""Stores that real systems wrote, where someone has them."""

from collections import Counter
from pathlib import Path

import pytest

from memaudit.kernel.io.store_file import document_lines
from memaudit.stores.documents import split_document
from memaudit.stores.protocol import ImportOptions
from memaudit.stores.registry import import_store
from tests.conversations.files import real_file
from tests.stores.exports import balanced

BLOCKS = {
    "co-3": (29, 0),
    "customer_service": (2, 0),
    "evie": (13, 0),
    "lettabot": (11, 0),
    "memgpt_agent_with_convo": (2, 0),
    "void": (21, 3),
}
"""Blocks with words, and blank ones."""


def test_mem0_memories() -> None:
    """510 memories in two namespaces, of 423 distinct texts; every time is read."""
    store = import_store([real_file("stores/mem0/locomo_conv26_memories.jsonl")])
    assert (store.count.read, store.count.kept, store.count.skipped) == (510, 510, {})
    assert len({memory.text for memory in store.active}) == 423
    assert len({memory.namespace for memory in store.active}) == 2
    assert all(memory.created_at for memory in store.memories)
    assert store.memories[16].id == "line-17"
    assert store.warnings == ()


def test_mem0_search_results() -> None:
    union = import_store([real_file("stores/mem0/locomo_conv26_search_results.json")])
    rows = import_store([real_file("stores/mem0/locomo_conv26_memories.jsonl")])
    assert union.origin.format == "mem0-search"
    assert len(union.active) == 510
    found, listed = (
        Counter((memory.text, memory.created_at) for memory in store.active)
        for store in (union, rows)
    )
    assert found == listed


@pytest.mark.parametrize("name", BLOCKS)
def test_letta_agent_files(name: str) -> None:
    """Every agent file of the gallery, one of them JSON inside a string; blank blocks are named."""
    path = real_file(f"stores/letta/{name}.af")
    store = import_store([path], options=ImportOptions(view="full"))
    kept, blank = BLOCKS[name]
    assert store.origin.format == "letta"
    assert (len(store.active), store.count.skipped.get("empty text", 0)) == (kept, blank)
    assert balanced(store)
    assert any(warning.startswith("core memory only") for warning in store.warnings)


@pytest.mark.parametrize("name", BLOCKS)
def test_letta_entries(name: str) -> None:
    """By default every block with words is cut; its pieces name all of its lines, each once."""
    store = import_store([real_file(f"stores/letta/{name}.af")])
    assert len(store.documents) == BLOCKS[name][0]
    assert balanced(store)
    for document in store.documents:
        pieces = split_document(document.text)
        numbers = [n for piece in pieces for n in range(piece.first, piece.last + 1)]
        assert numbers == list(range(1, len(document_lines(document.text)) + 1))
        own = [memory for memory in store.active if memory.document == document.id]
        assert [(memory.text, memory.lines) for memory in own] == [
            (piece.text, (piece.first, piece.last)) for piece in pieces if piece.kind == "entry"
        ]


def test_letta_folder() -> None:
    """A folder of agent files is one import; block ids repeat across files and are renamed."""
    folder = Path(real_file("stores/letta/void.af")).parent
    store = import_store([folder], options=ImportOptions(view="full"))
    assert len(store.active) == sum(kept for kept, _ in BLOCKS.values())
    assert balanced(store)
    assert any("id used twice" in warning for warning in store.warnings)
    entries = import_store([folder])
    assert len(entries.documents) == len(store.active)
    assert balanced(entries)

"""What is particular to one format, worked out by hand on its export."""

import json
from pathlib import Path
from typing import Any

import pytest

from memaudit.adapters.protocol import ImportOptions
from memaudit.adapters.published_layout import split_examples
from memaudit.adapters.registry import import_store
from memaudit.adapters.store import ExportedStore
from tests.adapters.exports import EDGES, EXPORTS, ITEMS, LETTA, MEM0, NOTES, PASSAGES


def saved(folder: Path, document: Any, name: str = "export.json") -> Path:
    (folder / name).write_text(json.dumps(document))
    return folder / name


def read(folder: Path, name: str, **options: Any) -> ExportedStore:
    return import_store([EXPORTS[name].write(folder)], options=ImportOptions(**options))


def texts(store: ExportedStore) -> list[str]:
    return [memory.text for memory in store.active]


def test_mem0_fields(tmp_path: Path) -> None:
    old, bo, new = read(tmp_path, "mem0").memories
    assert (old.id, old.state, old.valid_to) == ("m1", "expired", "2025-02-01")
    assert (old.created_at, old.updated_at) == ("2025-01-06T12:30", "2025-01-07T00:00")
    assert (bo.id, bo.namespace) == ("m3", "bo")
    assert (new.created_at, new.metadata["topic"]) == ("2025-03-14T19:10", "food")


def test_expiry_is_judged_at_a_given_time(tmp_path: Path) -> None:
    store = read(tmp_path, "mem0", as_of="2025-01-31")
    assert store.count.inactive == {}
    assert store.origin.configuration == {"as_of": "2025-01-31"}


@pytest.mark.parametrize(
    ("format", "limit", "row"),
    [
        ("mem0", 20, MEM0["results"][2]),
        ("mem0", 100, MEM0["results"][2]),
        ("langgraph", 10, ITEMS[0]),
        ("graphiti", 10, EDGES[0]),
        ("letta", 50, PASSAGES[0]),
    ],
)
def test_default_limits(format: str, limit: int, row: dict[str, Any], tmp_path: Path) -> None:
    """A list exactly as long as a default limit is suspect; one row more is not."""
    key = next(name for name in ("id", "key", "uuid") if name in row)
    rows = [{**row, key: str(at)} for at in range(limit + 1)]
    cut = import_store([saved(tmp_path, rows[:limit])], format)
    assert any(f"exactly {limit} rows" in warning for warning in cut.warnings)
    whole = import_store([saved(tmp_path, rows)], format)
    assert not any("truncated" in warning for warning in whole.warnings)


def test_pages_given_in_full_are_not_cut(tmp_path: Path) -> None:
    """12 entries in pages of 10 and 2, each with an earlier version: the export's own total says
    that all are there, and earlier versions are none of them."""
    entry = {"memory": "Ann eats fish.", "isLatest": True, "isForgotten": False}
    rows = [
        {**entry, "id": f"m{at}", "history": [{"id": f"v{at}", "memory": "Ann ate meat."}]}
        for at in range(12)
    ]
    pages = [
        saved(tmp_path, {"memoryEntries": some, "pagination": {"totalItems": 12}}, f"{at}.json")
        for at, some in enumerate((rows[:10], rows[10:]))
    ]
    assert not any("truncated" in one for one in import_store(pages).warnings)
    assert "truncated: holds 10 of 12 rows; export every page" in import_store(pages[:1]).warnings
    units = [{"id": f"h{at}", "text": "Ann eats fish.", "fact_type": "world"} for at in range(110)]
    listed = [
        saved(tmp_path, {"items": some, "total": 110}, f"h{at}.json")
        for at, some in enumerate((units[:100], units[100:]))
    ]
    assert not any("truncated" in one for one in import_store(listed).warnings)
    passages = [{**PASSAGES[0], "id": f"p{at}"} for at in range(53)]
    paged = [
        saved(tmp_path, some, f"p{at}.json")
        for at, some in enumerate((passages[:50], passages[50:]))
    ]
    assert not any("truncated" in one for one in import_store(paged).warnings)


def test_mem0_calls_cut_one_by_one(tmp_path: Path) -> None:
    """Two users, two calls of get_all: the first one stopped at 20, whatever comes after it."""
    row = MEM0["results"][2]
    ann = [{**row, "id": f"a{at}", "user_id": "ann"} for at in range(20)]
    bo = [{**row, "id": f"b{at}", "user_id": "bo"} for at in range(3)]
    paths = [saved(tmp_path, ann, "ann.json"), saved(tmp_path, bo, "bo.json")]
    assert any("exactly 20 rows" in one for one in import_store(paths).warnings)


def test_mem0_beside_the_memories(tmp_path: Path) -> None:
    """Graph relations are not read, and that is said; a score is seen in every form of a list."""
    row = {"id": "m1", "memory": "Ann eats fish.", "user_id": "ann"}
    graph = {"results": [row], "relations": [{"source": "ann", "relationship": "eats"}]}
    (said,) = import_store([saved(tmp_path, graph)]).warnings[:1]
    assert said == "incomplete: graph relations beside memories are not read: 1"
    found = import_store([saved(tmp_path, {"memories": [{**row, "score": 0.4}]})], "mem0")
    assert any("search score" in one for one in found.warnings)


def test_mem0_search_of_one_conversation(tmp_path: Path) -> None:
    one = EXPORTS["mem0 search"].document
    assert {memory.example for memory in read(tmp_path, "mem0 search").memories} == {None}
    two = import_store([saved(tmp_path, {**one, "1": one["0"]}, "two.json")])
    assert {memory.example for memory in two.memories} == {"0", "1"}


def test_letta_together(tmp_path: Path) -> None:
    paths = [saved(tmp_path, LETTA, "kit.af"), saved(tmp_path, PASSAGES, "passages.json")]
    store = import_store(paths)
    assert [memory.id for memory in store.memories] == [
        "block-0", "block-1", "passage-1", "passage-2",
    ]  # fmt: skip
    assert not any("only" in warning for warning in store.warnings)
    assert store.memories[0].metadata["agents"] == ["Kit", "Sleeper"]
    assert (store.memories[0].namespace, store.memories[2].namespace) == ("human", "archival")
    assert "embedding" not in store.memories[3].metadata
    assert sorted(store.origin.files) == ["kit.af", "passages.json"]


def test_letta_lines(tmp_path: Path) -> None:
    store = read(tmp_path, "letta agent file", view="lines")
    assert [(memory.id, memory.text) for memory in store.memories] == [
        ("block-0:1", "Name: Ann"), ("block-0:3", "Eats: fish"), ("block-1:1", "I am Kit."),
    ]  # fmt: skip


def test_letta_without_memories(tmp_path: Path) -> None:
    for blocks in ([], [LETTA["blocks"][2]]):
        store = import_store([saved(tmp_path, {**LETTA, "blocks": blocks}, "kit.af")])
        assert store.memories == ()
        assert any("the store is empty" in warning for warning in store.warnings)


def test_letta_block_of_no_agent(tmp_path: Path) -> None:
    block = {**LETTA["blocks"][0], "id": "block-9"}
    store = import_store([saved(tmp_path, {**LETTA, "blocks": [block]}, "kit.af")])
    assert any("no agent of the file has this block attached" in one for one in store.warnings)


def test_markdown(tmp_path: Path) -> None:
    """The path is the id, the front matter metadata, and a line a memory where asked."""
    notes, human = read(tmp_path, "markdown folder").memories
    assert (notes.id, notes.namespace) == ("notes.md", None)
    assert (human.id, human.namespace) == ("system/human.md", "system")
    assert human.metadata == {"name": "human", "description": ">-\n  user"}
    lines = read(tmp_path, "markdown folder", view="lines")
    assert [memory.id for memory in lines.memories] == [
        "notes.md:1", "notes.md:3", "system/human.md:1",
    ]  # fmt: skip


def test_amem_views(tmp_path: Path) -> None:
    metadata = "memory context: Ann's diet\nmemory keywords: Ann, fish\nmemory tags: diet"
    assert (
        texts(read(tmp_path, "amem notes", view="metadata"))[0] == f"{metadata}\nmemory links: n2"
    )
    assert texts(read(tmp_path, "amem chroma", view="metadata")) == [metadata]
    assert texts(read(tmp_path, "amem notes", view="content"))[0] == "Ann eats fish."
    whole = json.loads(texts(read(tmp_path, "amem notes", view="serialised"))[0])
    assert whole["content"] == "Ann eats fish."
    assert whole["links"] == ["n2"]
    assert {"keywords", "context", "tags", "timestamp"} <= whole.keys()
    (note,) = read(tmp_path, "amem chroma").memories
    assert (note.created_at, note.metadata["keywords"]) == ("2025-03-14T12:10", ["Ann", "fish"])


def test_amem_metadata_view_of_a_bare_note(tmp_path: Path) -> None:
    bare = {**NOTES[0], "context": "", "keywords": [], "tags": [], "links": []}
    path = saved(tmp_path, [bare, NOTES[1]])
    store = import_store([path], options=ImportOptions(view="metadata"))
    assert store.count.skipped == {"empty text": 1}


def test_langgraph_ids_and_views(tmp_path: Path) -> None:
    store = read(tmp_path, "langgraph items")
    assert [memory.id for memory in store.memories] == [
        "memories/ann/k1", "memories/ann/k2", "profiles/ann/k1",
    ]  # fmt: skip
    whole = read(tmp_path, "langgraph items", view="value")
    assert texts(whole)[1] == '{"content": "Ann eats fish."}'
    assert texts(read(tmp_path, "langgraph items", namespace="memories/ann")) == [
        "Ann lives in Oslo.", "Ann eats fish.",
    ]  # fmt: skip


def test_graphiti_validity(tmp_path: Path) -> None:
    """Intervals are kept; told false is superseded, ended by itself is expired."""
    bergen, course, oslo = read(tmp_path, "graphiti").memories
    assert (bergen.state, bergen.valid_from, bergen.valid_to) == (
        "superseded", "2024-01-01T00:00", "2025-03-01T00:00",
    )  # fmt: skip
    assert (course.state, course.valid_to) == ("expired", "2025-02-20T00:00")
    assert (oslo.state, oslo.valid_from, oslo.valid_to) == ("active", "2025-03-01T00:00", None)
    assert course.sources == ("e1", "e2")
    dated = texts(read(tmp_path, "graphiti", view="dated"))
    assert dated[0] == "Ann lives in Bergen. (2024-01-01T00:00 to 2025-03-01T00:00)"
    assert dated[2] == "Ann lives in Oslo. (2025-03-01T00:00 to present)"


def test_supermemory_versions(tmp_path: Path) -> None:
    states = {memory.id: memory.state for memory in read(tmp_path, "supermemory").memories}
    assert states == {"s1": "superseded", "s2": "active", "s3": "deleted"}


def test_hindsight_sources(tmp_path: Path) -> None:
    old, new = read(tmp_path, "hindsight").memories
    assert (old.state, old.valid_to) == ("superseded", "2025-03-14T12:10")
    assert (new.sources, new.valid_from) == (("h1",), "2025-03-01T00:00")


def test_openai_agents_session(tmp_path: Path) -> None:
    first, second = read(tmp_path, "openai agents sqlite").memories
    assert (first.id, first.namespace, first.metadata) == ("message-1", "s", {"role": "user"})
    assert second.metadata == {"role": "assistant"}


def test_written_stores_by_example(tmp_path: Path) -> None:
    """Ids are unique across examples; an example that wrote nothing is still one."""
    store = read(tmp_path, "written stores")
    assert [memory.id for memory in store.memories] == ["q1::m0", "q1::m1", "q2::m0"]
    assert store.origin.configuration == {"examples": {"q1": 2, "q2": 1, "q3": 0}}
    parts = split_examples(store)
    assert {name: len(part.memories) for name, part in parts.items()} == {"q1": 2, "q2": 1, "q3": 0}


def test_written_stores_failed_run(tmp_path: Path) -> None:
    """A run that failed is skipped and named, never an example that wrote nothing."""
    rows = [
        {"instance_id": "q1", "memories": [{"memory_id": "m", "text": "Ann eats fish."}]},
        {"instance_id": "q2", "memories": [], "error": "rate limit"},
        {"instance_id": "q3", "memories": None},
        {"instance_id": "q1", "memories": []},
    ]
    path = tmp_path / "written_stores.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    store = import_store([path])
    assert store.origin.configuration == {"examples": {"q1": 1}}
    assert store.count.skipped == {
        "failed run": 1,
        "memories is nothing, not a list": 1,
        "second line of an example": 1,
    }
    assert any("partly read: 3 of 4 rows" in warning for warning in store.warnings)
    assert "1 row skipped, failed run: written_stores.jsonl:2 (q2, rate limit)" in store.warnings


def test_plain_fields(tmp_path: Path) -> None:
    """Lines without an id are named by their number; what is not known is metadata."""
    first, second = read(tmp_path, "plain lines").memories
    assert (first.id, first.namespace, first.salience) == ("line-1", "ann", 0.5)
    assert (first.sources, first.metadata["session"]) == (("D1:2",), "s1")
    assert (second.id, second.state) == ("old", "superseded")

"""What is particular to one format, worked out by hand on its export."""

import json
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.stores.protocol import ImportOptions
from memaudit.stores.published import split_examples
from memaudit.stores.registry import import_store
from tests.stores.exports import (
    AGNO,
    BANK,
    EDGES,
    EXPORTS,
    GRAPH,
    ITEMS,
    KEYED,
    LETTA,
    LONG_TERM,
    MEM0,
    MID_TERM,
    NOTES,
    PASSAGES,
    RECORDS,
    WEBUI,
    write_tables,
)


def saved(folder: Path, document: Any, name: str = "export.json") -> Path:
    (folder / name).write_text(json.dumps(document))
    return folder / name


def read(folder: Path, name: str, **options: Any) -> ExportedStore:
    return import_store([EXPORTS[name].write(folder)], options=ImportOptions(**options))


def texts(store: ExportedStore) -> list[str]:
    return [memory.text for memory in store.active]


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
        ("agentcore", 20, RECORDS["memoryRecordSummaries"][0]),
        ("agentcore", 100, RECORDS["memoryRecordSummaries"][0]),
        ("vertex-memory", 100, BANK["memories"][0]),
    ],
)
def test_default_limits(format: str, limit: int, row: dict[str, Any], tmp_path: Path) -> None:
    """A list exactly as long as a default limit is suspect; one row more is not."""
    key = next(name for name in ("id", "key", "uuid", "memoryRecordId", "name") if name in row)
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


def test_one_conversation_of_several(tmp_path: Path) -> None:
    """Also one that wrote nothing; an unknown one is an error that lists those there are."""
    one = EXPORTS["mem0 search"].document
    path = saved(tmp_path, {**one, "1": one["0"][:1]})
    store = import_store([path], options=ImportOptions(conversation="1"))
    assert [(memory.example, memory.text) for memory in store.memories] == [
        ("1", "Ann likes tea."),
        ("1", "Ann eats fish."),
    ]
    assert store.count.skipped == {"other conversation": 3}
    assert store.origin.configuration == {"conversation": "1"}
    assert any("2 retrieved rows hold 2 distinct memories" in line for line in store.warnings)
    with pytest.raises(MemAuditError, match="has the conversation '7'; the conversations are '0'"):
        import_store([path], options=ImportOptions(conversation="7"))
    nothing = read(tmp_path, "written stores", conversation="q3")
    assert (nothing.memories, nothing.origin.configuration["examples"]) == ((), {"q3": 0})
    with pytest.raises(MemAuditError, match="the conversations are 'q1', 'q2', 'q3'"):
        read(tmp_path, "written stores", conversation="q4")
    with pytest.raises(MemAuditError, match="has the conversation '0'; leave out conversation"):
        read(tmp_path, "mem0", conversation="0")


def test_letta_together(tmp_path: Path) -> None:
    paths = [saved(tmp_path, LETTA, "kit.af"), saved(tmp_path, PASSAGES, "passages.json")]
    store = import_store(paths)
    assert [memory.id for memory in store.memories] == [
        "block-0:L1",
        "block-0:L3",
        "block-1:L1",
        "passage-1",
        "passage-2",
    ]
    assert not any("only" in warning for warning in store.warnings)
    assert store.memories[0].metadata["agents"] == ["Kit", "Sleeper"]
    assert (store.memories[0].namespace, store.memories[3].namespace) == ("human", "archival")
    assert "embedding" not in store.memories[4].metadata
    assert sorted(store.origin.files) == ["kit.af", "passages.json"]


def test_letta_several_agents_in_a_file(tmp_path: Path) -> None:
    """They are read as one, and that is said."""
    store = import_store([saved(tmp_path, LETTA, "kit.af")])
    assert (
        "holds 2 agents, read as one: Kit, Sleeper (Letta exports one agent a file)"
        in store.warnings
    )
    assert texts(read(tmp_path, "letta agent file", namespace="human")) == [
        "Name: Ann",
        "Eats: fish",
    ]


def test_letta_order_that_is_not_known(tmp_path: Path) -> None:
    """Of blocks it never is, of passages only with their times; it is said once."""
    blocks, page = EXPORTS["letta agent file"].write(tmp_path, "kit"), PASSAGES[0]
    dated = saved(tmp_path, [page, {**page, "id": "p2"}], "dated.json")
    undated = saved(tmp_path, [page, {**page, "id": "p2", "created_at": None}], "undated.json")
    of_blocks = "order of writing unknown: blocks have no times, and are listed before passages"
    of_entries = "order of writing unknown: entries of a document have no times"
    of_passages = "order of writing unknown: not every passage says when it was created"
    for paths, view, expected in (
        ([blocks], "full", [of_blocks]),
        ([blocks], "entries", [of_entries]),
        ([blocks, dated], "full", [of_blocks]),
        ([dated], "full", []),
        ([undated], "full", [of_passages]),
    ):
        said = import_store(paths, options=ImportOptions(view=view)).warnings
        unknown = [line for line in said if line.startswith("order of writing unknown")]
        assert len(unknown) == len(expected)
        assert all(map(str.startswith, unknown, expected))


def test_letta_times_of_a_block_are_of_none_of_its_entries(tmp_path: Path) -> None:
    """Nor of the whole block: they are kept beside the text, and passages have their own."""
    for view in ("entries", "full", "lines"):
        (block,) = read(tmp_path, "letta older agent file", view=view).memories
        assert (block.created_at, block.updated_at) == (None, None)
        assert block.metadata["created_at"] == "2025-03-14T12:10:00+00:00"
    (passage,) = read(tmp_path, "letta passages").active
    assert passage.created_at == "2025-04-01T00:00"


def test_letta_without_memories(tmp_path: Path) -> None:
    for blocks in ([], [LETTA["blocks"][2]]):
        store = import_store([saved(tmp_path, {**LETTA, "blocks": blocks}, "kit.af")])
        assert store.memories == ()
        assert any("the store is empty" in warning for warning in store.warnings)


def test_letta_block_of_no_agent(tmp_path: Path) -> None:
    block = {**LETTA["blocks"][0], "id": "block-9"}
    store = import_store([saved(tmp_path, {**LETTA, "blocks": [block]}, "kit.af")])
    assert any("no agent of the file has this block attached" in one for one in store.warnings)


def test_amem_metadata_view_of_a_bare_note(tmp_path: Path) -> None:
    bare = {**NOTES[0], "context": "", "keywords": [], "tags": [], "links": []}
    path = saved(tmp_path, [bare, NOTES[1]])
    store = import_store([path], options=ImportOptions(view="metadata"))
    assert store.count.skipped == {"empty text": 1}


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


def test_mem0_search_with_a_graph(tmp_path: Path) -> None:
    """Relations that were retrieved beside the memories are not read, and that is said."""
    edge = {"source": "ann", "relationship": "eats", "target": "fish"}
    questions = EXPORTS["mem0 search"].document["0"]
    graph = {"speaker_1_graph_memories": [edge, edge], "speaker_2_graph_memories": None}
    store = import_store([saved(tmp_path, {"0": [{**one, **graph} for one in questions]})])
    assert "incomplete: graph relations beside memories are not read: 4" in store.warnings
    assert len(store.active) == 3


@pytest.mark.parametrize(
    ("rows", "key", "token"),
    [
        (RECORDS["memoryRecordSummaries"], "memoryRecordSummaries", "nextToken"),
        (RECORDS["memoryRecordSummaries"], "memoryRecordSummaries", "NextToken"),
        (BANK["memories"], "memories", "nextPageToken"),
    ],
)
def test_tokens_of_pages(rows: list[Any], key: str, token: str, tmp_path: Path) -> None:
    """The last page decides: it names no next one, whatever its length."""
    name = "memoryRecordId" if "memoryRecordId" in rows[0] else "name"
    many = [{**rows[0], name: str(at)} for at in range(40)]
    first = saved(tmp_path, {key: many[:20], token: "abc"}, "1.json")
    last = saved(tmp_path, {key: many[20:]}, "2.json")
    assert not any("truncated" in one for one in import_store([first, last]).warnings)
    said = "truncated: the export names a next page; export every page"
    assert said in import_store([first]).warnings


def test_agentcore_search(tmp_path: Path) -> None:
    """retrieve_memory_records answers in the same shape, with scores."""
    (row, _) = RECORDS["memoryRecordSummaries"]
    path = saved(tmp_path, {"memoryRecordSummaries": [{**row, "score": 0.5}]})
    assert any(one.startswith("rows carry a search score") for one in import_store([path]).warnings)


def test_mcp_memory_what_is_not_one(tmp_path: Path) -> None:
    """Lines that the server ignores too are named; an observation without its entity is none."""
    lines = [
        *GRAPH,
        {"type": "note", "text": "x"},
        {"type": "relation", "from": "Ann", "to": "Oslo"},
        {"type": "entity", "name": " ", "entityType": "person", "observations": ["Sings."]},
        {"type": "entity", "name": "Bo", "entityType": "person", "observations": "Sings."},
        {"type": "entity", "name": "Cy", "entityType": "person", "observations": ["Sings.", 7]},
    ]
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    store = import_store([path])
    assert store.count.skipped == {
        "empty text": 1,
        "neither an entity nor a relation": 1,
        "no relationType": 1,
        "no name": 1,
        "observations is text, not a list": 1,
        "observation is a number, not text": 1,
    }
    assert [one.id for one in store.memories] == ["Ann/1", "Ann/2", "Ann lives_in Oslo", "Cy/1"]
    whole = import_store([path], options=ImportOptions(view="entities"))
    assert texts(whole)[-1] == "Cy (person):\nSings."
    assert any("an observation left out" in one for one in whole.warnings)


def test_librechat_order(tmp_path: Path) -> None:
    """By the last update, which replaces the value; unknown if a row has none."""
    assert not any("order" in one for one in read(tmp_path, "librechat").warnings)
    undated = [KEYED[0], {**KEYED[1], "updated_at": None}, {**KEYED[0], "key": ""}]
    store = import_store([saved(tmp_path, undated)])
    assert store.count.skipped == {"no key": 1}
    assert texts(store) == ["Eats fish.", "Lives in Oslo."]
    assert any(one.startswith("order of writing unknown") for one in store.warnings)


def test_open_webui_or_plain(tmp_path: Path) -> None:
    """Rows with the same names and other times are nobody's format: plain."""
    rows = [{**row, "created_at": "2025-03-14", "updated_at": "2025-03-14"} for row in WEBUI]
    assert import_store([saved(tmp_path, rows)]).origin.format == "plain"
    newer = [{**row, "type": "user", "path": "food", "meta": None} for row in WEBUI]
    write_tables(tmp_path / "webui.db", {"memory": newer})
    store = import_store([tmp_path / "webui.db"])
    assert store.memories[0].metadata == {"type": "user", "path": "food"}


def test_agno_columns(tmp_path: Path) -> None:
    """A column that is plain text, one in quotes as JSON, and what is no text; older tables, which
    hold code to be evaluated, are refused."""
    row = {"memory_id": "g", "user_id": "ann", "topics": None, "created_at": 1741954200}
    values = ("Ann eats fish.", '"Ann eats fish."', '{"memory": {"x": 1}}', "7", b"\xff")
    rows = [{**row, "memory_id": str(at), "memory": value} for at, value in enumerate(values)]
    write_tables(tmp_path / "agno.db", {"memories": rows})
    store = import_store([tmp_path / "agno.db"])
    assert texts(store) == ["Ann eats fish.", "Ann eats fish."]
    assert store.count.skipped == {
        "memory is an object, not text": 1,
        "memory is a number, not text": 1,
        "not UTF-8": 1,
    }
    write_tables(tmp_path / "old.db", {"memory": [{"id": "g", "user_id": "ann", "memory": "{}"}]})
    with pytest.raises(MemAuditError, match="has no table with memory_id, memory, user_id; found"):
        import_store([tmp_path / "old.db"], "agno")
    quoted = saved(tmp_path, [{**AGNO[0], "memory": '"Fish" is what Ann eats, {always}'}])
    assert texts(import_store([quoted])) == ['"Fish" is what Ann eats, {always}']


def test_memoryos_summaries(tmp_path: Path) -> None:
    """One memory per session instead of its pages; the other layers stay as they are."""
    store = read(tmp_path, "memoryos folder", view="summaries")
    assert [one.text for one in store.memories if one.namespace == "mid-term"] == [
        "Ann's food.",
        "Ann's health.",
    ]
    assert {one.namespace for one in store.memories} == {
        "short-term",
        "mid-term",
        "profile",
        "user knowledge",
        "assistant knowledge",
    }


def test_memoryos_message_without_an_answer(tmp_path: Path) -> None:
    pairs = [
        {"user_input": "I sing.", "agent_response": "", "timestamp": "2025-03-15 09:00:00"},
        {"user_input": " ", "agent_response": None, "timestamp": "2025-03-15 09:01:00"},
        {"user_input": "I dance.", "agent_response": 7, "timestamp": "2025-03-15 09:02:00"},
    ]
    store = import_store([saved(tmp_path, pairs)])
    assert texts(store) == ["User: I sing."]
    assert store.count.skipped == {"empty text": 1, "Assistant is a number, not text": 1}


def test_memoryos_broken_layers(tmp_path: Path) -> None:
    with pytest.raises(MemAuditError, match="sessions is a list, an object was expected"):
        import_store([saved(tmp_path, {**MID_TERM, "sessions": []})])
    with pytest.raises(MemAuditError, match="knowledge_base is an object, a list was expected"):
        import_store([saved(tmp_path, {**LONG_TERM, "knowledge_base": {}})])
    sessions = {"a": {"details": None}, "b": 7, "c": {"details": []}, **MID_TERM["sessions"]}
    store = import_store([saved(tmp_path, {**MID_TERM, "sessions": sessions})])
    assert store.count.skipped == {
        "details is nothing, not a list": 1,
        "a number, not an object": 1,
        "empty text": 1,
        "repeated row": 1,
    }


FIELDS: dict[str, dict[str, dict[str, Any]]] = {
    "mem0": {
        "m1": {
            "state": "expired",
            "valid_to": "2025-02-01",
            "created_at": "2025-01-06T12:30",
            "updated_at": "2025-01-07T00:00",
        },
        "m3": {"namespace": "bo"},
        "m2": {"created_at": "2025-03-14T19:10"},
    },
    "markdown folder": {
        "notes.md:L1": {"namespace": None, "document": "notes.md", "lines": (1, 1)},
        "notes.md:L3": {"namespace": None, "document": "notes.md", "lines": (3, 3)},
        "system/human.md:L6": {
            "namespace": "system",
            "lines": (6, 6),
            "metadata": {"name": "human", "description": ">-\n  user"},
        },
    },
    "amem chroma": {"n1": {"created_at": "2025-03-14T12:10"}},
    "langgraph items": {"memories/ann/k1": {}, "memories/ann/k2": {}, "profiles/ann/k1": {}},
    # Intervals are kept; said to be false is superseded, ended by itself is expired.
    "graphiti": {
        "u1": {
            "state": "superseded",
            "valid_from": "2024-01-01T00:00",
            "valid_to": "2025-03-01T00:00",
        },
        "u3": {"state": "expired", "valid_to": "2025-02-20T00:00", "sources": ("e1", "e2")},
        "u2": {"state": "active", "valid_from": "2025-03-01T00:00", "valid_to": None},
    },
    "supermemory": {
        "s3": {"state": "deleted"},
        "s1": {"state": "superseded"},
        "s2": {"state": "active"},
    },
    "hindsight": {
        "h1": {"state": "superseded", "valid_to": "2025-03-14T12:10"},
        "h2": {"sources": ("h1",), "valid_from": "2025-03-01T00:00"},
    },
    "openai agents sqlite": {
        "message-1": {"namespace": "s", "metadata": {"role": "user"}},
        "message-3": {"metadata": {"role": "assistant"}},
    },
    # Dates of events are none of the notes; a note names its turns.
    "locomo notes": {
        "conv-1/session_1_observation/Ann/0": {
            "example": "conv-1",
            "namespace": "conv-1",
            "sources": ("D1:2",),
            "metadata": {"kind": "observation"},
        },
        "conv-1/session_1_observation/Ann/1": {"sources": ("D1:3", "D1:4")},
        "conv-1/events_session_1/Ann/0": {"metadata": {"kind": "event"}, "sources": ()},
        "conv-1/session_1_summary": {"metadata": {"kind": "summary"}, "created_at": None},
    },
    "mcp memory graph": {
        "Ann/1": {"metadata": {"kind": "entity", "name": "Ann", "entityType": "person"}},
        "Ann/2": {"created_at": None, "namespace": None},
        "Ann lives_in Oslo": {
            "metadata": {
                "kind": "relation",
                "from": "Ann",
                "to": "Oslo",
                "relationType": "lives_in",
            }
        },
    },
    # Seconds and ISO times are the same times.
    "agentcore": {
        "mem-1": {"created_at": "2025-01-06T12:30", "namespace": "/strategies/facts-1/actors/bo"},
        "mem-2": {"created_at": "2025-03-14T12:10"},
    },
    "vertex memory": {
        "projects/p/locations/l/reasoningEngines/1/memories/1": {
            "state": "expired",
            "valid_to": "2025-02-01T00:00",
            "namespace": "app_name=diary, user_id=ann",
        },
        "projects/p/locations/l/reasoningEngines/1/memories/2": {
            "created_at": "2025-03-14T12:10:00.123456",
            "updated_at": "2025-03-14T12:10",
        },
    },
    "librechat mongo lines": {
        "k1": {
            "namespace": "ann",
            "created_at": None,
            "updated_at": "2025-01-06T12:30",
            "metadata": {"key": "home", "tokenCount": 4},
        },
        "k2": {"updated_at": "2025-03-14T12:10"},
    },
    "open webui sqlite": {
        "w1": {
            "namespace": "bo",
            "created_at": "2025-01-06T12:30",
            "updated_at": "2025-03-14T12:08:20",
            "metadata": {},
        },
        "w2": {"created_at": "2025-03-14T12:10"},
    },
    "agno sqlite": {
        "g1": {"namespace": "ann", "created_at": "2025-01-06T12:30", "metadata": {}},
        "g2": {"metadata": {"topics": ["food"], "input": "I eat fish now."}},
        "g3": {"namespace": "bo", "metadata": {"agent_id": "kit"}},
    },
    "memoryos long-term": {
        "profile/ann": {
            "namespace": "profile",
            "created_at": None,
            "metadata": {"user": "ann"},
            "updated_at": "2025-03-14T13:05",
        },
        "row-2": {"namespace": "user knowledge", "created_at": "2025-03-14T13:05", "metadata": {}},
        "row-3": {"namespace": "assistant knowledge"},
    },
    # Lines without an id are named by their number.
    "plain lines": {
        "line-1": {"namespace": "ann", "salience": 0.5, "sources": ("D1:2",)},
        "old": {"state": "superseded"},
    },
}


@pytest.mark.parametrize("name", FIELDS)
def test_fields(name: str, tmp_path: Path) -> None:
    """Ids in order of writing, and what each memory says beside its text."""
    memories = read(tmp_path, name).memories
    assert [memory.id for memory in memories] == list(FIELDS[name])
    for memory in memories:
        for field, value in FIELDS[name][memory.id].items():
            assert getattr(memory, field) == value


def test_metadata(tmp_path: Path) -> None:
    """What is not known is metadata; lists in a string are lists."""
    assert read(tmp_path, "mem0").memories[2].metadata["topic"] == "food"
    assert read(tmp_path, "plain lines").memories[0].metadata["session"] == "s1"
    assert read(tmp_path, "amem chroma").memories[0].metadata["keywords"] == ["Ann", "fish"]


DIET = "memory context: Ann's diet\nmemory keywords: Ann, fish\nmemory tags: diet"


@pytest.mark.parametrize(
    ("name", "view", "place", "text"),
    [
        ("amem notes", "metadata", 0, f"{DIET}\nmemory links: n2"),
        ("amem chroma", "metadata", 0, DIET),
        ("amem notes", "content", 0, "Ann eats fish."),
        ("letta agent file", "lines", 0, "Name: Ann"),
        ("letta agent file", "full", 0, "Name: Ann\n\nEats: fish"),
        ("markdown folder", "full", 0, "Lives in Oslo.\n\nHas a cat."),
        ("markdown folder", "full", 1, "Eats fish."),
        ("langgraph items", "value", 1, '{"content": "Ann eats fish."}'),
        ("graphiti", "dated", 0, "Ann lives in Bergen. (2024-01-01T00:00 to 2025-03-01T00:00)"),
        ("graphiti", "dated", 2, "Ann lives in Oslo. (2025-03-01T00:00 to present)"),
        ("mcp memory lines", "entities", 0, "Ann (person):\nEats fish.\nLives in Oslo."),
        ("mcp memory lines", "entities", 1, "Oslo (city)"),
        ("mcp memory lines", "entities", 2, "Ann lives_in Oslo"),
        ("librechat", "full", 1, "diet: Eats fish."),
        ("memoryos mid-term", "summaries", 1, "Ann's health."),
    ],
)
def test_views(name: str, view: str, place: int, text: str, tmp_path: Path) -> None:
    assert texts(read(tmp_path, name, view=view))[place] == text


def test_amem_serialised(tmp_path: Path) -> None:
    whole = json.loads(texts(read(tmp_path, "amem notes", view="serialised"))[0])
    assert (whole["content"], whole["links"]) == ("Ann eats fish.", ["n2"])
    assert {"keywords", "context", "tags", "timestamp"} <= whole.keys()


@pytest.mark.parametrize(
    ("name", "ids", "skipped"),
    [
        ("markdown folder", ["notes.md", "system/human.md"], 1),
        ("letta agent file", ["block-0", "block-1"], 1),
    ],
)
def test_whole(name: str, ids: list[str], skipped: int, tmp_path: Path) -> None:
    """A file or block is one memory; one without words is counted."""
    store = read(tmp_path, name, view="full")
    assert [memory.id for memory in store.memories] == ids
    assert store.count.skipped == {"empty text": skipped}
    assert store.documents == ()


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("markdown folder", ["notes.md:1", "notes.md:3", "system/human.md:1"]),
        ("letta agent file", ["block-0:1", "block-0:3", "block-1:1"]),
    ],
)
def test_lines(name: str, ids: list[str], tmp_path: Path) -> None:
    memories = read(tmp_path, name, view="lines").memories
    assert [memory.id for memory in memories] == ids
    assert not any("\n" in memory.text for memory in memories)


def test_langgraph_from_javascript(tmp_path: Path) -> None:
    """Its names of the times; the items are in the order of writing, not of the file."""
    items = [
        {
            "namespace": ["ann"],
            "key": key,
            "value": {"content": key},
            "createdAt": day,
            "updatedAt": "2025-04-01T00:00:00.000Z",
        }
        for key, day in (("new", "2025-03-02T08:00:00.000Z"), ("old", "2025-03-01T08:00:00.000Z"))
    ]
    store = import_store([saved(tmp_path, items)])
    assert [(one.text, one.created_at, one.updated_at) for one in store.memories] == [
        ("old", "2025-03-01T08:00", "2025-04-01T00:00"),
        ("new", "2025-03-02T08:00", "2025-04-01T00:00"),
    ]
    assert store.memories[0].metadata == {"key": "old"}
    assert store.warnings == ()


def test_namespace_with_its_parents(tmp_path: Path) -> None:
    found = texts(read(tmp_path, "langgraph items", namespace="memories/ann"))
    assert found == ["Ann lives in Oslo.", "Ann eats fish."]

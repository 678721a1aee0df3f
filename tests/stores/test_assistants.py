"""Exports of assistants and their plugins: Claude.ai, ChatGPT, claude-mem, Mem0's history, Memori.

What is particular to each, worked out by hand.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.io.store_file import ExportedStore
from memaudit.stores.protocol import ImportOptions
from memaudit.stores.registry import import_store
from tests.stores.exports import (
    CLAUDE_AI,
    CLAUDE_AI_ACCOUNT,
    CLAUDE_MEM,
    EXPORTS,
    HISTORY,
    MEMORI,
    attempt,
    balanced,
    write_tables,
)


def read(folder: Path, name: str, **options: Any) -> ExportedStore:
    return import_store([EXPORTS[name].write(folder)], options=ImportOptions(**options))


def saved(folder: Path, document: Any, name: str = "memories.json") -> Path:
    (folder / name).write_text(json.dumps(document))
    return folder / name


def test_claude_ai_documents(tmp_path: Path) -> None:
    """Each text of an account is a document; projects are namespaces, files keep their paths."""
    store = read(tmp_path, "claude.ai memories")
    assert [(one.id, one.namespace) for one in store.memories] == [
        ("conversations_memory:L3", "conversations"),
        ("conversations_memory:L7", "conversations"),
        ("project_memories/5f0c:L1", "5f0c"),
    ]
    assert store.memories[0].metadata == {"account": "9d1e"}
    assert read(tmp_path, "claude.ai memories", namespace="5f0c").count.kept == 1
    files = read(tmp_path, "claude.ai account").memories
    assert [(one.id, one.namespace, one.lines) for one in files] == [
        ("areas/pets.md:L4", "areas", (4, 4)),
        ("profile.md:L2", None, (2, 2)),
    ]
    assert files[0].updated_at is None
    assert files[0].metadata["updated_at"] == "2026-09-03T00:00:00Z"
    whole = read(tmp_path, "claude.ai memories", view="full")
    assert [one.id for one in whole.memories] == ["conversations_memory", "project_memories/5f0c"]


def test_claude_ai_broken_accounts(tmp_path: Path) -> None:
    rows = [
        *CLAUDE_AI,
        3,
        {"account_uuid": "x"},
        {
            "project_memories": [1],
            "memory_files": {"a": 1},
            "conversations_memory": 5,
            "themes": ["a"],
        },
        {"memory_files": [{"content": "Bo likes tea."}, 7]},
    ]
    store = import_store([saved(tmp_path, rows)], "claude-ai")
    assert balanced(store)
    assert store.count.skipped == {
        "a number, not an object": 2,
        "conversations_memory is a number, not text": 1,
        "empty text": 1,
        "memory_files is an object, not a list": 1,
        "no conversations_memory, project_memories or memory_files": 1,
        "project_memories is a list, not an object": 1,
    }
    assert any("field 'themes' is not read: memories.json: [3]" in one for one in store.warnings)
    assert store.memories[-1].id == "memory_files[0]:L1"


def test_claude_ai_several_accounts(tmp_path: Path) -> None:
    rows = [*CLAUDE_AI, {**CLAUDE_AI[0], "account_uuid": "bo"}]
    store = import_store([saved(tmp_path, rows)])
    assert store.memories[0].id == "9d1e/conversations_memory:L3"
    assert store.memories[3].id == "bo/conversations_memory:L3"


def test_claude_ai_is_not_any_folder_with_memories(tmp_path: Path) -> None:
    """Texts, or exports of other systems, are read as before."""
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "a.json").write_text("{}")
    (tmp_path / "notes.md").write_text("Ann eats fish.")
    assert import_store([tmp_path]).origin.format == "markdown"
    (tmp_path / "notes.md").unlink()
    saved(tmp_path, [{"memory": "Ann eats fish.", "user_id": "ann", "id": "1"}], "mem0.json")
    assert import_store([tmp_path]).origin.format == "mem0"


def test_claude_ai_links_are_not_followed(tmp_path: Path) -> None:
    folder = EXPORTS["claude.ai folder"].write(tmp_path)
    (folder / "memories.json").rename(tmp_path / "secret.json")
    (folder / "memories.json").symlink_to(tmp_path / "secret.json")
    assert "is an empty list" in attempt([folder])[1]


@pytest.mark.parametrize(
    ("line", "text", "time"),
    [
        ("[2025-03-14] - Ann eats fish.", "Ann eats fish.", "2025-03-14"),
        ("- [2025-03-14]: Ann eats fish.", "Ann eats fish.", "2025-03-14"),
        ("[14 March 2025] \u2013 Ann eats fish.", "Ann eats fish.", "2025-03-14"),
        ("[Mar 3rd, 2025] - Ann eats fish.", "Ann eats fish.", "2025-03-03"),
        ("[date unknown] - Ann eats fish.", "Ann eats fish.", None),
        ("[No date] - Ann eats fish.", "Ann eats fish.", None),
        ("- Ann eats fish.", "Ann eats fish.", None),
        ("[Food] - Ann eats fish.", "[Food] - Ann eats fish.", None),
        ("[June 31, 2025] - Ann eats fish.", "[June 31, 2025] - Ann eats fish.", None),
    ],
)
def test_chatgpt_lines(line: str, text: str, time: str | None, tmp_path: Path) -> None:
    path = tmp_path / "saved.txt"
    path.write_text(f"{line}\n[2025-01-01] - One.\n[2025-01-02] - Two.\n")
    store = import_store([path])
    assert store.origin.format == "chatgpt-memories"
    (found,) = [one for one in store.memories if one.id == "line-1"]
    assert (found.text, found.created_at) == (text, time)


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("[2025-01-01] - One.\nTwo.\nThree.\n", "plain"),  # fewer than half
        ("[INFO] - started\n[WARN] - stopped\n", "plain"),
        ("- [x] done\n- [ ] open\n", "markdown"),
        ("Ann:\n[2025-01-01] Ann moved.\n[2025-01-02] Bo left.\n", "plain"),
    ],
)
def test_chatgpt_does_not_claim_other_texts(text: str, format: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(text)
    assert import_store([tmp_path / "notes.txt"]).origin.format == format


def test_chatgpt_without_dates_if_named(tmp_path: Path) -> None:
    path = tmp_path / "saved.txt"
    path.write_text("Ann eats fish.\nBo likes tea.\n")
    store = import_store([path], "chatgpt-memories")
    assert [one.text for one in store.active] == ["Ann eats fish.", "Bo likes tea."]


def test_hermes_lines(tmp_path: Path) -> None:
    """An entry spans lines; the separators belong to none."""
    memories = read(tmp_path, "hermes memories").memories
    assert [(one.id, one.lines) for one in memories] == [
        ("MEMORY.md:L1", (1, 2)),
        ("MEMORY.md:L4", (4, 5)),
        ("MEMORY.md:L7", (7, 7)),
        ("USER.md:L1", (1, 1)),
        ("USER.md:L3", (3, 3)),
    ]
    lone = tmp_path / "USER.md"
    lone.write_text("Ann eats fish.\n§\nAnn is terse.")
    assert [one.text for one in import_store([lone]).active] == ["Ann eats fish.", "Ann is terse."]


def test_claude_code_front_matter_is_metadata(tmp_path: Path) -> None:
    memories = read(tmp_path, "claude code memory").memories
    assert memories[1].metadata == {"name": "deploys", "description": "releases", "type": "project"}


def test_openclaw_days_are_a_namespace(tmp_path: Path) -> None:
    store = read(tmp_path, "openclaw folder")
    assert [one.namespace for one in store.memories] == [None, None, "memory"]


def history(folder: Path, *rows: dict[str, Any]) -> ExportedStore:
    path = folder / "history.db"
    path.unlink(missing_ok=True)
    write_tables(path, {"history": [{**HISTORY[0], **row} for row in rows]})
    return import_store([path])


def states(store: ExportedStore) -> list[tuple[str, str, str]]:
    return [(one.id, one.text, one.state) for one in store.memories]


def test_mem0_history_versions(tmp_path: Path) -> None:
    """In the order of the events, each with when it was written and when it ended."""
    store = read(tmp_path, "mem0 history")
    assert [(one.id, one.state, one.created_at, one.updated_at) for one in store.memories] == [
        ("m1@1", "superseded", "2025-01-06T12:30", "2025-03-14T12:10"),
        ("m2", "deleted", "2025-01-07T00:00", "2025-04-01T00:00"),
        ("m1", "active", "2025-03-14T12:10", None),
    ]
    assert store.memories[0].metadata == {"memory_id": "m1", "role": "user", "ended_by": "UPDATE"}


def test_mem0_history_that_begins_late(tmp_path: Path) -> None:
    """An update and a deletion of memories that were added before the history was kept."""
    store = history(
        tmp_path,
        {"memory_id": "a", "event": "UPDATE", "old_memory": "One.", "new_memory": "Two."},
        {"memory_id": "b", "event": "DELETE", "old_memory": "Three.", "new_memory": None},
        {"memory_id": "c", "event": "DELETE", "old_memory": None, "new_memory": None},
    )
    assert states(store) == [
        ("a@1", "One.", "superseded"),
        ("a", "Two.", "active"),
        ("b", "Three.", "deleted"),
    ]
    assert balanced(store)
    assert store.count.skipped == {"deletes a memory that is not there": 1}
    assert any("2 rows: written before the history begins" in one for one in store.warnings)


def test_mem0_history_that_is_odd(tmp_path: Path) -> None:
    """Added again after a deletion, added twice, a change that is missing, unknown events."""
    add = {"event": "ADD", "old_memory": None}
    store = history(
        tmp_path,
        {"memory_id": "a", **add, "new_memory": "One."},
        {"memory_id": "a", "event": "DELETE", "old_memory": "One.", "new_memory": None},
        {"memory_id": "a", **add, "new_memory": "Two."},
        {"memory_id": "a", **add, "new_memory": "Three."},
        {"memory_id": "a", "event": "UPDATE", "old_memory": "Four.", "new_memory": "Five."},
        {"memory_id": "a", "event": "NONE"},
        {"memory_id": None, "event": "ADD"},
        {"memory_id": "b", **add, "new_memory": None},
    )
    assert states(store) == [
        ("a@1", "One.", "deleted"),
        ("a@2", "Two.", "superseded"),
        ("a@3", "Three.", "superseded"),
        ("a", "Five.", "active"),
    ]
    assert balanced(store)
    assert store.count.skipped == {"no memory_id": 1, "no new_memory": 1, "unknown event": 1}
    assert any("a change is missing from the history" in one for one in store.warnings)
    assert any("added again under the id of an active memory" in one for one in store.warnings)


def test_memori_facts(tmp_path: Path) -> None:
    """The entity's own name, the conversations as sources, and no embedding."""
    bo, ann = read(tmp_path, "memori").memories
    assert (ann.id, ann.namespace, ann.sources) == ("f2", "ann", ("7",))
    assert (ann.created_at, ann.updated_at) == ("2025-03-14T12:10:05", "2025-03-15T08:00")
    assert ann.metadata == {"id": 2, "entity_id": 1, "num_times": 2}
    assert (bo.namespace, bo.sources) == ("bo", ())


def test_memori_with_the_facts_alone(tmp_path: Path) -> None:
    path = tmp_path / "facts.db"
    row = {
        "id": 1,
        "uuid": None,
        "entity_id": 4,
        "content": "Ann eats fish.",
        "date_last_time": "2025-03-15 08:00:00",
    }
    mention = {"fact_id": 9, "conversation_id": 7}
    write_tables(path, {"memori_entity_fact": [row], "memori_entity_fact_mention": [mention]})
    store = import_store([path])
    (memory,) = store.memories
    assert (memory.id, memory.namespace, memory.created_at) == ("1", "4", None)
    assert any("mentions a fact that is not there" in one for one in store.warnings)


def test_claude_mem_rows(tmp_path: Path) -> None:
    store = read(tmp_path, "claude-mem")
    assert [(one.id, one.namespace, one.sources, one.created_at) for one in store.memories] == [
        ("observation-1", "shop", ("s0",), "2025-01-06T12:30"),
        ("observation-2", "shop", ("s1",), "2025-03-14T12:10"),
        ("summary-1", "shop", ("s1",), "2025-03-14T13:00"),
    ]
    titles = import_store([tmp_path / "export.db"], options=ImportOptions(view="title"))
    assert [one.text for one in titles.active] == ["Login fixed", "Fix the login"]
    assert titles.count.skipped == {"no title": 1}


def test_claude_mem_older_names_and_broken_columns(tmp_path: Path) -> None:
    """The session's older name; facts that are no list; a file without summaries."""
    path = tmp_path / "mem.db"
    row = {
        ("sdk_session_id" if key == "memory_session_id" else key): value
        for key, value in CLAUDE_MEM["observations"][0].items()
    }
    blank = {"title": " ", "subtitle": None, "narrative": None, "facts": None}
    rows = [{**row, "facts": "{}"}, {**row, "id": 3, "facts": '[1, "Two"]'}, row | blank]
    write_tables(path, {"observations": rows})
    store = import_store([path])
    assert store.origin.format == "claude-mem"
    assert [one.text.splitlines()[-1] for one in store.active] == ["The clock was wrong.", "Two"]
    assert store.memories[0].sources == ("s1",)
    assert store.count.skipped == {"empty text": 1}
    assert any("facts is not a JSON list" in one for one in store.warnings)
    assert any("part of facts is not text" in one for one in store.warnings)


@pytest.mark.parametrize("name", ["mem0-history", "memori", "claude-mem"])
def test_other_databases_are_refused(name: str, tmp_path: Path) -> None:
    path = EXPORTS["langgraph sqlite"].write(tmp_path)
    assert "has no table" in attempt([path], name)[1]
    broken = tmp_path / "broken.db"
    columns = {
        "mem0-history": HISTORY[0],
        "memori": MEMORI["memori_entity_fact"][0],
        "claude-mem": CLAUDE_MEM["observations"][0],
    }[name]
    table = {
        "mem0-history": "history",
        "memori": "memori_entity_fact",
        "claude-mem": "observations",
    }[name]
    write_tables(broken, {table: [dict.fromkeys(columns, b"\xff")]})
    assert "none of 1 rows could be read" in attempt([broken])[1]


def test_claude_ai_file_fields(tmp_path: Path) -> None:
    """Memory files are known by their own fields, not by the key alone."""
    path = saved(tmp_path, {"memory_files": CLAUDE_AI_ACCOUNT["memory_files"]})
    assert import_store([path]).origin.format == "claude-ai"
    assert "has no known format" in attempt([saved(tmp_path, {"memory_files": ["a.md"]})])[1]

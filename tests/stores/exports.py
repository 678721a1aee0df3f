"""Small made-up exports in the shapes that real systems write, trimmed; what each must give."""

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.stores.protocol import ImportOptions
from memaudit.stores.registry import import_store


@dataclass(frozen=True)
class Export:
    """One export: a JSON document, lines of JSONL, text, files of a folder, or rows of a
    table."""

    format: str
    document: Any = None
    lines: list[Any] | None = None
    text: str | None = None
    folder: dict[str, str] | None = None
    tables: dict[str, list[dict[str, Any]]] | None = None
    suffix: str = ".json"
    active: list[str] = field(default_factory=list)
    """The texts that are scored, in order."""
    inactive: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    warned: tuple[str, ...] = ()
    """Pieces of warnings that must be there."""

    def write(self, folder: Path, name: str = "export") -> Path:
        path = folder / f"{name}{self.suffix}"
        if self.folder is not None:
            path = folder / name
            for file, text in self.folder.items():
                (path / file).parent.mkdir(parents=True, exist_ok=True)
                (path / file).write_text(text)
        elif self.tables is not None:
            write_tables(path, self.tables)
        elif self.lines is not None:
            path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        elif self.text is not None:
            path.write_text(self.text)
        else:
            path.write_text(json.dumps(self.document, indent=1))
        return path


def write_tables(path: Path, tables: dict[str, list[dict[str, Any]]]) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for table, rows in tables.items():
            columns = list(rows[0])
            names = ", ".join(f'"{column}"' for column in columns)
            connection.execute(f'CREATE TABLE "{table}" ({names})')
            marks = ", ".join("?" for _ in columns)
            connection.executemany(
                f'INSERT INTO "{table}" VALUES ({marks})', [tuple(row.values()) for row in rows]
            )
        connection.commit()


MEM0: dict[str, Any] = {
    "results": [
        {
            "id": "m2",
            "memory": "Ann eats fish now.",
            "hash": "b2",
            "metadata": {"topic": "food"},
            "created_at": "2025-03-14T12:10:00-07:00",
            "updated_at": None,
            "user_id": "ann",
            "attributed_to": "user",
        },
        {
            "id": "m1",
            "memory": "Ann was vegetarian.",
            "hash": "a1",
            "metadata": None,
            "created_at": "2025-01-06T12:30:00Z",
            "updated_at": "2025-01-07T00:00:00Z",
            "user_id": "ann",
            "attributed_to": "user",
            "expiration_date": "2025-02-01",
        },
        {
            "id": "m3",
            "memory": "Bo likes tea.",
            "hash": "c3",
            "metadata": {},
            "created_at": "2025-02-01T00:00:00Z",
            "updated_at": None,
            "user_id": "bo",
        },
    ]
}

LETTA: dict[str, Any] = {
    "agents": [
        {
            "id": "agent-0",
            "name": "Kit",
            "agent_type": "letta_v1_agent",
            "memory_blocks": [],
            "block_ids": ["block-0", "block-1"],
            "messages": [],
            "source_ids": [],
        },
        {
            "id": "agent-1",
            "name": "Sleeper",
            "agent_type": "sleeptime_agent",
            "memory_blocks": [],
            "block_ids": ["block-0"],
            "messages": [],
        },
    ],
    "groups": [],
    "blocks": [
        {
            "id": "block-0",
            "label": "human",
            "value": "Name: Ann\n\nEats: fish",
            "limit": 5000,
            "description": "about the user",
            "read_only": False,
            "metadata": {},
            "tags": None,
        },
        {"id": "block-1", "label": "persona", "value": "I am Kit.", "limit": 5000},
        {"id": "block-2", "label": "scratchpad", "value": "", "limit": 5000},
    ],
    "files": [],
    "sources": [],
    "tools": [],
    "mcp_servers": [],
    "metadata": {"revision_id": "0"},
    "created_at": "2026-01-22T00:40:22+00:00",
}

OLD_LETTA = {
    "agent_type": "memgpt_agent",
    "name": "Kit",
    "system": "...",
    "messages": [],
    "tools": [],
    "core_memory": [
        {
            "label": "human",
            "value": "Ann eats fish.",
            "limit": 5000,
            "description": None,
            "created_at": "2025-03-14T12:10:00+00:00",
            "updated_at": None,
            "metadata_": {},
        }
    ],
}

PASSAGES: list[dict[str, Any]] = [
    {
        "id": "passage-2",
        "text": "Ann moved to Oslo.",
        "archive_id": "archive-1",
        "tags": ["home"],
        "created_at": "2025-04-01T00:00:00+00:00",
        "updated_at": None,
        "metadata": {},
        "is_deleted": False,
        "embedding": [0.25] * 60,
    },
    {
        "id": "passage-1",
        "text": "Ann lived in Bergen.",
        "archive_id": "archive-1",
        "tags": None,
        "created_at": "2025-01-01T00:00:00+00:00",
        "updated_at": None,
        "metadata": {},
        "is_deleted": True,
        "embedding": None,
    },
    {
        "id": "passage-3",
        "text": "Page one of a manual.",
        "archive_id": None,
        "file_id": "file-1",
        "created_at": "2025-01-01T00:00:00+00:00",
        "is_deleted": False,
    },
]

NOTES = [
    {
        "id": "n1",
        "content": "Ann eats fish.",
        "keywords": ["Ann", "fish"],
        "links": ["n2"],
        "context": "Ann's diet",
        "category": "Food",
        "tags": ["diet"],
        "timestamp": "202503141210",
        "last_accessed": "202503150000",
        "retrieval_count": 0,
        "evolution_history": [],
    },
    {
        "id": "n2",
        "content": "Ann lives in Oslo.",
        "keywords": [],
        "links": [],
        "context": "General",
        "category": "Home",
        "tags": [],
        "timestamp": "202504010000",
        "last_accessed": "202504010000",
        "retrieval_count": 3,
        "evolution_history": [],
    },
]

CHROMA = {
    "ids": ["n1"],
    "embeddings": None,
    "documents": ["Ann eats fish."],
    "uris": None,
    "included": ["metadatas", "documents"],
    "data": None,
    "metadatas": [
        {
            "id": "n1",
            "content": "Ann eats fish.",
            "keywords": '["Ann", "fish"]',
            "links": "[]",
            "retrieval_count": "0",
            "timestamp": "202503141210",
            "last_accessed": "202503141210",
            "context": "Ann's diet",
            "evolution_history": "[]",
            "category": "Food",
            "tags": '["diet"]',
        }
    ],
}

FULL_NOTE = (
    "memory content: Ann eats fish.\nmemory context: Ann's diet\nmemory keywords: Ann, fish\n"
    "memory tags: diet"
)

ITEMS = [
    {
        "namespace": ["memories", "ann"],
        "key": "k2",
        "value": {"content": "Ann eats fish."},
        "created_at": "2025-03-14T12:10:00+00:00",
        "updated_at": "2025-03-14T12:10:00+00:00",
        "score": None,
    },
    {
        "namespace": ["memories", "ann"],
        "key": "k1",
        "value": {"kind": "Memory", "content": {"content": "Ann lives in Oslo."}},
        "created_at": "2025-01-01T00:00:00+00:00",
        "updated_at": "2025-01-01T00:00:00+00:00",
    },
    {
        "namespace": ["profiles", "ann"],
        "key": "k1",
        "value": {"name": "Ann", "age": 31},
        "created_at": "2025-05-01T00:00:00+00:00",
        "updated_at": "2025-05-01T00:00:00+00:00",
    },
]

EDGES: list[dict[str, Any]] = [
    {
        "uuid": "u2",
        "group_id": "g",
        "source_node_uuid": "a",
        "target_node_uuid": "c",
        "created_at": "2025-03-14T12:10:00Z",
        "name": "LIVES_IN",
        "fact": "Ann lives in Oslo.",
        "fact_embedding": None,
        "episodes": ["e2"],
        "expired_at": None,
        "valid_at": "2025-03-01T00:00:00Z",
        "invalid_at": None,
        "attributes": {},
    },
    {
        "uuid": "u1",
        "group_id": "g",
        "source_node_uuid": "a",
        "target_node_uuid": "b",
        "created_at": "2025-01-06T12:30:00Z",
        "name": "LIVES_IN",
        "fact": "Ann lives in Bergen.",
        "fact_embedding": None,
        "episodes": ["e1"],
        "expired_at": "2025-03-14T12:10:00Z",
        "valid_at": "2024-01-01T00:00:00Z",
        "invalid_at": "2025-03-01T00:00:00Z",
        "attributes": {},
    },
    {
        "uuid": "u3",
        "group_id": "g",
        "source_node_uuid": "a",
        "target_node_uuid": "d",
        "created_at": "2025-02-01T00:00:00Z",
        "name": "TAKES_PART",
        "fact": "Ann takes a course.",
        "fact_embedding": None,
        "episodes": ["e1", "e2"],
        "expired_at": None,
        "valid_at": None,
        "invalid_at": "2025-02-20T00:00:00Z",
        "attributes": {},
    },
]

PROFILES = {
    "data": {
        "profiles": [
            {
                "id": "p1",
                "content": "Ann",
                "attributes": {"topic": "basic_info", "sub_topic": "name"},
                "created_at": "2025-01-06T12:30:00",
                "updated_at": "2025-01-06T12:30:00",
            },
            {
                "id": "p2",
                "content": "fish",
                "attributes": {"topic": "food", "sub_topic": "diet"},
                "created_at": "2025-03-14T12:10:00",
                "updated_at": "2025-03-14T12:10:00",
            },
        ]
    },
    "errno": 0,
    "errmsg": "",
}

EVENTS = {
    "events": [
        {
            "id": "v1",
            "event_data": {"event_tip": "Ann moved to Oslo.", "profile_delta": None},
            "created_at": "2025-04-01T00:00:00",
            "updated_at": "2025-04-01T00:00:00",
        },
        {
            "id": "v2",
            "event_data": {"profile_delta": [{"content": "Eats fish", "attributes": {}}]},
            "created_at": "2025-05-01T00:00:00",
            "updated_at": "2025-05-01T00:00:00",
        },
    ]
}

MEMOS = [
    {
        "id": "0b8e",
        "memory": "Ann eats fish.",
        "metadata": {
            "user_id": "ann",
            "status": "activated",
            "type": "fact",
            "confidence": 99.0,
            "memory_type": "UserMemory",
            "tags": ["diet"],
            "version": 2,
            "history": [{"version": 1, "memory": "Ann is vegetarian."}],
            "created_at": "2025-03-14T12:10:00",
            "updated_at": "2025-03-14T12:10:00",
        },
    },
    {
        "id": "0b8d",
        "memory": "Ann is vegetarian.",
        "metadata": {
            "user_id": "ann",
            "status": "archived",
            "type": "fact",
            "memory_type": "LongTermMemory",
            "created_at": "2025-01-06T12:30:00",
            "updated_at": "2025-01-06T12:30:00",
        },
    },
    {
        "id": "0b8c",
        "memory": "Ann has a cat.",
        "metadata": {
            "user_id": "ann",
            "status": "deleted",
            "type": "fact",
            "memory_type": "LongTermMemory",
            "created_at": "2025-01-05T00:00:00",
            "updated_at": "2025-01-06T12:30:00",
        },
    },
]

ENTRIES = {
    "memoryEntries": [
        {
            "id": "s2",
            "memory": "Ann eats fish.",
            "version": 2,
            "isLatest": True,
            "isForgotten": False,
            "createdAt": "2025-03-14T12:10:00.000Z",
            "updatedAt": "2025-03-14T12:10:00.000Z",
            "documentIds": ["d1"],
            "history": [
                {
                    "id": "s1",
                    "memory": "Ann is vegetarian.",
                    "version": 1,
                    "isLatest": False,
                    "isForgotten": False,
                    "createdAt": "2025-01-06T12:30:00.000Z",
                    "updatedAt": "2025-01-06T12:30:00.000Z",
                }
            ],
        },
        {
            "id": "s3",
            "memory": "Ann has a cat.",
            "version": 1,
            "isLatest": True,
            "isForgotten": True,
            "createdAt": "2025-01-01T00:00:00.000Z",
            "updatedAt": "2025-01-02T00:00:00.000Z",
        },
    ],
    "pagination": {"currentPage": 1, "totalItems": 2, "totalPages": 1},
}

UNITS = {
    "items": [
        {
            "id": "h2",
            "text": "Ann eats fish.",
            "fact_type": "world",
            "state": "active",
            "mentioned_at": "2025-03-14T12:10:00Z",
            "occurred_start": "2025-03-01T00:00:00Z",
            "occurred_end": None,
            "invalidated_at": None,
            "source_memory_ids": ["h1"],
        },
        {
            "id": "h1",
            "text": "Ann is vegetarian.",
            "fact_type": "world",
            "state": "active",
            "mentioned_at": "2025-01-06T12:30:00Z",
            "occurred_start": None,
            "invalidated_at": "2025-03-14T12:10:00Z",
            "source_memory_ids": [],
        },
    ],
    "total": 5,
    "limit": 2,
    "offset": 0,
}

SESSION = [
    {"role": "user", "content": "I eat fish now."},
    {"type": "function_call", "call_id": "c1", "name": "save", "arguments": "{}"},
    {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Noted.", "annotations": []}],
    },
]

WRITTEN = [
    {
        "instance_id": "q1",
        "memories": [
            {"memory_id": "m0", "text": "Ann eats fish.", "memory_index": 0},
            {"memory_id": "m1", "text": "Ann lives in Oslo.", "memory_index": 1},
        ],
    },
    {"instance_id": "q2", "memories": [{"memory_id": "m0", "text": "Bo likes tea."}]},
    {"instance_id": "q3", "memories": []},
]

SEARCH = {
    "0": [
        {
            "question": "What does Ann eat?",
            "speaker_1_memories": [
                {
                    "memory": "Ann eats fish.",
                    "timestamp": "12:10 pm on 14 March, 2025",
                    "score": 0.8,
                },
                {
                    "memory": "Ann likes tea.",
                    "timestamp": "1:00 pm on 6 January, 2025",
                    "score": 0.5,
                },
            ],
            "speaker_2_memories": [],
        },
        {
            "question": "And Bo?",
            "speaker_1_memories": [
                {
                    "memory": "Ann eats fish.",
                    "timestamp": "12:10 pm on 14 March, 2025",
                    "score": 0.1,
                }
            ],
            "speaker_2_memories": [
                {
                    "memory": "Ann eats fish.",
                    "timestamp": "12:10 pm on 14 March, 2025",
                    "score": 0.3,
                }
            ],
        },
    ]
}

LOCOMO = [
    {
        "sample_id": "conv-1",
        "qa": [],
        "conversation": {"speaker_a": "Ann", "speaker_b": "Bo"},
        "observation": {
            "session_1_observation": {
                "Ann": [["Ann eats fish.", "D1:2"], ["Ann has a cat.", ["D1:3", "D1:4"]]],
                "Bo": [],
            }
        },
        "event_summary": {
            "events_session_1": {"Ann": ["Ann moves to Oslo."], "Bo": [], "date": "14 March, 2025"}
        },
        "session_summary": {"session_1_summary": "Ann told Bo what she eats."},
    },
    {
        "sample_id": "conv-2",
        "qa": [],
        "conversation": {},
        "observation": {},
        "session_summary": {"session_1_summary": ""},
    },
]

PLAIN = [
    {
        "text": "Ann eats fish.",
        "timestamp": "2025-03-14",
        "speaker_namespace": "ann",
        "session": "s1",
        "salience": 0.5,
        "sources": ["D1:2"],
    },
    {"text": "Ann was vegetarian.", "id": "old", "state": "superseded"},
]

GRAPH: list[dict[str, Any]] = [
    {
        "type": "entity",
        "name": "Ann",
        "entityType": "person",
        "observations": ["Eats fish.", "Lives in Oslo."],
    },
    {"type": "entity", "name": "Oslo", "entityType": "city", "observations": []},
    {"type": "relation", "from": "Ann", "to": "Oslo", "relationType": "lives_in"},
]

RECORDS: dict[str, Any] = {
    "memoryRecordSummaries": [
        {
            "memoryRecordId": "mem-2",
            "content": {"text": "Ann eats fish."},
            "memoryStrategyId": "facts-1",
            "namespaces": ["/strategies/facts-1/actors/ann"],
            "createdAt": "2025-03-14T12:10:00+00:00",
            "metadata": {"topic": {"stringValue": "food"}},
        },
        {
            "memoryRecordId": "mem-1",
            "content": {"text": "Bo likes tea."},
            "memoryStrategyId": "facts-1",
            "namespaces": ["/strategies/facts-1/actors/bo"],
            "createdAt": 1736166600.25,
        },
    ]
}

BANK = {
    "memories": [
        {
            "name": "projects/p/locations/l/reasoningEngines/1/memories/2",
            "scope": {"user_id": "ann", "app_name": "diary"},
            "fact": "Ann eats fish.",
            "createTime": "2025-03-14T12:10:00.123456789Z",
            "updateTime": "2025-03-14T12:10:00Z",
        },
        {
            "name": "projects/p/locations/l/reasoningEngines/1/memories/1",
            "scope": {"user_id": "ann", "app_name": "diary"},
            "fact": "Ann is away.",
            "createTime": "2025-01-06T12:30:00Z",
            "updateTime": "2025-01-06T12:30:00Z",
            "expireTime": "2025-02-01T00:00:00Z",
        },
    ]
}

KEYED = [
    {
        "_id": "k2",
        "userId": "ann",
        "key": "diet",
        "value": "Eats fish.",
        "tokenCount": 3,
        "updated_at": "2025-03-14T12:10:00.000Z",
        "__v": 0,
    },
    {
        "_id": "k1",
        "userId": "ann",
        "key": "home",
        "value": "Lives in Oslo.",
        "tokenCount": 4,
        "updated_at": "2025-01-06T12:30:00.000Z",
        "__v": 0,
    },
]

MONGO = [
    {
        "_id": {"$oid": "k2"},
        "userId": {"$oid": "ann"},
        "key": "diet",
        "value": "Eats fish.",
        "tokenCount": {"$numberInt": "3"},
        "updated_at": {"$date": {"$numberLong": "1741954200000"}},
    },
    {
        "_id": {"$oid": "k1"},
        "userId": {"$oid": "ann"},
        "key": "home",
        "value": "Lives in Oslo.",
        "tokenCount": 4,
        "updated_at": {"$date": "2025-01-06T12:30:00Z"},
    },
]

WEBUI = [
    {
        "id": "w2",
        "user_id": "ann",
        "content": "Ann eats fish.",
        "updated_at": 1741954200,
        "created_at": 1741954200,
    },
    {
        "id": "w1",
        "user_id": "bo",
        "content": "Bo likes tea.",
        "updated_at": 1741954100,
        "created_at": 1736166600,
    },
]

AGNO: list[dict[str, Any]] = [
    {
        "memory_id": "g2",
        "memory": "Ann eats fish.",
        "topics": ["food"],
        "user_id": "ann",
        "input": "I eat fish now.",
        "created_at": "2025-03-14T12:10:00+00:00",
        "updated_at": "2025-03-14T12:10:00+00:00",
    },
    {
        "memory_id": "g1",
        "memory": {"memory": "Ann lives in Oslo."},
        "user_id": "ann",
        "created_at": 1736166600,
        "updated_at": 1736166600,
    },
    {
        "memory_id": "g3",
        "memory": json.dumps({"memory": "Bo likes tea."}),
        "user_id": "bo",
        "agent_id": "kit",
        "created_at": 1741954300,
        "updated_at": 1741954300,
    },
]

PAGE = {
    "page_id": "page-1",
    "user_input": "I eat fish.",
    "agent_response": "Noted.",
    "timestamp": "2025-03-14 12:10:00",
    "preloaded": False,
    "analyzed": True,
    "pre_page": None,
    "next_page": None,
    "meta_info": "Ann's diet",
    "page_embedding": [0.25] * 60,
}

MID_TERM: dict[str, Any] = {
    "sessions": {
        at: {
            "id": at,
            "summary": summary,
            "summary_keywords": [],
            "summary_embedding": [0.25] * 60,
            "details": [{**PAGE, "page_keywords": [summary]}],
            "L_interaction": 1,
            "R_recency": 1.0,
            "N_visit": 0,
            "H_segment": 2.0,
            "timestamp": time,
            "last_visit_time": time,
            "access_count_lfu": 0,
        }
        for at, summary, time in (
            ("session-1", "Ann's food.", "2025-03-14 13:00:00"),
            ("session-2", "Ann's health.", "2025-03-14 13:01:00"),
        )
    },
    "access_frequency": {"session-1": 0, "session-2": 0},
}

LONG_TERM: dict[str, Any] = {
    "user_profiles": {"ann": {"data": "Ann likes food.", "last_updated": "2025-03-14 13:05:00"}},
    "knowledge_base": [
        {
            "knowledge": "Ann eats fish.",
            "timestamp": "2025-03-14 13:05:00",
            "knowledge_embedding": [0.25] * 60,
        }
    ],
    "assistant_knowledge": [
        {
            "knowledge": "The assistant takes notes.",
            "timestamp": "2025-03-14 13:06:00",
            "knowledge_embedding": [],
        }
    ],
}

SHORT_TERM = [
    {"user_input": "I live in Oslo.", "agent_response": "Nice.", "timestamp": "2025-03-15 09:00:00"}
]

CLAUDE_AI = [
    {
        "conversations_memory": "**Work context**\n\nAnn is a baker in Bonn.\n\n"
        "**Personal context**\n\nAnn eats fish.\n",
        "project_memories": {"5f0c": "- Ann wants a quieter place", "77aa": ""},
        "account_uuid": "9d1e",
    }
]

CLAUDE_AI_ACCOUNT: dict[str, Any] = {
    "conversations_memory": None,
    "project_memories": {},
    "account_uuid": "9d1e",
    "memory_files": [
        {
            "path": "/areas/pets.md",
            "content": "---\nname: pets\n---\n- Tom is a cat\n",
            "updated_at": "2026-09-03T00:00:00Z",
        },
        {
            "path": "/profile.md",
            "content": "# Ann\n- eats fish\n",
            "updated_at": "2026-09-02T00:00:00Z",
        },
    ],
}

HISTORY = [
    {
        "id": str(at),
        "memory_id": memory,
        "old_memory": old,
        "new_memory": new,
        "event": event,
        "created_at": created,
        "updated_at": updated,
        "is_deleted": int(event == "DELETE"),
        "actor_id": None,
        "role": "user",
    }
    for at, (memory, event, old, new, created, updated) in enumerate(
        [
            ("m1", "ADD", None, "Ann is vegetarian.", "2025-01-06T12:30:00Z", None),
            ("m2", "ADD", None, "Ann has a cat.", "2025-01-07T00:00:00Z", None),
            (
                "m1",
                "UPDATE",
                "Ann is vegetarian.",
                "Ann eats fish.",
                "2025-01-06T12:30:00Z",
                "2025-03-14T12:10:00Z",
            ),
            (
                "m2",
                "DELETE",
                "Ann has a cat.",
                None,
                "2025-01-07T00:00:00Z",
                "2025-04-01T00:00:00Z",
            ),
        ]
    )
]

MEMORI: dict[str, list[dict[str, Any]]] = {
    "memori_entity": [
        {"id": 1, "uuid": "e1", "external_id": "ann"},
        {"id": 2, "uuid": "e2", "external_id": "bo"},
    ],
    "memori_entity_fact": [
        {
            "id": 2,
            "uuid": "f2",
            "entity_id": 1,
            "content": "Ann eats fish.",
            "content_embedding": b"\xff\x00",
            "num_times": 2,
            "date_last_time": "2025-03-15 08:00:00",
            "uniq": "a",
            "date_created": "2025-03-14 12:10:05",
        },
        {
            "id": 3,
            "uuid": "f3",
            "entity_id": 2,
            "content": "Bo likes tea.",
            "content_embedding": b"",
            "num_times": 1,
            "date_last_time": "2025-03-13 09:00:05",
            "uniq": "b",
            "date_created": "2025-03-13 09:00:05",
        },
    ],
    "memori_entity_fact_mention": [
        {"id": 1, "uuid": "x", "entity_id": 1, "fact_id": 2, "conversation_id": 7}
    ],
}

CLAUDE_MEM: dict[str, list[dict[str, Any]]] = {
    "observations": [
        {
            "id": 2,
            "memory_session_id": "s1",
            "project": "shop",
            "text": None,
            "type": "bugfix",
            "title": "Login fixed",
            "subtitle": "The token had expired.",
            "facts": '["Tokens last an hour"]',
            "narrative": "The clock was wrong.",
            "concepts": '["auth"]',
            "files_read": "[]",
            "created_at": "2025-03-14T12:10:00.000Z",
            "created_at_epoch": 1741954200000,
        },
        {
            "id": 1,
            "memory_session_id": "s0",
            "project": "shop",
            "text": "Uses SQLite.",
            "type": "discovery",
            "title": None,
            "subtitle": None,
            "facts": "[]",
            "narrative": None,
            "concepts": "[]",
            "files_read": "[]",
            "created_at": "2025-01-06T12:30:00.000Z",
            "created_at_epoch": 1736166600000,
        },
    ],
    "session_summaries": [
        {
            "id": 1,
            "memory_session_id": "s1",
            "project": "shop",
            "request": "Fix the login",
            "investigated": "the clock",
            "learned": "Tokens last an hour",
            "completed": None,
            "next_steps": "",
            "notes": None,
            "created_at": "2025-03-14T13:00:00.000Z",
            "created_at_epoch": 1741957200000,
        }
    ],
}

EXPORTS: dict[str, Export] = {
    "mem0": Export(
        "mem0",
        MEM0,
        active=["Bo likes tea.", "Ann eats fish now."],
        inactive={"expired": 1},
        warned=("expiry dates are compared with 2025-03-14T19:10",),
    ),
    "mem0 older list": Export(
        "mem0",
        [
            {
                "id": "a",
                "memory": "Ann eats fish.",
                "hash": "h",
                "score": 0.9,
                "user_id": "ann",
                "created_at": "2024-05-01T00:00:00-07:00",
            }
        ],
        active=["Ann eats fish."],
        warned=("search score",),
    ),
    "mem0 platform page": Export(
        "mem0",
        {
            "count": 3,
            "next": "https://api.example/?page=2",
            "previous": None,
            "results": MEM0["results"][:1],
        },
        active=["Ann eats fish now."],
        warned=("holds 1 of 3 rows", "names a next page"),
    ),
    "mem0 search": Export(
        "mem0-search",
        SEARCH,
        active=["Ann likes tea.", "Ann eats fish.", "Ann eats fish."],
        warned=("4 retrieved rows hold 3 distinct",),
    ),
    "mem0 history": Export(
        "mem0-history",
        suffix=".db",
        tables={"history": HISTORY},
        active=["Ann eats fish."],
        inactive={"deleted": 1, "superseded": 1},
        warned=("memories of all users",),
    ),
    "letta agent file": Export(
        "letta",
        LETTA,
        suffix=".af",
        active=["Name: Ann", "Eats: fish", "I am Kit."],
        skipped={"empty text": 1},
        warned=("core memory only", "order of writing unknown: entries of a document"),
    ),
    "letta agent file in a string": Export(
        "letta",
        json.dumps(LETTA),
        suffix=".af",
        active=["Name: Ann", "Eats: fish", "I am Kit."],
        skipped={"empty text": 1},
        warned=("unwrapped",),
    ),
    "letta older agent file": Export("letta", OLD_LETTA, suffix=".af", active=["Ann eats fish."]),
    "letta passages": Export(
        "letta",
        PASSAGES,
        active=["Ann moved to Oslo."],
        inactive={"deleted": 1},
        skipped={"passage of an attached file, not a memory": 1},
        warned=("archival passages only", "partly read: 1 of 3"),
    ),
    "markdown folder": Export(
        "markdown",
        folder={
            "system/human.md": "---\nname: human\ndescription: >-\n  user\n---\nEats fish.\n",
            "notes.md": "Lives in Oslo.\n\nHas a cat.",
            "empty.md": "---\nname: x\n---\n",
            "memory_filesystem.md": "- notes.md",
            ".git/config": "x",
            "image.png": "x",
        },
        active=["Lives in Oslo.", "Has a cat.", "Eats fish."],
        skipped={"a document without an entry": 1},
        warned=("order of writing unknown", "image.png (not a memory file)"),
    ),
    "markdown file by its name": Export(
        "markdown",
        text="Ann eats fish\nand cake.\n\nBo likes tea.\n",
        suffix=".md",
        active=["Ann eats fish and cake.", "Bo likes tea."],
        warned=("order of writing unknown",),
    ),
    "markdown file by its bullets": Export(
        "markdown",
        text="# Ann\n- Eats fish.\n- Has a cat.\n",
        suffix=".txt",
        active=["Ann: Eats fish.", "Ann: Has a cat."],
        warned=("order of writing unknown",),
    ),
    "claude code memory": Export(
        "markdown",
        folder={
            "MEMORY.md": "- [Deploys](deploys.md) — release on Mondays\n",
            "deploys.md": "---\nname: deploys\ndescription: releases\ntype: project\n---\n"
            "Release on Mondays.\n\n**Why:** the team is there.\n",
        },
        active=[
            "[Deploys](deploys.md) — release on Mondays",
            "Release on Mondays.",
            "**Why:** the team is there.",
        ],
    ),
    "lone CLAUDE.md": Export(
        "markdown",
        suffix=".md",
        text="# Shop\n\n## Commands\n- `make test` runs the tests\n\n<!-- for people -->\n\n"
        "## Style\n1. Short names\n2. No globals\n",
        active=[
            "Shop: Commands: `make test` runs the tests",
            "Shop: Style: Short names",
            "Shop: Style: No globals",
        ],
    ),
    "hermes memories": Export(
        "markdown",
        folder={
            "MEMORY.md": "The shop runs on port 8080.\nIt needs Redis.\n§\n# not a heading\n"
            "- one\n§\nDeploys on Mondays.",
            "USER.md": "Ann eats fish.\n§\nAnn is terse.",
            "MEMORY.md.lock": "",
        },
        active=[
            "The shop runs on port 8080. It needs Redis.",
            "# not a heading - one",
            "Deploys on Mondays.",
            "Ann eats fish.",
            "Ann is terse.",
        ],
        warned=("MEMORY.md.lock (not a memory file)",),
    ),
    "openclaw folder": Export(
        "markdown",
        folder={
            "MEMORY.md": "# Long-term\n- Ann eats fish\n",
            "USER.md": "- **Name:** Ann\n",
            "memory/2026-03-14.md": "# 2026-03-14\n\n- Ann moved to Oslo\n",
            ".git/HEAD": "x",
        },
        active=["Long-term: Ann eats fish", "**Name:** Ann", "2026-03-14: Ann moved to Oslo"],
    ),
    "claude.ai memories": Export(
        "claude-ai",
        CLAUDE_AI,
        active=[
            "Work context: Ann is a baker in Bonn.",
            "Personal context: Ann eats fish.",
            "Ann wants a quieter place",
        ],
        skipped={"empty text": 1},
        warned=("order of writing unknown",),
    ),
    "claude.ai account": Export(
        "claude-ai", CLAUDE_AI_ACCOUNT, active=["Tom is a cat", "Ann: eats fish"]
    ),
    "claude.ai folder": Export(
        "claude-ai",
        folder={
            "memories.json": json.dumps(CLAUDE_AI),
            "users.json": "[]",
            "conversations.json": "[]",
        },
        active=[
            "Work context: Ann is a baker in Bonn.",
            "Personal context: Ann eats fish.",
            "Ann wants a quieter place",
        ],
        skipped={"empty text": 1},
        warned=("2 files not read: conversations.json (another file of the folder)",),
    ),
    "claude.ai newer folder": Export(
        "claude-ai",
        folder={
            "memories/9d1e.json": json.dumps(CLAUDE_AI_ACCOUNT),
            "projects/5f0c.json": "{}",
        },
        active=["Tom is a cat", "Ann: eats fish"],
    ),
    "claude-mem": Export(
        "claude-mem",
        suffix=".db",
        tables=CLAUDE_MEM,
        active=[
            "Uses SQLite.",
            "Login fixed\nThe token had expired.\nThe clock was wrong.\nTokens last an hour",
            "request: Fix the login\ninvestigated: the clock\nlearned: Tokens last an hour",
        ],
    ),
    "chatgpt memories": Export(
        "chatgpt-memories",
        suffix=".txt",
        text="```\n[2025-03-14] - Ann eats fish.\n[March 1, 2025] - Ann lives in Oslo.\n"
        "[unknown] - Ann has a cat.\n**Work**\nAnn bakes.\n[2024-11] - Ann moved.\n```\n",
        active=[
            "Ann eats fish.",
            "Ann lives in Oslo.",
            "Ann has a cat.",
            "Ann bakes.",
            "Ann moved.",
        ],
        skipped={"a heading, not a memory": 1},
        warned=("order of writing unknown", "date without a day"),
    ),
    "amem notes": Export(
        "amem",
        NOTES,
        active=[FULL_NOTE, "memory content: Ann lives in Oslo.\nmemory context: General"],
    ),
    "amem notes by id": Export(
        "amem", {"n1": {key: NOTES[0][key] for key in NOTES[0] if key != "id"}}, active=[FULL_NOTE]
    ),
    "amem chroma": Export("amem", CHROMA, active=[FULL_NOTE]),
    "langgraph items": Export(
        "langgraph",
        ITEMS,
        active=["Ann lives in Oslo.", "Ann eats fish.", '{"age": 31, "name": "Ann"}'],
    ),
    "langgraph items from javascript": Export(
        "langgraph",
        [
            {
                "namespace": ["memories", "ann"],
                "key": "k1",
                "value": {"content": "Ann eats fish."},
                "createdAt": "2025-03-14T12:10:00.000Z",
                "updatedAt": "2025-03-14T12:10:00.000Z",
            }
        ],
        active=["Ann eats fish."],
    ),
    "langgraph sqlite": Export(
        "langgraph",
        suffix=".db",
        tables={
            "store": [
                {
                    "prefix": "memories.ann",
                    "key": "k1",
                    "value": b'{"content": "Ann eats fish."}',
                    "created_at": "2025-03-14 12:10:00",
                    "updated_at": "2025-03-14 12:10:00",
                    "expires_at": None,
                    "ttl_minutes": None,
                },
                {
                    "prefix": "memories.ann",
                    "key": "k2",
                    "value": '{"content": "Ann is away."}',
                    "created_at": "2025-01-01 00:00:00",
                    "updated_at": "2025-01-01 00:00:00",
                    "expires_at": "2025-01-02 00:00:00",
                    "ttl_minutes": 1440.0,
                },
            ]
        },
        active=["Ann eats fish."],
        inactive={"expired": 1},
    ),
    "graphiti": Export(
        "graphiti", EDGES, active=["Ann lives in Oslo."], inactive={"expired": 1, "superseded": 1}
    ),
    "memobase profiles": Export(
        "memobase", PROFILES, active=["basic_info::name: Ann", "food::diet: fish"]
    ),
    "memobase client profiles": Export(
        "memobase",
        [
            {
                "id": "p1",
                "content": "Ann",
                "topic": "basic_info",
                "sub_topic": "name",
                "created_at": "2025-01-06T12:30:00",
                "updated_at": "2025-01-06T12:30:00",
            }
        ],
        active=["basic_info::name: Ann"],
    ),
    "memobase events": Export("memobase", EVENTS, active=["Ann moved to Oslo.", "Eats fish"]),
    "memori": Export(
        "memori", suffix=".db", tables=MEMORI, active=["Bo likes tea.", "Ann eats fish."]
    ),
    "memos": Export(
        "memos", MEMOS, active=["Ann eats fish."], inactive={"deleted": 1, "superseded": 1}
    ),
    "memos tree": Export(
        "memos",
        {"nodes": MEMOS, "edges": [{"source": "0b8e", "target": "0b8d"}]},
        active=["Ann eats fish."],
        inactive={"deleted": 1, "superseded": 1},
        warned=("a tree",),
    ),
    "memos cube": Export(
        "memos",
        folder={"textual_memory.json": json.dumps(MEMOS), "config.json": "{}"},
        active=["Ann eats fish."],
        inactive={"deleted": 1, "superseded": 1},
        warned=("config.json (another file of the folder)",),
    ),
    "supermemory": Export(
        "supermemory", ENTRIES, active=["Ann eats fish."], inactive={"deleted": 1, "superseded": 1}
    ),
    "hindsight": Export(
        "hindsight",
        UNITS,
        active=["Ann eats fish."],
        inactive={"superseded": 1},
        warned=("holds 2 of 5 rows",),
    ),
    "openai agents items": Export(
        "openai-agents",
        SESSION,
        active=["I eat fish now.", "Noted."],
        skipped={"not a message": 1},
        warned=("a transcript",),
    ),
    "openai agents sqlite": Export(
        "openai-agents",
        suffix=".db",
        tables={
            "agent_sessions": [{"session_id": "s", "created_at": "2025-01-01 00:00:00"}],
            "agent_messages": [
                {
                    "id": at,
                    "session_id": "s",
                    "message_data": json.dumps(item),
                    "created_at": "2025-01-01 00:00:00",
                }
                for at, item in enumerate(SESSION, start=1)
            ],
        },
        active=["I eat fish now.", "Noted."],
        skipped={"not a message": 1},
    ),
    "mcp memory lines": Export(
        "mcp-memory",
        lines=GRAPH,
        suffix=".jsonl",
        active=["Ann: Eats fish.", "Ann: Lives in Oslo.", "Ann lives_in Oslo"],
        skipped={"empty text": 1},
        warned=("order of writing unknown: 3 of 3 memories have no creation time",),
    ),
    "mcp memory graph": Export(
        "mcp-memory",
        {
            "entities": [{key: row[key] for key in row if key != "type"} for row in GRAPH[:2]],
            "relations": [{key: GRAPH[2][key] for key in ("from", "to", "relationType")}],
        },
        active=["Ann: Eats fish.", "Ann: Lives in Oslo.", "Ann lives_in Oslo"],
        skipped={"empty text": 1},
    ),
    "mcp memory empty": Export(
        "mcp-memory", {"entities": [], "relations": []}, warned=("the store is empty",)
    ),
    "agentcore": Export("agentcore", RECORDS, active=["Bo likes tea.", "Ann eats fish."]),
    "agentcore page": Export(
        "agentcore",
        {**RECORDS, "nextToken": "abc"},
        active=["Bo likes tea.", "Ann eats fish."],
        warned=("truncated: the export names a next page",),
    ),
    "vertex memory": Export(
        "vertex-memory", BANK, active=["Ann eats fish."], inactive={"expired": 1}
    ),
    "vertex memory list": Export("vertex-memory", BANK["memories"][:1], active=["Ann eats fish."]),
    "librechat": Export(
        "librechat",
        {
            "memories": KEYED,
            "totalTokens": 7,
            "tokenLimit": 2000,
            "charLimit": 10000,
            "usagePercentage": 0,
        },
        active=["Lives in Oslo.", "Eats fish."],
    ),
    "librechat mongo lines": Export(
        "librechat", lines=MONGO, active=["Lives in Oslo.", "Eats fish."]
    ),
    "open webui": Export("open-webui", WEBUI, active=["Bo likes tea.", "Ann eats fish."]),
    "open webui sqlite": Export(
        "open-webui",
        suffix=".db",
        tables={"memory": WEBUI, "user": [{"id": "ann"}]},
        active=["Bo likes tea.", "Ann eats fish."],
    ),
    "agno": Export("agno", AGNO, active=["Ann lives in Oslo.", "Ann eats fish.", "Bo likes tea."]),
    "agno sqlite": Export(
        "agno",
        suffix=".db",
        tables={
            "agno_sessions": [{"session_id": "s", "user_id": "ann"}],
            "agno_memories": [
                {
                    "memory_id": row["memory_id"],
                    "memory": json.dumps(row["memory"]),
                    "input": row.get("input"),
                    "topics": json.dumps(row.get("topics")),
                    "user_id": row["user_id"],
                    "agent_id": row.get("agent_id"),
                    "created_at": time,
                    "updated_at": time,
                }
                for row, time in zip(AGNO, (1741954200, 1736166600, 1741954300), strict=True)
            ],
        },
        active=["Ann lives in Oslo.", "Ann eats fish.", "Bo likes tea."],
    ),
    "memoryos folder": Export(
        "memoryos",
        folder={
            "short_term.json": json.dumps(SHORT_TERM, indent=2),
            "mid_term.json": json.dumps(MID_TERM, indent=2),
            "long_term_user.json": json.dumps(LONG_TERM, indent=2),
        },
        active=[
            "Ann likes food.",
            "Ann eats fish.",
            "The assistant takes notes.",
            "User: I eat fish.\nAssistant: Noted.\nConversation chain overview: Ann's diet",
            "User: I live in Oslo.\nAssistant: Nice.",
        ],
        skipped={"repeated row": 1},
        warned=("word for word", "order of writing unknown: 1 of 6"),
    ),
    "memoryos short-term": Export(
        "memoryos", SHORT_TERM, active=["User: I live in Oslo.\nAssistant: Nice."]
    ),
    "memoryos mid-term": Export(
        "memoryos",
        MID_TERM,
        skipped={"repeated row": 1},
        active=["User: I eat fish.\nAssistant: Noted.\nConversation chain overview: Ann's diet"],
    ),
    "memoryos long-term": Export(
        "memoryos",
        LONG_TERM,
        active=["Ann likes food.", "Ann eats fish.", "The assistant takes notes."],
    ),
    "written stores": Export(
        "written-stores",
        lines=WRITTEN,
        suffix=".jsonl",
        active=["Ann eats fish.", "Ann lives in Oslo.", "Bo likes tea."],
        warned=("1 of 3 examples wrote nothing: q3",),
    ),
    "locomo notes": Export(
        "locomo-notes",
        LOCOMO,
        active=[
            "Ann eats fish.",
            "Ann has a cat.",
            "Ann moves to Oslo.",
            "Ann told Bo what she eats.",
        ],
        skipped={"empty text": 1},
    ),
    "plain lines": Export(
        "plain", lines=PLAIN, suffix=".jsonl", active=["Ann eats fish."], inactive={"superseded": 1}
    ),
    "plain list of texts": Export(
        "plain", ["Ann eats fish.", "Bo likes tea."], active=["Ann eats fish.", "Bo likes tea."]
    ),
    "plain text": Export(
        "plain",
        text="Ann eats fish.\n\nBo likes tea.\n",
        suffix=".txt",
        active=["Ann eats fish.", "Bo likes tea."],
    ),
}


def attempt(
    paths: Sequence[Path], format: str | None = None, options: ImportOptions | None = None
) -> tuple[ExportedStore | None, str]:
    """The store, or the error of a refused import; anything else that is raised fails the test."""
    try:
        return import_store(paths, format, options), ""
    except MemAuditError as error:
        return None, str(error)


def balanced(store: ExportedStore) -> bool:
    """Whether every row that was read is accounted for, and every id is unique."""
    count = store.count
    states = Counter(memory.state for memory in store.memories if memory.state != "active")
    return (
        count.read == count.kept + sum(count.skipped.values())
        and count.kept == len(store.memories)
        and count.inactive == states
        and len({memory.id for memory in store.memories}) == count.kept
    )

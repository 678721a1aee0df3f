"""Blocks that do not say themselves how they are checked, and files that a page takes for granted.

A declaration is a page, the beginning of a block, then the way and its reason or name.
"""

import json

GUIDE = "tests/report/leaderboard/test_scoring_guide.py"
SYSTEM = "needs an installed memory system"
STORES = "docs/stores.md"
REPRODUCE = "docs/how-to/reproduce.md"
ARTIFACT = "tests/reproduce/guide.py"

DECLARED: list[tuple[str, str, tuple[str, str]]] = [
    (REPRODUCE, "$ memaudit reproduce all --seeds", ("elsewhere", ARTIFACT)),
    (REPRODUCE, "$ memaudit reproduce verify", ("elsewhere", ARTIFACT)),
    ("docs/scoring.md", "OPT(common union) - OPT(package + store)", ("figure", "")),
    ("docs/scoring.md", "'digest' reaches", ("elsewhere", GUIDE)),
    (STORES, "$ memaudit import passages.json", ("run", "")),
    (STORES, "from pathlib import Path", ("python", "")),
    (STORES, "json.dump(memory.get_all(", ("python-parse", SYSTEM)),
    (STORES, "file.write(client.agents.export_file(", ("python-parse", SYSTEM)),
    (STORES, "json.dump([vars(note)", ("python-parse", SYSTEM)),
    (STORES, "json.dump([item.dict()", ("python-parse", SYSTEM)),
    (STORES, "edges = await EntityEdge", ("python-parse", SYSTEM)),
]

CHAT = (
    {"conversation": "ticket-17"},
    {"session": "first call"},
    {"id": "router", "speaker": "Lena", "text": "My router is a Kestrel 5."},
    {"question": "Which router is it?", "answer": "a Kestrel 5", "evidence": ["router"]},
)

PREPARED = {
    "docs/model-passes.md": {"chat.jsonl": "".join(f"{json.dumps(row)}\n" for row in CHAT)},
    STORES: {
        "passages.json": json.dumps(
            [
                {"id": "p1", "text": "Ann eats fish.", "embedding_config": {}},
                {"id": "p2", "text": "Ann eats meat.", "is_deleted": True, "embedding_config": {}},
                {"id": "p3", "text": "Page 1.", "file_id": "f1", "embedding_config": {}},
            ]
        ),
        "export.json": json.dumps(
            {"results": [{"id": "m1", "memory": "Ann eats fish.", "user_id": "ann"}]}
        ),
    },
}
"""Files that are in the folder before the page begins."""

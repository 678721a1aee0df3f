"""Blocks that do not say themselves how they are checked, and files that a page takes for granted.

A declaration is a page, the beginning of a block, then the way and its reason or name.
"""

import json

GUIDE = "tests/report/leaderboard/test_scoring_guide.py"
SYSTEM = "needs an installed memory system"
STORES = "docs/stores.md"

DECLARED: list[tuple[str, str, tuple[str, str]]] = [
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

PREPARED = {
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

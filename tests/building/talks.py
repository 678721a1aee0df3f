"""Small conversations for these tests, written as the chat format has them."""

import json
from pathlib import Path

from memaudit.conversations.records import LoadedConversation
from memaudit.conversations.registry import read_conversations
from memaudit.kernel.package.package import Coverage, Package

Row = dict[str, object]

DIET: list[Row] = [
    {"conversation": "diet"},
    {"session": "s1", "time": "2025-01-06"},
    {"id": "t1", "speaker": "Ann", "text": "Hello there! For travel meals I eat vegetarian food."},
    {"id": "t2", "speaker": "assistant", "text": "Noted, vegetarian travel meals."},
    {"session": "s2", "time": "2025-03-14"},
    {"id": "t3", "speaker": "Ann", "text": "For travel meals I eat fish food now. Rome was warm."},
    {"id": "t4", "speaker": "assistant", "text": "Fish it is."},
    {
        "id": "q1",
        "question": "Which meals?",
        "answer": "Fish",
        "kind": "update",
        "evidence": ["t3", "t1"],
    },
    {"id": "q2", "question": "How was Rome?", "answer": "Warm", "kind": "fact", "evidence": ["t3"]},
    {"id": "q3", "question": "Which wine?", "abstention": True},
]
"""An update (t1, then t3), a fact that shares a turn with it, and a question without evidence."""


def write_rows(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def load(path: Path, rows: list[Row]) -> LoadedConversation:
    (loaded,) = read_conversations(write_rows(path / "talk.jsonl", rows), "chat")
    return loaded


def cells(package: Package, unit: str) -> dict[str, Coverage]:
    return {row.candidate: row for row in package.coverage if row.unit == unit}

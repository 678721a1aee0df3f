"""Subsets on disk, and datasets cut down to them."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.datasets.cursor import Cursor
from memaudit.datasets.irregular import Loaded
from memaudit.datasets.lenient_json import kind_of
from memaudit.datasets.read import iter_conversations
from memaudit.datasets.source import dataset_hash, opened
from memaudit.datasets.subset import Subset

FORMAT, VERSION = "memaudit-subset", 1


def subset_text(subset: Subset) -> str:
    """The manifest as a JSON file."""
    head = {"format": FORMAT, "version": VERSION}
    data = {**head, **subset.content, "sha256": subset.sha256}
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def read_subset(path: Path) -> Subset:
    """The subset of a manifest; one that was edited is refused."""
    with opened(path) as file:
        cursor = Cursor(file, path.name)
        data = cursor.value() if cursor.peek() else None
        cursor.done()
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise MemAuditError(f"{path.name}: is not a subset manifest (memaudit subset writes one)")
    if data.get("version") != VERSION:
        raise MemAuditError(f"{path.name}: has an unknown version; this memaudit reads {VERSION}")
    manifest = _Manifest(path.name, data)
    strata = {
        name: (manifest.number("of", row), manifest.number("taken", row))
        for name, row in manifest.table("strata").items()
    }
    questions = tuple(
        (manifest.text("conversation", row), manifest.text("question", row))
        for row in manifest.rows("questions")
    )
    subset = Subset(
        manifest.text("dataset_sha256", data), manifest.text("dataset_format", data),
        manifest.text("by", data), manifest.number("seed", data), strata, questions,
    )  # fmt: skip
    if subset.sha256 != data.get("sha256") or subset.content["size"] != data.get("size"):
        raise MemAuditError(
            f"{path.name}: its content does not match its hash; it was edited, make it anew"
        )
    return subset


def apply_subset(subset: Subset, path: Path) -> Iterator[Loaded]:
    """The dataset's conversations with the chosen questions only, those without any left out.

    The irregularities of a conversation stay with it, also those of questions not chosen.
    """
    found = dataset_hash(path)
    if found != subset.dataset_sha256:
        raise MemAuditError(
            f"{path.name}: is not the file the subset was made from: its SHA-256 begins "
            f"{found[:16]}, the subset's {subset.dataset_sha256[:16]}"
        )
    return _cut_down(subset, path)


def _cut_down(subset: Subset, path: Path) -> Iterator[Loaded]:
    missing = set(subset.questions)
    for loaded in iter_conversations(path, subset.dataset_format):
        talk = loaded.conversation
        kept = tuple(one for one in talk.questions if (talk.id, one.id) in missing)
        missing -= {(talk.id, one.id) for one in kept}
        if kept:
            yield Loaded(replace(talk, questions=kept), loaded.irregularities)
    if missing:
        conversation, question = min(missing)
        raise MemAuditError(
            f"{path.name}: has no question {question!r} in {conversation!r}, which the subset names"
        )


class _Manifest:
    """Typed access to a manifest; the first thing wrong is one line."""

    def __init__(self, name: str, data: dict[str, object]) -> None:
        self.name, self.data = name, data

    def text(self, field: str, row: object) -> str:
        value = row.get(field) if isinstance(row, dict) else None
        if not isinstance(value, str):
            raise self._wrong(field, value, "text")
        return value

    def number(self, field: str, row: object) -> int:
        value = row.get(field) if isinstance(row, dict) else None
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(field, value, "a whole number")
        return value

    def table(self, field: str) -> dict[str, object]:
        value = self.data.get(field)
        if not isinstance(value, dict):
            raise self._wrong(field, value, "an object")
        return value

    def rows(self, field: str) -> list[object]:
        value = self.data.get(field)
        if not isinstance(value, list):
            raise self._wrong(field, value, "a list")
        return value

    def _wrong(self, field: str, value: object, expected: str) -> MemAuditError:
        return MemAuditError(
            f"{self.name}: has {kind_of(value)} in the field {field!r}, {expected} was expected"
        )

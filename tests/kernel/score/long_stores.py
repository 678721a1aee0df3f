"""Stores of the long shipped conversations, and the judge that knows their labels."""

import json
from collections.abc import Collection, Sequence
from functools import cache
from importlib.resources import files

from memaudit.api import texts
from memaudit.building.named_packages import long_set
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.package import EvidenceUnit, Package
from memaudit.kernel.score.judge import Cell, Judgement, MemoryText, Pair, only

STORES = ("sentences", "terse", "notes", "profile", "turns")


@cache
def _memories() -> list[dict[str, str]]:
    file = files("memaudit").joinpath("examples", "long", "memories.jsonl")
    rows = map(json.loads, file.read_text().splitlines())
    return [{**row, "store": row["sources"][0]["store"]} for row in rows]


def long_store(conversation: str, store: str) -> ExportedStore:
    """What one kind of system might have written."""
    return texts(
        [
            row["text"]
            for row in _memories()
            if (row["conversation"], row["store"]) == (conversation, store)
        ],
        f"{conversation} {store}",
    )


def long_package(name: str) -> Package:
    return next(package for package in long_set() if package.name == name)


class Labelled:
    """The labels of a shipped package, by text; counts the pairs it was asked about."""

    name = "labelled"
    is_estimate = False
    judges_candidates = False

    def __init__(self, package: Package) -> None:
        self.asked = 0
        self._cells: dict[str, dict[str, Cell]] = {}
        for row in package.coverage:
            if row.value:
                text = package.candidate[row.candidate].text
                self._cells.setdefault(text, {})[row.unit] = Cell(row.value, "pass:coverage")

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],  # noqa: ARG002
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        self.asked += len(pairs or ())
        cells = {memory.id: self._cells.get(memory.text, {}) for memory in memories}
        return Judgement(only(cells, pairs))

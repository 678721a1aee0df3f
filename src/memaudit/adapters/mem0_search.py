"""Mem0's LoCoMo evaluation files: what was retrieved for every question, as one union."""

from collections.abc import Iterator
from functools import partial

from memaudit.adapters.fields import Fields
from memaudit.adapters.ledger import Draft, Ledger
from memaudit.adapters.protocol import Options
from memaudit.adapters.rows import Raw, no_list
from memaudit.adapters.shape import ExportedStore
from memaudit.adapters.source import Part, Source
from memaudit.core.errors import MemAuditError

LISTS = ("speaker_1_memories", "speaker_2_memories")


class Mem0Search:
    """`{"0": [{"question", "speaker_1_memories": [{"memory", "timestamp", "score"}], ...}]}`."""

    name = "mem0-search"
    label = "Mem0, search results of its LoCoMo evaluation"
    views: tuple[str, ...] = ("memory",)

    def recognises(self, source: Source) -> int:
        """By the two lists of a question."""
        found = [_questions(part.parsed.document) for part in source.parts if part.kind == "json"]
        return 3 if found and all(any(LISTS[0] in row for _, row in rows) for rows in found) else 0

    def read(self, source: Source, options: Options) -> ExportedStore:
        """The distinct (conversation, speaker, text, time) rows, in order of time."""
        ledger = Ledger(source, options)
        retrieved = 0
        seen: set[tuple[str, str, str]] = set()
        found = [_questions(part.parsed.document) for part in source.parts]
        several = len({example for rows in found for example, _ in rows}) > 1
        for part in source.parts:
            questions = _questions(part.parsed.document) if part.kind == "json" else []
            if not questions:
                raise MemAuditError(no_list(part, LISTS))
            for raw, example, speaker in _retrieved(part, questions):
                retrieved += 1
                # The same memory is retrieved for many questions, each time with another score.
                value = raw.value
                key = str((value.get("memory"), value.get("timestamp"))) if isinstance(
                    value, dict) else raw.place  # fmt: skip
                if (example, speaker, key) not in seen:
                    seen.add((example, speaker, key))
                    # A place among others; the only conversation is whatever it is scored on.
                    named = example if several else None
                    ledger.take_one(raw, partial(_draft, example=named, speaker=speaker))
        ledger.warn(
            f"a union of search results, not a dump: {retrieved} retrieved rows hold "
            f"{len(seen)} distinct memories; what was never retrieved is missing"
        )
        return ledger.store("Mem0", self.name, self.views[0], in_order=False)


def _questions(document: object) -> list[tuple[str, dict[str, object]]]:
    """Every question with the conversation it belongs to."""
    if not isinstance(document, dict):
        return []
    return [
        (str(example), row)
        for example, rows in document.items()
        if isinstance(rows, list)
        for row in rows
        if isinstance(row, dict)
    ]


def _retrieved(
    part: Part, questions: list[tuple[str, dict[str, object]]]
) -> Iterator[tuple[Raw, str, str]]:
    """Every retrieved row, with its conversation and speaker."""
    for at, (example, question) in enumerate(questions):
        for name in LISTS:
            place = f"{part.name}: question {at} {name}"
            rows = question.get(name)
            if not isinstance(rows, list):
                yield Raw(place, problem=f"{name} is no list"), example, name
                continue
            for number, row in enumerate(rows):
                yield Raw(f"{place}[{number}]", row), example, name.removesuffix("_memories")


def _draft(row: Fields, example: str | None, speaker: str) -> Draft:
    text = row.text("memory")
    created = row.time("timestamp")
    number = len(row.ledger.drafts) + 1
    return Draft(
        text=text, id=f"memory-{number}", created_at=created, namespace=speaker, example=example,
        metadata=row.others("memory", "score"),
    )  # fmt: skip

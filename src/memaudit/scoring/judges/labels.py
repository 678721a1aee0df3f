"""People's labels from a file: memory_id, unit_id, coverage and why, as JSONL or CSV."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from memaudit.core.package import EvidenceUnit
from memaudit.natural.coverage_rules import PASS
from memaudit.natural.label_files import LabelRow, label_rows
from memaudit.scoring.judges.protocol import Cell, Judged, Judgement, NotJudged

CELL_FIELDS = frozenset({"conversation", "memory_id", "unit_id", "coverage", "why"})
MEMORY_FIELDS = frozenset(
    {"conversation", "memory_id", "kind", "text", "turn", "session", "sources", "confidence"}
)

UNNAMED = "labels whose memory the file of memories does not name"
ELSEWHERE = "labels about memories that are not in this store"
OTHER = "labels of other conversations"


class Labels:
    """Labels by memory id. Where labels name texts by ids of their own, a memories file says which
    text an id stands for: every memory of that text is labelled, whatever its place or id."""

    is_estimate = False

    def __init__(self, path: Path, memories: Path | None = None) -> None:
        self.name = f"labels {path.stem}"
        self._provenance = f"{PASS}{path.stem}"
        self._rows = label_rows(path, CELL_FIELDS, frozenset({"memory_id", "unit_id", "coverage"}))
        self._stands_for = None if memories is None else _named(memories)

    def judge(self, memories: Sequence[Judged], units: Sequence[EvidenceUnit]) -> Judgement:
        known = {unit.id for unit in units}
        by_text: dict[str, list[str]] = {}
        for memory in memories:
            by_text.setdefault(" ".join(memory.text.split()), []).append(memory.id)
        found: dict[str, dict[str, Cell]] = {memory.id: {} for memory in memories}
        left_out: Counter[str] = Counter()
        used = 0
        for row in self._rows:
            if memories and _is_of_another(row, memories[0].example):
                left_out[OTHER] += 1
                continue
            unit = row.text("unit_id")
            if unit not in known:
                raise row.wrong(
                    f"names the unknown unit {unit!r}; label the units of this package, or say "
                    "which conversation each label is of"
                )
            label = row.text("memory_id")
            if self._stands_for is not None and label not in self._stands_for:
                left_out[UNNAMED] += 1
                continue
            ids = sorted(self._ids(label, by_text) & found.keys())
            if not ids:
                left_out[ELSEWHERE] += 1
            for id in ids:
                cell = Cell(row.share("coverage"), self._provenance, row.optional("why") or "")
                if unit in found[id] and found[id][unit].value != cell.value:
                    raise row.wrong(
                        f"labels memory {id!r} and unit {unit!r} a second time, otherwise"
                    )
                found[id][unit] = cell
                used += 1
        if memories and not used:
            fix = (
                "if its ids are other ones, give the file of its memories as well; if it covers "
                "nothing, say so with a label of 0"
                if self._stands_for is None
                else "no text of the file of memories is in it"
            )
            raise NotJudged(
                f"{self._rows[0].file}: no label is about a memory of this store; {fix}"
            )
        return Judgement(found, left_out=dict(sorted(left_out.items())))

    def _ids(self, id: str, by_text: dict[str, list[str]]) -> set[str]:
        if self._stands_for is None:
            return {id}
        # By the text alone: a line number means something else in every export.
        return set(by_text.get(self._stands_for[id], ()))


def _is_of_another(row: LabelRow, example: str) -> bool:
    """Unit and memory ids may repeat from conversation to conversation."""
    named = row.optional("conversation")
    return bool(named and example and named != example)


def _named(path: Path) -> dict[str, str]:
    """Per label id the text it stands for."""
    rows = label_rows(path, MEMORY_FIELDS, frozenset({"memory_id", "text"}))
    return {row.text("memory_id"): " ".join(row.text("text").split()) for row in rows}

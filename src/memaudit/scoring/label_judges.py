"""Judges that read a file: people's labels, and coverage calls of the published layout."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path

from memaudit.adapters.published_layout import CoverageCell, memory_id, read_coverage_calls
from memaudit.core.package import EvidenceUnit
from memaudit.core.text import counted
from memaudit.natural.coverage_rules import PASS
from memaudit.natural.label_files import LabelRow, label_rows
from memaudit.scoring.judges import Cell, Judgement, MemoryText, NotJudged, Pair, only

CELL_FIELDS = frozenset({"conversation", "memory_id", "unit_id", "coverage", "why"})
MEMORY_FIELDS = frozenset(
    {"conversation", "memory_id", "kind", "text", "turn", "session", "sources", "confidence"}
)

UNNAMED = "labels whose memory the file of memories does not name"
ELSEWHERE = "labels about memories that are not in this store"
OTHER = "labels of other conversations"


class LabelJudge:
    """People's labels: memory_id, unit_id, coverage and why, as JSONL or CSV.

    Where labels name texts by ids of their own, a file of memories says which text an id stands
    for. Every memory of that text is labelled, whatever its place or id.
    """

    is_estimate = False
    judges_candidates = True

    def __init__(self, path: Path, memories: Path | None = None) -> None:
        self.name = f"labels {path.stem}"
        self._provenance = f"{PASS}{path.stem}"
        self._rows = label_rows(path, CELL_FIELDS, frozenset({"memory_id", "unit_id", "coverage"}))
        self._texts = None if memories is None else _texts_by_id(memories)

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        if not memories:  # nor is it known which conversation is asked about
            return Judgement({})
        known = {unit.id for unit in units}
        by_text: dict[str, list[str]] = {}
        for memory in memories:
            by_text.setdefault(" ".join(memory.text.split()), []).append(memory.id)
        cells: dict[str, dict[str, Cell]] = {memory.id: {} for memory in memories}
        left_out: Counter[str] = Counter()
        used = 0
        for row in self._rows:
            if _is_of_another(row, memories[0].example):
                left_out[OTHER] += 1
                continue
            unit = row.text("unit_id")
            if unit not in known:
                raise row.wrong(
                    f"names the unknown unit {unit!r}; label the units of this package, or say "
                    "which conversation each label is of"
                )
            label = row.text("memory_id")
            if self._texts is not None and label not in self._texts:
                left_out[UNNAMED] += 1
                continue
            if self._texts is None:
                ids = [label] if label in cells else []
            else:  # By the text alone: a line number means something else in every export.
                ids = sorted(by_text.get(self._texts[label], ()))
            if not ids:
                left_out[ELSEWHERE] += 1
            for id in ids:
                cell = Cell(row.share("coverage"), self._provenance, row.optional("why") or "")
                if unit in cells[id] and cells[id][unit].value != cell.value:
                    raise row.wrong(
                        f"labels memory {id!r} and unit {unit!r} a second time, differently"
                    )
                cells[id][unit] = cell
                used += 1
        if not used:
            fix = (
                "if its ids are different, give the file of its memories as well; if it covers "
                "nothing, say so with a label of 0"
                if self._texts is None
                else "no text of the file of memories is in it"
            )
            raise NotJudged(
                f"{self._rows[0].file}: no label is about a memory of this store; {fix}"
            )
        return Judgement(
            only(cells, pairs), left_out=dict(sorted(left_out.items())),
            unknown=self._unknown(memories),
        )  # fmt: skip

    def _unknown(self, memories: Sequence[MemoryText]) -> frozenset[str]:
        """Memories that no label and no row of the file of memories is about."""
        if self._texts is not None:
            texts = set(self._texts.values())
            return frozenset(m.id for m in memories if " ".join(m.text.split()) not in texts)
        labelled = {row.text("memory_id") for row in self._rows}
        return frozenset(memory.id for memory in memories if memory.id not in labelled)


def _is_of_another(row: LabelRow, example: str) -> bool:
    """Unit and memory ids may repeat from conversation to conversation."""
    named = row.optional("conversation")
    return bool(named and example and named != example)


def _texts_by_id(path: Path) -> dict[str, str]:
    """Per label id the text it stands for; a row that names an extract of a build has none."""
    rows = label_rows(path, MEMORY_FIELDS, frozenset({"memory_id"}))
    return {
        row.text("memory_id"): " ".join(text.split())
        for row in rows
        if (text := row.optional("text")) is not None
    }


class PublishedJudge:
    """Coverage calls of the published layout: what a model said of an example's exported memories.

    An example without a call was not judged; its cells are not zero.
    """

    is_estimate = judges_candidates = False

    def __init__(self, path: Path) -> None:
        self.name = f"published calls {path.name}"
        self._file, self._provenance = path.name, f"calls:{path.stem}"
        calls = read_coverage_calls(path)
        self._judged, self._failed = frozenset(calls.examples), calls.skipped
        self._rows: dict[str, list[CoverageCell]] = defaultdict(list)
        for row in calls.rows:
            self._rows[row.example].append(row)

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        left_out: Counter[str] = Counter()
        if self._failed:
            left_out["calls that failed or could not be read"] = len(self._failed)
        if not memories:
            return Judgement({}, left_out=dict(left_out))
        example = memories[0].example
        if example not in self._judged:
            raise NotJudged(self._no_call(example))
        known = {unit.id for unit in units}
        ids = {memory_id(example, memory.id): memory.id for memory in memories}
        cells: dict[str, dict[str, Cell]] = {memory.id: {} for memory in memories}
        rows = self._rows[example]
        for row in rows:
            if row.memory not in ids:
                left_out["edges to memories that are not in this store"] += 1
            elif row.unit not in known:
                left_out["edges to units that are not in this package"] += 1
            else:
                cells[ids[row.memory]][row.unit] = Cell(row.value, self._provenance)
        if rows and not any(cells.values()):
            raise NotJudged(
                f"{self._file}: no edge of {example!r} is about a memory of this store and a unit "
                f"of this package: the first says {rows[0].memory!r} and {rows[0].unit!r}"
            )
        return Judgement(only(cells, pairs), left_out=dict(left_out))

    def _no_call(self, example: str) -> str:
        problem = f"{self._file}: has no call about {example!r}"
        if not self._failed:
            others = ", ".join(repr(name) for name in sorted(self._judged)[:3]) or "nothing"
            return f"{problem}; it is about {others}"
        place, reason = next(iter(self._failed.items()))
        failed = counted(len(self._failed), "call")
        return f"{problem}; {failed} failed or could not be read, the first at {place}: {reason}"

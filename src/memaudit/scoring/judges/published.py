"""Coverage calls of the published layout: what a model said of an example's exported memories."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from memaudit.adapters.published_layout import CoverageCell, memory_id, read_coverage_calls
from memaudit.core.package import EvidenceUnit
from memaudit.core.text import counted
from memaudit.scoring.judges.protocol import Cell, Judged, Judgement, NotJudged


class PublishedCalls:
    """Cells by the ids of a published store. An example without a call was not judged zero."""

    is_estimate = False

    def __init__(self, path: Path) -> None:
        self.name = f"published calls {path.name}"
        self._file, self._provenance = path.name, f"calls:{path.stem}"
        calls = read_coverage_calls(path)
        self._judged, self._failed = frozenset(calls.examples), calls.skipped
        self._rows: dict[str, list[CoverageCell]] = defaultdict(list)
        for row in calls.rows:
            self._rows[row.example].append(row)

    def judge(self, memories: Sequence[Judged], units: Sequence[EvidenceUnit]) -> Judgement:
        left_out: Counter[str] = Counter()
        if self._failed:
            left_out["calls that failed or could not be read"] = len(self._failed)
        if not memories:
            return Judgement({}, left_out=dict(left_out))
        example = memories[0].example
        if example not in self._judged:
            raise NotJudged(self._nothing(example))
        known = {unit.id for unit in units}
        ids = {memory_id(example, memory.id): memory.id for memory in memories}
        found: dict[str, dict[str, Cell]] = {memory.id: {} for memory in memories}
        rows = self._rows[example]
        for row in rows:
            if row.memory not in ids:
                left_out["edges to memories that are not in this store"] += 1
            elif row.unit not in known:
                left_out["edges to units that are not in this package"] += 1
            else:
                found[ids[row.memory]][row.unit] = Cell(row.value, self._provenance)
        if rows and not any(found.values()):
            raise NotJudged(
                f"{self._file}: no edge of {example!r} is about a memory of this store and a unit "
                f"of this package: the first says {rows[0].memory!r} and {rows[0].unit!r}"
            )
        return Judgement(found, left_out=dict(left_out))

    def _nothing(self, example: str) -> str:
        said = f"{self._file}: has no call about {example!r}"
        if not self._failed:
            others = ", ".join(repr(name) for name in sorted(self._judged)[:3]) or "nothing"
            return f"{said}; it is about {others}"
        place, reason = next(iter(self._failed.items()))
        failed = counted(len(self._failed), "call")
        return f"{said}; {failed} failed or could not be read, the first at {place}: {reason}"

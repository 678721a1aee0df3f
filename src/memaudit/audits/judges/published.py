"""Coverage calls of the published layout: what a model said of an example's exported memories."""

from collections.abc import Sequence
from pathlib import Path

from memaudit.adapters.published_calls import read_coverage_calls
from memaudit.audits.judges.protocol import Cells, Judged
from memaudit.audits.union import Cell
from memaudit.core.package import EvidenceUnit


class PublishedCalls:
    """Cells by the ids of a published store; edges to units of other examples are left out."""

    is_estimate = False

    def __init__(self, path: Path) -> None:
        self.name = f"published calls {path.name}"
        self._provenance = f"calls:{path.stem}"
        self._rows = read_coverage_calls(path).rows

    def cells(self, memories: Sequence[Judged], units: Sequence[EvidenceUnit]) -> Cells:
        known = {unit.id for unit in units}
        found: dict[str, dict[str, Cell]] = {memory.id: {} for memory in memories}
        for row in self._rows:
            if row.memory in found and row.unit in known:
                found[row.memory][row.unit] = Cell(row.value, self._provenance)
        return found

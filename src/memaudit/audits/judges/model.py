"""A language model's word, by the coverage pass that judges package candidates too."""

from collections.abc import Sequence

from memaudit.audits.judges.protocol import Cells, Judged
from memaudit.audits.union import Cell
from memaudit.core.errors import MemAuditError
from memaudit.core.package import EvidenceUnit
from memaudit.natural.passes.coverage import judge_coverage
from memaudit.natural.passes.desk import Desk

MODEL = "model:"
"""The provenance of its cells begins so; the model's name follows."""


class ModelJudge:
    """Asks about every memory and unit by their texts alone; equal texts get equal cells.

    `undecided` lists the pairs of memory id and unit id, of all calls, that got no answer. They
    have no cell, which scores as not covered: whoever shows a score must show how many they are.
    """

    is_estimate = False

    def __init__(self, desk: Desk, model: str) -> None:
        self.name = f"model {model}"
        self.undecided: list[tuple[str, str]] = []
        self._desk, self._model = desk, model
        self._provenance = f"{MODEL}{model}"

    def cells(self, memories: Sequence[Judged], units: Sequence[EvidenceUnit]) -> Cells:
        judged = judge_coverage(
            [memory.text for memory in memories],
            [unit.text for unit in units],
            self._desk,
            self._model,
        )
        found: dict[str, dict[str, Cell]] = {memory.id: {} for memory in memories}
        for memory in memories:
            for unit in units:
                said = judged[memory.text, unit.text]
                if said is None:
                    self.undecided.append((memory.id, unit.id))
                else:
                    found[memory.id][unit.id] = Cell(said.value, self._provenance, said.reason)
        if len(self.undecided) >= len(memories) * len(units) > 0:
            raise MemAuditError(
                f"{self.name} answered about no memory at all: check the address and the model, "
                "then run again"
            )
        return found

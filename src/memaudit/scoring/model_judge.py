"""A model as a judge, by the coverage pass that also judges package candidates."""

from collections.abc import Sequence

from memaudit.core.errors import MemAuditError
from memaudit.core.package import EvidenceUnit
from memaudit.models.session import ModelSession
from memaudit.natural.passes.coverage import judge_coverage
from memaudit.scoring.judges import Cell, Judgement, MemoryText

MODEL = "model:"
"""The provenance of its cells begins so; the model's name follows."""


class ModelJudge:
    """Asks about every memory and unit by their texts alone; equal texts get equal cells.

    A pair that got no answer has no cell, which scores as not covered, and is `undecided`.
    """

    is_estimate = False

    def __init__(self, session: ModelSession, model: str) -> None:
        self.name = f"model {model}"
        self._session, self._model = session, model
        self._provenance = f"{MODEL}{model}"

    def judge(self, memories: Sequence[MemoryText], units: Sequence[EvidenceUnit]) -> Judgement:
        judged = judge_coverage(
            [memory.text for memory in memories],
            [unit.text for unit in units],
            self._session,
            self._model,
        )
        cells: dict[str, dict[str, Cell]] = {memory.id: {} for memory in memories}
        undecided: list[tuple[str, str]] = []
        for memory in memories:
            for unit in units:
                answer = judged[memory.text, unit.text]
                if answer is None:
                    undecided.append((memory.id, unit.id))
                else:
                    cells[memory.id][unit.id] = Cell(answer.value, self._provenance, answer.reason)
        if len(undecided) >= len(memories) * len(units) > 0:
            raise MemAuditError(
                f"{self.name} gave no answer about any memory: check the address and the model, "
                "then run again"
            )
        return Judgement(cells, tuple(undecided))

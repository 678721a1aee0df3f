"""A model as a judge, by the coverage pass that also judges package candidates."""

from collections.abc import Collection, Sequence
from itertools import product

from memaudit.judges.coverage_pass import (
    STAGE,
    JudgedCell,
    Statement,
    judge_pairs,
)
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import FULL, NONE
from memaudit.kernel.package.package import EvidenceUnit
from memaudit.kernel.package.unit_parts import WholeUnit, whole_units
from memaudit.kernel.score.judge import Cell, Judgement, MemoryText, Pair
from memaudit.models.prompt import provenance
from memaudit.models.prompts import pass_prompt
from memaudit.models.session import ModelSession

MODEL = "model:"
"""The provenance of its cells begins so; the model's name and its prompt follow."""


class ModelJudge:
    """Asks about every memory and unit by their texts alone; equal texts get equal cells.

    Of a unit with alternatives, the text that a memory preserves best counts. A statement with
    parts is one question: which of its parts does the memory keep?
    A pair that got no answer has no cell, which scores as not covered, and is `undecided`.
    """

    is_estimate = False
    judges_candidates = True

    def __init__(self, session: ModelSession, name: str) -> None:
        self._session, self._model = session, name
        self._provenance = provenance(name, pass_prompt(STAGE))
        self.name = f"model {self._provenance.removeprefix(MODEL)}"
        self._has_answered = False

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        texts = {memory.id: memory.text for memory in memories}
        statements = {
            unit.id: asked_statements(whole) for whole in whole_units(units) for unit in whole.units
        }
        parts = {unit.id: unit.part for unit in units}
        if pairs is None:
            pairs = list(product(texts, statements))
        asked = {(texts[memory], text) for memory, unit in pairs for text in statements[unit]}
        judged = judge_pairs({"": asked}, self._session, self._model)[""]
        cells: dict[str, dict[str, Cell]] = {memory.id: {} for memory in memories}
        undecided: list[tuple[str, str]] = []
        for memory, unit in pairs:
            answer = best_answer([judged[texts[memory], text] for text in statements[unit]])
            if answer is None:
                undecided.append((memory, unit))
                continue
            part = parts[unit]
            value = answer.value if part is None else FULL if part in answer.kept else NONE
            cells[memory][unit] = Cell(value, self._provenance, answer.reason)
        self._has_answered = self._has_answered or len(undecided) < len(pairs)
        if pairs and not self._has_answered:
            raise MemAuditError(
                f"{self.name} gave no answer about any memory: check the address and the model, "
                "then run again"
            )
        return Judgement(cells, tuple(undecided))


def asked_statements(whole: WholeUnit) -> list[Statement]:
    """A unit as the coverage pass asks about it: with its parts, or in each of its texts."""
    if whole.has_parts:
        return [Statement(whole.text, whole.parts)]
    return [Statement(text) for text in (whole.text, *whole.core.alternatives)]


def best_answer(answers: Sequence[JudgedCell | None]) -> JudgedCell | None:
    """The best of equal alternatives; None if one without an answer could be better."""
    known = [answer for answer in answers if answer is not None]
    best = max(known, key=lambda answer: answer.value, default=None)
    is_certain = best is not None and (best.label == "full" or len(known) == len(answers))
    return best if is_certain else None

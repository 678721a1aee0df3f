"""A model as a judge, by the coverage pass that also judges package candidates."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import product

from memaudit.core.errors import MemAuditError
from memaudit.core.package import EvidenceUnit
from memaudit.core.unit_parts import WholeUnit, whole_units
from memaudit.models.session import ModelSession
from memaudit.models.spending import confirm, estimate
from memaudit.natural.coverage_rules import FULL, NONE
from memaudit.natural.passes.coverage import Statement, chunks, coverage_request, judge_pairs
from memaudit.scoring.judges import AskedPair, Cell, Judgement, MemoryText, Pair

MODEL = "model:"
"""The provenance of its cells begins so; the model's name follows."""

ASKS_PARTS = 2
"""The first version of the prompts that asks about parts."""


class ModelJudge:
    """Asks about every memory and unit by their texts alone; equal texts get equal cells.

    A statement with parts is one question: which of its parts does the memory keep?

    A pair that got no answer has no cell, which scores as not covered, and is `undecided`.
    """

    is_estimate = False
    judges_candidates = True

    def __init__(self, session: ModelSession, model: str, prompts: int = 1) -> None:
        self.name = f"model {model}"
        self._session, self._model, self._prompts = session, model, prompts
        self._provenance = f"{MODEL}{model}"
        self._has_answered = False
        self._callbacks = session.callbacks

    def agree_once(self, pairs: Collection[AskedPair]) -> None:
        """Show what asking about all these pairs would cost, and ask for consent to all of it."""
        session, callbacks = self._session, self._callbacks
        if session.provider == "offline" or not pairs:
            return
        asked = {(text, asked_statement(whole)) for text, whole in pairs}
        prompts = self._version(statement for _, statement in asked)
        requests = [
            coverage_request(chunk, self._model, session, prompts) for chunk in chunks(asked)
        ]
        callbacks.show(f"at most {len(pairs):,} cells, {self._model}; rounds may need more calls:")
        confirm(
            estimate(requests, session.cache, session.price), callbacks.show, callbacks.agree,
            yes=callbacks.yes or session.provider == "batch",
        )  # fmt: skip
        session.callbacks = replace(callbacks, yes=True)

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        texts = {memory.id: memory.text for memory in memories}
        statements = {
            unit.id: statement
            for whole in whole_units(units)
            for statement in [asked_statement(whole)]
            for unit in whole.units
        }
        parts = {unit.id: unit.part for unit in units}
        if pairs is None:
            pairs = list(product(texts, statements))
        asked = {(texts[memory], statements[unit]) for memory, unit in pairs}
        prompts = self._version(statements.values())
        judged = judge_pairs({"": asked}, self._session, self._model, prompts=prompts)[""]
        cells: dict[str, dict[str, Cell]] = {memory.id: {} for memory in memories}
        undecided: list[tuple[str, str]] = []
        for memory, unit in pairs:
            answer = judged[texts[memory], statements[unit]]
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

    def _version(self, statements: Iterable[Statement]) -> int:
        """The version of the prompts: the first cannot ask about parts."""
        has_parts = any(statement.parts for statement in statements)
        return max(self._prompts, ASKS_PARTS) if has_parts else self._prompts


def asked_statement(whole: WholeUnit) -> Statement:
    """A statement as the coverage pass asks about it."""
    return Statement(whole.text, whole.parts)

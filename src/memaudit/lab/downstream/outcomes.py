"""Exactly one outcome for every question, and the layer that lost it: a table, nothing else.

Coverage and retrieval decide first (the stage), the text second (the verdict). Where the evidence
is incomplete an answer cannot be right and supported: whatever the reader said, the layer that lost
the evidence lost the answer. A right answer without it is luck, and counted separately. A stale
answer is named as one wherever it happens, and counts against the layer that lost the current
evidence.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.downstream.answers import AnswerVerdict
from memaudit.lab.downstream.diagnosis_files import Layer, Outcome
from memaudit.lab.downstream.evidence_trace import EvidenceStage

LOSSES = tuple(layer for layer in Layer if layer is not Layer.NONE)
"""1 - answered = the sum of these, exactly."""


@dataclass(frozen=True, slots=True)
class OutcomeDecision:
    """An outcome and the layer it counts against."""

    outcome: Outcome
    layer: Layer


_LUCK = OutcomeDecision(Outcome.UNSUPPORTED, Layer.LUCK)
_UNCERTAIN = OutcomeDecision(Outcome.UNCERTAIN, Layer.UNCERTAIN)
_RIGHT = OutcomeDecision(Outcome.RIGHT, Layer.NONE)


def _lost(outcome: Outcome, layer: Layer) -> dict[AnswerVerdict, OutcomeDecision]:
    """The row of a stage at which evidence was lost."""
    lost = OutcomeDecision(outcome, layer)
    return {
        AnswerVerdict.RIGHT: _LUCK,
        AnswerVerdict.STALE: OutcomeDecision(Outcome.STALE, layer),
        AnswerVerdict.WRONG: lost,
        AnswerVerdict.ABSTAINED: lost,
        AnswerVerdict.UNCLEAR: lost,
    }


TABLE: dict[EvidenceStage, dict[AnswerVerdict, OutcomeDecision]] = {
    # Nothing says what would support an answer, so nothing can be said about it.
    EvidenceStage.NO_EVIDENCE: dict.fromkeys(AnswerVerdict, _UNCERTAIN),
    # The reader alone decides: there is nothing to write or to retrieve.
    EvidenceStage.NOTHING_NEEDED: {
        AnswerVerdict.RIGHT: _RIGHT,
        AnswerVerdict.STALE: OutcomeDecision(Outcome.STALE, Layer.READER),
        AnswerVerdict.WRONG: OutcomeDecision(Outcome.UNSUPPORTED, Layer.READER),
        AnswerVerdict.ABSTAINED: _RIGHT,
        AnswerVerdict.UNCLEAR: _UNCERTAIN,
    },
    EvidenceStage.NEVER_WRITTEN: _lost(Outcome.NEVER_WRITTEN, Layer.WRITE),
    EvidenceStage.PRUNED: _lost(Outcome.PRUNED, Layer.WRITE),
    EvidenceStage.NOT_RETRIEVED: _lost(Outcome.NOT_RETRIEVED, Layer.RETRIEVAL),
    EvidenceStage.RETRIEVED: {
        AnswerVerdict.RIGHT: _RIGHT,
        AnswerVerdict.STALE: OutcomeDecision(Outcome.STALE, Layer.READER),
        AnswerVerdict.WRONG: OutcomeDecision(Outcome.WRONG, Layer.READER),
        AnswerVerdict.ABSTAINED: OutcomeDecision(Outcome.ABSTAINED, Layer.READER),
        AnswerVerdict.UNCLEAR: _UNCERTAIN,
    },
}


def decide(stage: EvidenceStage, verdict: AnswerVerdict) -> OutcomeDecision:
    """The outcome and the layer of a question."""
    return TABLE[stage][verdict]


def is_decided(row: Mapping[str, Any]) -> bool:
    """Whether a row has the outcome and the layer that follow from its stage and its verdict."""
    try:
        decision = decide(EvidenceStage(row["stage"]), AnswerVerdict(row["verdict"]))
    except (KeyError, ValueError):
        return False
    measures = row.get("measures")
    answered = measures.get("answered") if isinstance(measures, dict) else None
    return (row.get("outcome"), row.get("layer")) == (
        decision.outcome,
        decision.layer,
    ) and answered == (decision == _RIGHT)


@dataclass(frozen=True, slots=True)
class LossCounts:
    """How many questions ended how. `answered` and the losses sum to 1."""

    questions: int
    outcomes: dict[Outcome, int]
    layers: dict[Layer, int]

    @property
    def answered(self) -> Fraction:
        """The share answered right with its evidence."""
        return Fraction(self.layers[Layer.NONE], self.questions)

    @property
    def losses(self) -> dict[Layer, Fraction]:
        """What each layer lost, as a share of all questions; they sum to 1 - answered."""
        return {layer: Fraction(self.layers[layer], self.questions) for layer in LOSSES}


def count_losses(decided: Iterable[tuple[Outcome, Layer]]) -> LossCounts:
    pairs = list(decided)
    if not pairs:
        raise MemAuditError("there are no questions to add up")
    outcomes = Counter(outcome for outcome, _ in pairs)
    layers = Counter(layer for _, layer in pairs)
    return LossCounts(
        len(pairs),
        {outcome: outcomes[outcome] for outcome in Outcome},
        {layer: layers[layer] for layer in Layer},
    )

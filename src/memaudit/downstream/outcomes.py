"""Exactly one outcome for every question, and the layer that lost it: a table, nothing else.

Coverage and retrieval decide first (the stage), the text second (the verdict). Where the evidence
is incomplete an answer cannot be right and supported: whatever the reader said, the layer that lost
the evidence lost the answer. A right answer without it is luck, and kept apart. A stale answer is
named as one wherever it happens, and counts against the layer that lost the current evidence.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.errors import MemAuditError
from memaudit.downstream.answers import Verdict
from memaudit.downstream.chain import Stage
from memaudit.formats.diagnosis_files import Layer, Outcome

LOSSES = tuple(layer for layer in Layer if layer is not Layer.NONE)
"""1 - answered = the sum of these, exactly."""


@dataclass(frozen=True, slots=True)
class Decision:
    """An outcome and the layer it counts against."""

    outcome: Outcome
    layer: Layer


_LUCK = Decision(Outcome.UNSUPPORTED, Layer.LUCK)
_UNCERTAIN = Decision(Outcome.UNCERTAIN, Layer.UNCERTAIN)
_RIGHT = Decision(Outcome.RIGHT, Layer.NONE)


def _lost(outcome: Outcome, layer: Layer) -> dict[Verdict, Decision]:
    """The row of a stage at which evidence was lost."""
    lost = Decision(outcome, layer)
    return {
        Verdict.RIGHT: _LUCK,
        Verdict.STALE: Decision(Outcome.STALE, layer),
        Verdict.WRONG: lost,
        Verdict.ABSTAINED: lost,
        Verdict.UNCLEAR: lost,
    }


TABLE: dict[Stage, dict[Verdict, Decision]] = {
    # Nothing says what would support an answer, so nothing can be said about it.
    Stage.NO_EVIDENCE: dict.fromkeys(Verdict, _UNCERTAIN),
    # The reader alone decides: there is nothing to write or to retrieve.
    Stage.NOTHING_NEEDED: {
        Verdict.RIGHT: _RIGHT,
        Verdict.STALE: Decision(Outcome.STALE, Layer.READER),
        Verdict.WRONG: Decision(Outcome.UNSUPPORTED, Layer.READER),
        Verdict.ABSTAINED: _RIGHT,
        Verdict.UNCLEAR: _UNCERTAIN,
    },
    Stage.NEVER_WRITTEN: _lost(Outcome.NEVER_WRITTEN, Layer.WRITE),
    Stage.PRUNED: _lost(Outcome.PRUNED, Layer.WRITE),
    Stage.NOT_RETRIEVED: _lost(Outcome.NOT_RETRIEVED, Layer.RETRIEVAL),
    Stage.RETRIEVED: {
        Verdict.RIGHT: _RIGHT,
        Verdict.STALE: Decision(Outcome.STALE, Layer.READER),
        Verdict.WRONG: Decision(Outcome.WRONG, Layer.READER),
        Verdict.ABSTAINED: Decision(Outcome.ABSTAINED, Layer.READER),
        Verdict.UNCLEAR: _UNCERTAIN,
    },
}


def decide(stage: Stage, verdict: Verdict) -> Decision:
    """The one decision."""
    return TABLE[stage][verdict]


@dataclass(frozen=True, slots=True)
class Losses:
    """Of `questions`, how many ended how; `answered` and the losses sum to 1."""

    questions: int
    outcomes: dict[Outcome, int]
    layers: dict[Layer, int]

    @property
    def answered(self) -> Fraction:
        """The share that was answered right with its evidence."""
        return Fraction(self.layers[Layer.NONE], self.questions)

    @property
    def losses(self) -> dict[Layer, Fraction]:
        """What each layer lost, as a share of all questions; they sum to 1 - answered."""
        return {layer: Fraction(self.layers[layer], self.questions) for layer in LOSSES}


def losses(decided: Iterable[tuple[Outcome, Layer]]) -> Losses:
    """The losses of some questions."""
    pairs = list(decided)
    if not pairs:
        raise MemAuditError("there are no questions to add up")
    outcomes, layers = Counter(one for one, _ in pairs), Counter(one for _, one in pairs)
    return Losses(
        len(pairs),
        {outcome: outcomes[outcome] for outcome in Outcome},
        {layer: layers[layer] for layer in Layer},
    )

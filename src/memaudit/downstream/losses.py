"""Shares of questions by outcome and by the layer that lost them, exactly."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.errors import MemAuditError
from memaudit.downstream.outcomes import LOSSES, Layer, Outcome


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

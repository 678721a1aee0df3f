"""A frame with everyone's labels as arrays, on both scales and in both balances."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memaudit.audits.agreement.coding import REASONS, Codes, agreed, coded, on_scale
from memaudit.audits.agreement.raters import CONSENSUS, Rater, raters
from memaudit.audits.agreement.scale import SCALES
from memaudit.audits.agreement.weights import Weights, as_drawn, natural
from memaudit.audits.frames.cell import LABELS, Frame, LabelSet
from memaudit.core.errors import MemAuditError

AS_DRAWN, NATURAL = "as_drawn", "natural"


@dataclass(frozen=True, slots=True)
class CodedFrame:
    """`codes` are by rater, `scaled` by scale and rater, `balances` weights by name."""

    frame: Frame
    raters: tuple[Rater, ...]
    codes: Mapping[str, Codes]
    scaled: Mapping[str, Mapping[str, Codes]]
    balances: Mapping[str, Weights]

    @property
    def annotators(self) -> list[str]:
        """Their names."""
        return [one.name for one in self.raters if one.role == "annotator"]

    @property
    def profiles(self) -> list[NDArray[np.generic]]:
        """Arrays that tell cells apart: two alike in all of them may stand for each other."""
        return [*self.codes.values(), *(one.places for one in self.balances.values())]

    def of_annotators(self, scale: str) -> Codes:
        """Their categories, one row an annotator."""
        return np.stack([self.scaled[scale][name] for name in self.annotators])

    def counts(self, rater: Rater) -> dict[str, int]:
        """How often a rater gave each label, cells without one, and labels of no known cell."""
        given = Counter(rater.labels[cell.id] for cell in self.frame.cells
                        if cell.id in rater.labels)  # fmt: skip
        return {
            **{label: given[label] for label in LABELS},
            "missing": len(self.frame.cells) - given.total(),
            "outside": len(rater.labels) - given.total(),
        }

    def consensus_counts(self, scale: str) -> dict[str, int]:
        """Cells that the annotators agree on, and what keeps the others from it."""
        found = self.scaled[scale][CONSENSUS]
        reasons = {name: int((found == reason).sum()) for reason, name in REASONS.items()}
        return {"agreed": int((found >= 0).sum()), **reasons}


def coded_frame(
    frame: Frame, annotators: Sequence[LabelSet], models: Sequence[LabelSet] = ()
) -> CodedFrame:
    """The frame with all labels; the consensus needs two annotators."""
    if not frame.cells:
        raise MemAuditError("the frame holds no cells to compare labels of")
    found = raters(frame, annotators, models)
    codes = {one.name: coded(one.labels, frame.cells) for one in found}
    people = [one.name for one in found if one.role == "annotator"]
    scaled = {}
    for scale in SCALES.values():
        own = {name: on_scale(given, scale) for name, given in codes.items()}
        if len(people) > 1:
            own[CONSENSUS] = agreed(np.stack([own[name] for name in people]))
        scaled[scale.name] = own
    balances = {AS_DRAWN: as_drawn(frame)}
    if (weighed := natural(frame)) is not None:
        balances[NATURAL] = weighed
    return CodedFrame(frame, found, codes, scaled, balances)

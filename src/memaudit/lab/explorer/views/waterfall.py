"""Waterfall charts: a total and what each step takes from it, as bars."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.kernel.io.score_file import LossDiagnosis
from memaudit.kernel.losses import KEPT, LOSS_STEPS

WHOLE, STEP, REST = "whole", "step", "rest"

ABOUT = {step.name: step.meaning for step in (*LOSS_STEPS.values(), KEPT)}


@dataclass(frozen=True, slots=True)
class WaterfallBar:
    """One bar: from `start`, `width` wide, in percent."""

    name: str
    about: str
    sort: str
    share: Fraction
    value: float
    start: float
    width: float

    @property
    def end(self) -> float:
        return round(self.start + self.width, 3)


def waterfall(
    total: tuple[str, str, float],
    steps: Sequence[tuple[str, str, Fraction, float]],
    rest: tuple[str, str, float],
) -> tuple[WaterfallBar, ...]:
    """The bars of the total 1, of its steps down, and of the rest, each with name and meaning."""
    bars = [WaterfallBar(*total[:2], WHOLE, Fraction(1), total[2], 0.0, 100.0)]
    left = Fraction(1)
    for name, about, share, value in steps:
        left -= share
        bars.append(WaterfallBar(name, about, STEP, share, value, _percent(left), _percent(share)))
    bars.append(WaterfallBar(*rest[:2], REST, left, rest[2], 0.0, _percent(left)))
    return tuple(bars)


def losses_of(diagnosis: LossDiagnosis) -> tuple[WaterfallBar, ...]:
    """From OPT of the common union down to what a store keeps."""
    return waterfall(
        (
            "OPT",
            "the best store of everybody's memories and the package's candidates",
            diagnosis.optimum,
        ),
        [
            (name, ABOUT.get(name, ""), loss.share, loss.value)
            for name, loss in diagnosis.losses.items()
        ],
        ("kept", ABOUT["kept"], float(diagnosis.kept) * diagnosis.optimum),
    )


def _percent(share: Fraction) -> float:
    return round(100 * float(share), 3)

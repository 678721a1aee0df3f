"""What a store can lose on the way from OPT down to what it keeps: one record per loss.

To add a loss, add its record here and measure the stage below it in `StoreScorer.stages`
(kernel/score/score.py). Files, tables, pages, pictures and notebooks follow.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LossStep:
    """One loss, or what is kept in the end: its name, how it is explained, and how it is drawn."""

    name: str
    stage: str
    """What is worth this much less than the stage above it."""
    meaning: str
    """What happened to a unit that is lost here."""
    reason: str
    """What a store of the board did, as the end of a sentence."""
    advice: str
    """What to do if most is lost here."""
    colour: str
    """Of its area; every page gives it the hue of this colour (show/encoding.py)."""
    hatch: str = ""
    """In Matplotlib's notation."""


TOP_STAGE = "common union"
"""OPT of everybody's memories, from which all losses are counted."""

# Every step has a colour and a hatch of its own: pictures are also printed in black and white.
_STEPS = (
    LossStep(
        name="generation",
        stage="union",
        meaning="only other systems' memories express it",
        reason="another store of the board wrote it, or wrote it in fewer words, and neither this "
        "store nor the package did",
        advice="other systems say what neither the package nor this store says, or in fewer "
        "words: look at their memories",
        colour="#64caf9",
        hatch="....",
    ),
    LossStep(
        name="extraction",
        stage="union as written",
        meaning="never written",
        reason="it never wrote what the questions need",
        advice="improve extraction: what later questions need was never written",
        colour="#e37d5b",
        hatch="////",
    ),
    LossStep(
        name="cost",
        stage="store alone",
        meaning="written, but too long to fit",
        reason="it wrote what the questions need in memories too long to fit the budget together",
        advice="improve compaction: what was written is too long to fit the budget",
        colour="#f2d66c",
        hatch="xxxx",
    ),
    LossStep(
        name="selection",
        stage="kept",
        meaning="a better subset of its own memories fits",
        reason="the best choice of its own memories is worth far more than what is kept",
        advice="improve admission: a better subset of its own memories fits the budget",
        colour="#aa8dad",
        hatch="\\\\\\\\",
    ),
)

LOSS_STEPS: Mapping[str, LossStep] = {step.name: step for step in _STEPS}
"""The losses by name, from OPT down."""

LESS_IS_ENOUGH = (
    "little is lost at this budget, and less than half of it would say as much: drop the rest"
)
"""Instead of the advice to look downstream, where a store spends twice what its value needs."""

KEPT = LossStep(
    name="kept",
    stage="kept",
    meaning="what the store holds within the budget",
    reason="it is in what the store keeps",
    advice="little is lost in writing: look downstream, at retrieval and reading",
    colour="#8fc7a6",
)
"""What is left after all losses."""

SHARES = (KEPT.name, *LOSS_STEPS)
"""The parts of OPT, which sum to 1."""
STAGES = (TOP_STAGE, *(step.stage for step in _STEPS))
"""What the losses lie between, from OPT down."""

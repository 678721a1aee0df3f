"""Hand-written views: a line a group, a tuple a candidate."""

from collections.abc import Sequence
from fractions import Fraction

from memaudit.writers.protocol import View, VisibleCandidate, VisibleExperience

Offer = tuple[str, str, int] | tuple[str, str, int, Fraction]
"""Kind, text, cost and, where it matters, confidence."""


def view_of(*groups: Sequence[Offer], cap: int = 1) -> View:
    """A view whose experience 0 offers the candidates 0.0, 0.1 and so on, and says the first."""
    return View(
        experiences=tuple(
            VisibleExperience(str(g), g, group[0][1] if group else "", None, None, None)
            for g, group in enumerate(groups)
        ),
        candidates=tuple(
            VisibleCandidate(
                f"{g}.{i}", str(g), offer[0], offer[1], Fraction(offer[2]),
                offer[3] if len(offer) > 3 else None,
            )
            for g, group in enumerate(groups)
            for i, offer in enumerate(group)
        ),
        group_cap=cap,
    )  # fmt: skip

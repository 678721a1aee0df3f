"""The scales on which labels are compared: as given, or covered at all against not covered."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from memaudit.audits.frames.cell import Label

ORDER: tuple[Label, ...] = ("none", "partial", "full")
"""Labels that say how much is covered, least first; `cannot_tell` says nothing of the kind."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Categories, least covered first, and the category of each label of ORDER."""

    name: str
    title: str
    categories: tuple[str, ...]
    places: tuple[int, ...]
    values: tuple[Fraction, ...]

    @property
    def size(self) -> int:
        """How many categories there are."""
        return len(self.categories)


LABEL_SCALE = Scale(
    "labels",
    "Labels: full, partial, none",
    ORDER,
    (0, 1, 2),
    (Fraction(0), Fraction(1, 2), Fraction(1)),
)
COVERED_SCALE = Scale(
    "covered",
    "Covered at all (full or partial), or not",
    ("not covered", "covered"),
    (0, 1, 1),
    (Fraction(0), Fraction(1)),
)
SCALES: Mapping[str, Scale] = {one.name: one for one in (LABEL_SCALE, COVERED_SCALE)}

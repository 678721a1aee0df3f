"""A cell to be labelled: a candidate and a unit, and apart from it what a labeller must not see."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, get_args

Label = Literal["full", "partial", "none", "cannot_tell"]
LABELS: tuple[Label, ...] = get_args(Label)
VALUES: Mapping[Label, Fraction] = {
    "full": Fraction(1),
    "partial": Fraction(1, 2),
    "none": Fraction(0),
}
"""What a label is worth as coverage; `cannot_tell` is worth nothing known, which is not 0."""


def label_of_value(value: Fraction) -> Label:
    """The label of a coverage value; anything between nothing and all is partial."""
    if not value:
        return "none"
    return "full" if value == 1 else "partial"


SESSIONS = {True: "same session", False: "other session", None: "session unknown"}


def stratum_name(candidate_kind: str, unit_kind: str, same_session: bool | None) -> str:
    """How a stratum is called."""
    return f"{candidate_kind} / {unit_kind} / {SESSIONS[same_session]}"


@dataclass(frozen=True, slots=True)
class FrameCell:
    """What may be seen: where the cell comes from, its kinds, and the texts to compare.

    Ids of cells follow the shuffled order, so they say nothing about the label.
    """

    id: str
    package: str
    candidate: str
    unit: str
    candidate_kind: str
    unit_kind: str
    same_session: bool | None
    candidate_text: str
    unit_text: str
    quote: str

    @property
    def stratum(self) -> str:
        """Candidate kind, unit kind, and whether both come from one session."""
        return stratum_name(self.candidate_kind, self.unit_kind, self.same_session)


@dataclass(frozen=True, slots=True)
class KeyedCell:
    """What stays hidden until labels are compared: the package's own label, and the weight.

    The weight is how many cells of the packages the cell stands for: 1 for a covered cell, which
    is always in the frame, and (cells of its stratum) / (cells drawn) for an uncovered one.
    """

    value: Fraction
    provenance: str
    weight: Fraction


@dataclass(frozen=True, slots=True)
class DrawnFrom:
    """The packages that a frame was drawn from, by name, and whether only cells that their label
    passes judged were."""

    packages: frozenset[str]
    judged_only: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """The cells in the order they are shown, and the key by cell id; empty where it is unknown.

    `drawn_from` is None where no `frame.json` tells.
    """

    cells: tuple[FrameCell, ...]
    key: Mapping[str, KeyedCell] = field(default_factory=dict)
    drawn_from: DrawnFrom | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class LabelSet:
    """One annotator's labels by cell id, with the notes made on the way."""

    annotator: str
    labels: Mapping[str, Label]
    notes: Mapping[str, str] = field(default_factory=dict)

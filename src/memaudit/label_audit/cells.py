"""A frame of cells to label, what a labeller must not see, and label sets by annotator."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Literal, get_args

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact

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


WORDS: Mapping[str, Label] = {
    "full": "full", "yes": "full", "y": "full", "true": "full", "covered": "full",
    "partial": "partial", "partially": "partial", "partially_covered": "partial",
    "none": "none", "no": "none", "n": "none", "false": "none", "not_covered": "none",
    "cannot_tell": "cannot_tell", "can't_tell": "cannot_tell", "unsure": "cannot_tell",
    "?": "cannot_tell",
}  # fmt: skip
"""Lower case, with an underscore for a blank or a hyphen; numbers are read besides: 1, 0.5, 0."""

_BY_VALUE: Mapping[Fraction, Label] = {value: label for label, value in VALUES.items()}


def label_of(word: object) -> Label | None:
    """The label; None where nothing is written. A word that means none is a ValueError."""
    if isinstance(word, bool):
        return "full" if word else "none"
    if word is not None and not isinstance(word, str | int | Decimal):
        raise ValueError(f"{str(word)[:40]!r} is no label")
    text = "" if word is None else str(word).strip()
    if not text:
        return None
    found = WORDS.get("_".join(text.lower().replace("-", " ").split()))
    if found is None:
        try:
            found = _BY_VALUE.get(exact(text))
        except ValueError:
            found = None
    if found is None:
        known = "full, partial, none or cannot_tell"
        raise ValueError(f"unknown label {text[:40]!r} (write {known}; or 1, 0.5, 0)")
    return found


@dataclass(frozen=True, slots=True)
class Said:
    """One decision and the place in a file where it stands; no label where a row is left blank."""

    annotator: str
    cell: str
    label: Label | None
    note: str
    place: str


@dataclass(slots=True)
class _Gathered:
    labels: dict[str, Label] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)


def gathered(decisions: Iterable[Said], known: Collection[str] | None = None) -> list[LabelSet]:
    """One set an annotator, in the order of the file; blank rows are no labels.

    A cell may be repeated with the same label, not with another one.
    """
    found: dict[str, _Gathered] = {}
    for one in decisions:
        if known is not None and one.cell not in known:
            raise MemAuditError(f"{one.place}: names the cell {one.cell!r}, which the frame lacks")
        if one.label is None:
            continue
        own = found.setdefault(one.annotator, _Gathered())
        before = own.labels.setdefault(one.cell, one.label)
        first = own.places.setdefault(one.cell, one.place)
        if before != one.label:
            raise MemAuditError(
                f"{one.place}: {one.annotator!r} labels the cell {one.cell!r} {one.label}, but "
                f"{before} at {first} (keep one of them)"
            )
        if one.note:
            own.notes.setdefault(one.cell, one.note)
    return [LabelSet(name, own.labels, own.notes) for name, own in found.items()]

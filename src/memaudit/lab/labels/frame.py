"""A frame of cells to label, the key that labellers must not see, and label sets by annotator."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import Label
from memaudit.kernel.package.unit_parts import part_id, part_text_of

STRATUM = "stratum"
"""The finest grouping of cells."""
SESSIONS = {True: "same session", False: "other session", None: "session unknown"}


@dataclass(frozen=True, slots=True)
class FrameCell:
    """What a labeller may see: where the cell comes from, its kinds, and the texts to compare.

    Ids of cells follow the shuffled order, so they reveal nothing about the label. A statement with
    parts is one cell; `parts` are their names and words, the core first.
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
    parts: tuple[tuple[str, str], ...] = ()

    @property
    def part_names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.parts)

    @property
    def described(self) -> str:
        """The unit's text, followed by the parts if there are any."""
        listed = "; ".join(f"{name}: {words}" for name, words in self.parts)
        return f"{self.unit_text} [{listed}]" if listed else self.unit_text

    def label_of(self, kept: Collection[str]) -> Label:
        """The label of keeping these parts: nothing is kept without the core."""
        # The core is first; the rule is that of units with parts.
        if self.parts[0][0] not in kept:
            return "none"
        return "full" if len(set(kept)) == len(self.parts) else "partial"

    def kept_by(self, label: Label, kept: Collection[str] | None) -> frozenset[str]:
        """The parts that a label keeps; a ValueError if it does not say, or contradicts itself."""
        names = self.part_names
        if kept is None and label == "partial":
            raise ValueError(f"is partial, and does not say which parts: {', '.join(names)}")
        if kept is None:
            return frozenset(names if label == "full" else ())
        if unknown := sorted(set(kept) - set(names)):
            raise ValueError(f"has the unknown part {unknown[0]!r}; parts: {', '.join(names)}")
        if kept and names[0] not in kept:
            raise ValueError(f"keeps parts without the core, {names[0]!r}: that is none")
        said: Label = "cannot_tell" if label == "cannot_tell" and not kept else self.label_of(kept)
        if label != said:
            raise ValueError(f"is {label}, and its parts say {said}")
        return frozenset(kept)

    @property
    def stratum(self) -> str:
        """Candidate kind, unit kind, and whether both come from one session."""
        return stratum_name(self.candidate_kind, self.unit_kind, self.same_session)


def stratum_name(candidate_kind: str, unit_kind: str, same_session: bool | None) -> str:
    """The name of a stratum in files and tables."""
    return f"{candidate_kind} / {unit_kind} / {SESSIONS[same_session]}"


@dataclass(frozen=True, slots=True)
class KeyedCell:
    """What stays hidden until labels are compared: the package's own label, and the weight.

    The weight is how many package cells the cell stands for: 1 for a covered cell, which is always
    in the frame, and (cells of its stratum) / (cells drawn) for an uncovered one. `kept` are the
    parts that the package says are kept, of a statement that has some; its value is their share.
    """

    value: Fraction
    provenance: str
    weight: Fraction
    kept: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Frame:
    """The cells in the order they are shown, and the key by cell id; empty if it is unknown."""

    cells: tuple[FrameCell, ...]
    key: Mapping[str, KeyedCell] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LabelSet:
    """One annotator's labels and notes by cell id, and the kept parts where a statement has some.

    The label of such a cell is full, partial or none as all, some or no parts are kept.
    """

    annotator: str
    labels: Mapping[str, Label]
    notes: Mapping[str, str] = field(default_factory=dict)
    kept: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def is_model(self) -> bool:
        """Whether a model gave them."""
        return self.annotator.startswith(MODEL_ANNOTATOR)


def by_part(frame: Frame, label_sets: Iterable[LabelSet] = ()) -> tuple[Frame, list[LabelSet]]:
    """The frame and its labels with every part as a cell of its own, which is kept or lost.

    Units without parts stay as they are. Without any parts nothing changes.
    """
    sets = list(label_sets)
    if not any(cell.parts for cell in frame.cells):
        return frame, sets
    cells: list[FrameCell] = []
    key: dict[str, KeyedCell] = {}
    labels: list[dict[str, Label]] = [{} for _ in sets]
    for cell in frame.cells:
        keyed = frame.key.get(cell.id)
        for name, words in cell.parts or (("", ""),):
            shown = cell
            if name:
                shown = replace(
                    cell,
                    id=part_id(cell.id, name),
                    unit=part_id(cell.unit, name),
                    parts=(),
                    unit_text=part_text_of(cell.unit_text, name, words),
                )
            cells.append(shown)
            if keyed is not None:
                kept = Fraction(name in keyed.kept) if name else keyed.value
                key[shown.id] = replace(keyed, value=kept, kept=frozenset())
            for own, said in zip(labels, sets, strict=True):
                label = said.labels.get(cell.id)
                if label is None:
                    continue
                if name and label != "cannot_tell":
                    label = "full" if name in said.kept.get(cell.id, ()) else "none"
                own[shown.id] = label
    return replace(frame, cells=tuple(cells), key=key), [
        LabelSet(said.annotator, own) for said, own in zip(sets, labels, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class LabelDecision:
    """One decision and its place in a file; no label if the row was left blank."""

    annotator: str
    cell: str
    label: Label | None
    note: str
    place: str
    kept: frozenset[str] | None = None
    """The parts it names; None if it names none."""


@dataclass(slots=True)
class _Collected:
    labels: dict[str, Label] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    kept: dict[str, frozenset[str]] = field(default_factory=dict)


def collect_label_sets(
    decisions: Iterable[LabelDecision], known: Mapping[str, FrameCell] | None = None
) -> list[LabelSet]:
    """One set per annotator, in the order of the file; blank rows are skipped.

    A cell may be repeated with the same label, but not with another one.
    """
    by_annotator: dict[str, _Collected] = {}
    for decision in decisions:
        cell, label = decision.cell, decision.label
        if known is not None and cell not in known:
            raise MemAuditError(
                f"{decision.place}: names the cell {cell!r}, which is not in the frame"
            )
        kept = decision.kept
        of_parts = known[cell] if known is not None and known[cell].parts else None
        if label is None and kept is not None and of_parts is not None:
            label = of_parts.label_of(kept)
        if label is None:
            continue
        if of_parts is not None:
            try:
                kept = of_parts.kept_by(label, kept)
            except ValueError as error:
                raise MemAuditError(f"{decision.place}: the cell {cell!r} {error}") from None
        own = by_annotator.setdefault(decision.annotator, _Collected())
        before = own.labels.setdefault(cell, label)
        first = own.places.setdefault(cell, decision.place)
        # Two files of one annotator may overlap; a contradiction has no right answer.
        if before != label:
            raise MemAuditError(
                f"{decision.place}: {decision.annotator!r} labels the cell {cell!r} {label}, but "
                f"{before} at {first} (keep one of them)"
            )
        if kept is not None and own.kept.setdefault(cell, kept) != kept:
            raise MemAuditError(
                f"{decision.place}: {decision.annotator!r} names other parts of the cell {cell!r} "
                f"than at {first} (keep one of them)"
            )
        if decision.note:
            own.notes.setdefault(cell, decision.note)
    return [LabelSet(name, own.labels, own.notes, own.kept) for name, own in by_annotator.items()]


Role = Literal["annotator", "consensus", "model", "package"]
CONSENSUS, PACKAGE = "consensus", "package"
"""Reserved names of label sets."""

MODEL_ANNOTATOR = "model:"
"""An annotator whose name begins so is a model, which has no part in the consensus of people."""

MISSING, CANNOT_TELL, DISAGREED = -1, -2, -3
REASONS = {MISSING: "missing", CANNOT_TELL: "cannot_tell", DISAGREED: "disagreed"}
"""Why a cell is left out of a comparison, in the order in which the reasons are checked."""

Integers = TypeVar("Integers", np.int8, np.int64)


def consensus_codes(codes: NDArray[Integers]) -> NDArray[Integers]:
    """The consensus of annotators (rows) on one scale: the only rule for it, also in ratios.

    A cell has one where at least two labelled it, all of them alike, and nobody answered
    `cannot_tell`.
    """
    labelled = codes >= 0
    high = codes.max(axis=0)
    # Cells without a label must not lower the minimum, so they take the maximum.
    low = np.where(labelled, codes, high).min(axis=0)
    result = np.where(high == low, high, codes.dtype.type(DISAGREED))
    # Later rules win: doubt of one annotator outweighs how many labelled the cell.
    result = np.where(labelled.sum(axis=0) < 2, codes.dtype.type(MISSING), result)
    return np.where((codes == CANNOT_TELL).any(axis=0), codes.dtype.type(CANNOT_TELL), result)

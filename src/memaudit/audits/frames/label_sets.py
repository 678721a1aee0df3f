"""Labels as rows: who said what about which cell, gathered annotator by annotator."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from memaudit.audits.frames.cell import Label, LabelSet
from memaudit.core.errors import MemAuditError


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

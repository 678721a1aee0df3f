"""Columns of audit files: our names first, then others that are read, like the published ones."""

from collections.abc import Mapping

from memaudit.natural.label_files import LabelRow

CELL_ID = ("cell_id",)
CELLS: Mapping[str, tuple[str, ...]] = {
    "id": CELL_ID,
    "package": ("package", "instance_id"),
    "candidate": ("candidate_id", "memory_id"),
    "unit": ("unit_id",),
    "candidate_kind": ("candidate_kind", "representation_type"),
    "unit_kind": ("unit_kind", "evidence_kind"),
    "same_session": ("same_session",),
    "candidate_text": ("candidate_text", "memory_text"),
    "unit_text": ("unit_text", "evidence_text"),
    "quote": ("quote", "source_quote"),
}
"""By the field of a cell."""

IDS, TEXTS = ("id", "package", "candidate", "unit"), ("candidate_text", "unit_text")
"""Fields that a file of cells must have a column for, unless its cells are only told apart; ids
may not be empty, texts may."""

PUBLISHED_VALUES = ("gemini_coverage", "model_coverage", "gemini_label", "model_label")
"""A model's coverage, or only whether it is at least 0.5, inside a file of cells."""

VALUE = ("value", *PUBLISHED_VALUES)
PROVENANCE = ("provenance",)
WEIGHT = ("weight",)
"""The key's columns; a value inside a file of cells is the key where there is no `key.csv`."""

ANNOTATOR = ("annotator_id", "annotator")
LABEL = ("label",)
NOTES = ("notes", "note")


def named(row: LabelRow, names: tuple[str, ...]) -> str | None:
    """The name by which a row has a column; None where it has none of them."""
    return next((name for name in names if name in row.data), None)


def optional(row: LabelRow, names: tuple[str, ...]) -> str | None:
    """A column's text; None where it is empty or missing."""
    name = named(row, names)
    return None if name is None else row.optional(name)


def required(row: LabelRow, names: tuple[str, ...]) -> str:
    """A column's text, which must be there."""
    name = named(row, names)
    if name is None:
        raise row.wrong(f"lacks the column {' or '.join(repr(one) for one in names)}")
    return row.text(name)

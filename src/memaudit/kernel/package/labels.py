"""What labels say: none, partial or full coverage, who said so, and the rows they give."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Literal, get_args

from memaudit.kernel.exact import exact
from memaudit.kernel.package.package import Coverage

NONE, PARTIAL, FULL = Fraction(0), Fraction(1, 2), Fraction(1)

LABELS = {FULL: "full", PARTIAL: "partial", NONE: "none"}

Label = Literal["full", "partial", "none", "cannot_tell"]
LABEL_NAMES: tuple[Label, ...] = get_args(Label)
VALUES: Mapping[Label, Fraction] = {
    "full": FULL,
    "partial": PARTIAL,
    "none": NONE,
}
"""The coverage value of a label; that of `cannot_tell` is unknown, which is not 0."""

LABEL_PASSES = "label_passes"
"""The attribute of a package that holds the cells of several label passes."""

PASS = "pass:"
"""The prefix of the provenance of labels; the name of the pass follows."""


def coverage_row(candidate: str, unit: str, value: Fraction, provenance: str, why: str) -> Coverage:
    return Coverage(
        candidate=candidate,
        unit=unit,
        value=value,
        label=LABELS.get(value),
        rationale=why or None,
        provenance=provenance,
    )


LABEL_WORDS: Mapping[str, Label] = {
    "full": "full",
    "yes": "full",
    "y": "full",
    "true": "full",
    "covered": "full",
    "partial": "partial",
    "partially": "partial",
    "partially_covered": "partial",
    "none": "none",
    "no": "none",
    "n": "none",
    "false": "none",
    "not_covered": "none",
    "cannot_tell": "cannot_tell",
    "can't_tell": "cannot_tell",
    "unsure": "cannot_tell",
    "?": "cannot_tell",
}
"""Lower case, with underscores for blanks and hyphens; the numbers 1, 0.5 and 0 are also read."""

_BY_VALUE: Mapping[Fraction, Label] = {value: label for label, value in VALUES.items()}


def label_of_value(value: Fraction) -> Label:
    """The label of a coverage value; any value strictly between 0 and 1 is partial."""
    if not value:
        return "none"
    return "full" if value == 1 else "partial"


def parse_label(word: object) -> Label | None:
    """The label; None for an empty field. A ValueError if the word is not a label."""
    # JSON's true and false, which Python would otherwise read as the numbers 1 and 0.
    if isinstance(word, bool):
        return "full" if word else "none"
    if word is not None and not isinstance(word, str | int | Decimal):
        raise ValueError(f"{str(word)[:40]!r} is not a label")
    text = "" if word is None else str(word).strip()
    if not text:
        return None
    label = LABEL_WORDS.get("_".join(text.lower().replace("-", " ").split()))
    if label is None:
        # Labels may be numbers, in any spelling: 0.5, 0.50, 1.0.
        try:
            label = _BY_VALUE.get(exact(text))
        except ValueError:
            label = None
    if label is None:
        known = "full, partial, none or cannot_tell"
        raise ValueError(f"unknown label {text[:40]!r} (write {known}; or 1, 0.5, 0)")
    return label

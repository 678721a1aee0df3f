"""What people and tools write for a label."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from memaudit.audits.frames.cell import VALUES, Label
from memaudit.core.exact import exact

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

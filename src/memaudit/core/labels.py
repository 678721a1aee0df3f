"""What labels say: none, partial or full coverage, who said so, and the rows they give."""

from fractions import Fraction

from memaudit.core.package import Coverage

NONE, PARTIAL, FULL = Fraction(0), Fraction(1, 2), Fraction(1)

LABELS = {FULL: "full", PARTIAL: "partial", NONE: "none"}

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

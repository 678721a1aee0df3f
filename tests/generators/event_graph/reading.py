"""Helpers that compare a package with its texts."""

import re
from fractions import Fraction

from memaudit.core.package import Coverage, EvidenceUnit, Package

KINDS = {
    "raw", "fact", "event", "edge", "summary", "rule", "skill", "compound_update", "tombstone",
}  # fmt: skip
QUESTIONS = {
    "single_hop", "multi_hop", "temporal", "current_truth", "supersession", "abstention",
}  # fmt: skip


def says(text: str, words: str) -> bool:
    """Whether the text contains the words, as whole words."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE) is not None


def slots(unit: EvidenceUnit) -> dict[str, list[str]]:
    by_name = unit.attributes["slots"]
    assert isinstance(by_name, dict)
    return {name: [str(form) for form in forms] for name, forms in by_name.items()}  # type: ignore[union-attr]


def stated(cell: Coverage) -> list[str]:
    assert cell.rationale is not None
    return cell.rationale.removeprefix("states ").split(";")[0].split(", ")


def full(package: Package, unit: str) -> list[str]:
    """The texts that cover a unit in full."""
    return [
        package.candidate[cell.candidate].text
        for cell in package.coverage
        if cell.unit == unit and cell.value == Fraction(1)
    ]


def count(package: Package, *kinds: str) -> int:
    return sum(unit.kind in kinds for unit in package.units)

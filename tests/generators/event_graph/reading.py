"""Reads a package the way a person would: is that wording really in the text?"""

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
    """Whether the words stand in the text, as whole words; a sentence may begin with them."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE) is not None


def slots(unit: EvidenceUnit) -> dict[str, list[str]]:
    """A unit's slots with the wordings that state them."""
    found = unit.attributes["slots"]
    assert isinstance(found, dict)
    return {name: [str(form) for form in forms] for name, forms in found.items()}  # type: ignore[union-attr]


def stated(cell: Coverage) -> list[str]:
    """The slots that a coverage row says are stated."""
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
    """How many units are of these kinds."""
    return sum(unit.kind in kinds for unit in package.units)

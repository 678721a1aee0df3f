"""Other labels for a package's cells: what they change, and the package that results."""

from collections.abc import Mapping
from fractions import Fraction

from memaudit.core.package import Package
from memaudit.natural.coverage_rules import cell

Cell = tuple[str, str]
"""The id of a candidate and the id of a unit."""

Labels = Mapping[Cell, Fraction]
"""How much of the unit the candidate keeps, cell by cell; cells that are not there stay."""

NOT_COVERED = Fraction(0)
PROVENANCE = "labels:"
"""The provenance of changed rows begins so; the name of the label set follows."""


def own_values(package: Package) -> dict[Cell, Fraction]:
    """The package's own labels; a cell that is not there is not covered."""
    return {(row.candidate, row.unit): row.value for row in package.coverage}


def changes(own: Labels, labels: Labels) -> dict[Cell, Fraction]:
    """The labels that are not what the package says itself, in order of cells."""
    return {at: labels[at] for at in sorted(labels) if labels[at] != own.get(at, NOT_COVERED)}


def relabelled(package: Package, changed: Labels, by: str) -> Package:
    """The package with some cells changed; the very same where none are."""
    if not changed:
        return package
    rows = [row for row in package.coverage if (row.candidate, row.unit) not in changed]
    rows += [
        cell(candidate, unit, value, f"{PROVENANCE}{by}", "")
        for (candidate, unit), value in sorted(changed.items())
        if value
    ]
    return package.replace(coverage=tuple(rows))

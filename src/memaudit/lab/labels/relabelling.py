"""A package under other labels: which cells change, and the package with them changed."""

from collections.abc import Mapping
from fractions import Fraction

from memaudit.building.label_passes import CellKey
from memaudit.kernel.package.labels import coverage_row
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judge import cores

CellLabels = Mapping[CellKey, Fraction]
"""The coverage value of each cell; other cells keep theirs."""

NOT_COVERED = Fraction(0)
PROVENANCE = "labels:"
"""The provenance of changed rows begins so; the name of the label set follows."""


def own_values(package: Package) -> dict[CellKey, Fraction]:
    """The package's own labels; a missing cell is not covered."""
    return {(row.candidate, row.unit): row.value for row in package.coverage}


def changes(own: CellLabels, labels: CellLabels) -> dict[CellKey, Fraction]:
    """The labels that differ from the package's own, in order of cells."""
    return {at: labels[at] for at in sorted(labels) if labels[at] != own.get(at, NOT_COVERED)}


def relabelled(package: Package, changed: CellLabels, by: str) -> Package:
    """The package with some cells changed; the same object if there are none.

    No candidate keeps a part whose core it lost.
    """
    if not changed:
        return package
    # Changed cells get a provenance of their own: grounds tell an audit from the build.
    rows = [row for row in package.coverage if (row.candidate, row.unit) not in changed]
    rows += [
        coverage_row(candidate, unit, value, f"{PROVENANCE}{by}", "")
        for (candidate, unit), value in sorted(changed.items())
        if value
    ]
    if core_of := cores(package.units):
        candidates = {candidate for candidate, _ in changed}
        # The rule of units with parts: a part counts only where its core is kept in full. A label
        # set that takes the core away takes the parts away too.
        kept = {(row.candidate, row.unit) for row in rows if row.value == 1}
        rows = [
            row
            for row in rows
            if row.candidate not in candidates
            or row.unit not in core_of
            or {(row.candidate, row.unit), (row.candidate, core_of[row.unit])} <= kept
        ]
    return package.replace(coverage=tuple(rows))

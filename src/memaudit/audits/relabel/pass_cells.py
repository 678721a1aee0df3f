"""The cells that label passes inside a package judged, also those that none of them lists."""

from memaudit.audits.relabel.labels import Cell
from memaudit.core.package import Package
from memaudit.natural.label_passes import CONVERSATION, LISTED, LabelPasses

LABELLED = "labels:"
"""The generator of candidates whose coverage the passes decided begins so."""


def judged_cells(package: Package, found: LabelPasses) -> frozenset[Cell]:
    """All cells of the frame; only the listed ones where the package does not tell the others.

    The frame is known again where it has as many cells as were judged, and holds the listed ones.
    """
    listed = frozenset(at for one in found.passes for at in one.cells)
    if found.frame == LISTED:
        return listed
    session = {one.id: one.session for one in package.experiences}
    home = {unit.id: unit.sources[0].session if unit.sources else None for unit in package.units}
    cells = frozenset(
        (candidate.id, unit)
        for candidate in package.candidates
        if (candidate.generator or "").startswith(LABELLED)
        for unit, at in home.items()
        if found.frame == CONVERSATION or session[candidate.experience] == at
    )
    return cells if len(cells) == found.judged and listed <= cells else listed

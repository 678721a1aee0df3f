"""Label passes that packages keep: which cells they judged, and what they said, as label sets."""

from collections.abc import Sequence

from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.label_audit.cells import VALUES, Frame, Label, LabelSet, label_of_value
from memaudit.natural.coverage_rules import PASS
from memaudit.natural.label_passes import (
    FIELD,
    LISTED,
    SESSION,
    Cell,
    LabelPasses,
    home_session,
    label_passes,
)

BROUGHT = "labels:"
"""The generator of memories that people brought, and so of those that a pass judged."""


def judged_cells(package: Package) -> frozenset[Cell]:
    """The cells that a package's passes judged, covered or not; an error where it has no passes."""
    found = _passes(package)
    cells = frame_cells(package, found)
    if cells is None:
        raise MemAuditError(
            f"{package.name}: which {found.judged:,} cells its passes judged cannot be told from "
            f"its units and memories; its attribute {FIELD!r} does not fit the package"
        )
    return cells


def frame_cells(package: Package, found: LabelPasses) -> frozenset[Cell] | None:
    """All cells that passes judged, and every listed one; None where the package does not tell.

    It tells where as many cells as were judged are of brought memories. Judged session by session,
    a unit is looked at in one session only, though it may be said again elsewhere.
    """
    listed = listed_cells(found)
    if found.frame == LISTED:
        return listed
    session = {one.id: one.session for one in package.experiences}
    home = {unit.id: home_session(unit) for unit in package.units}
    cells = frozenset(
        (candidate.id, unit)
        for candidate in package.candidates
        if (candidate.generator or "").startswith(BROUGHT)
        for unit, at in home.items()
        if found.frame != SESSION or (at is not None and session[candidate.experience] == at)
    )
    return cells | listed if len(cells) == found.judged else None


def listed_cells(found: LabelPasses) -> frozenset[Cell]:
    """The cells that some pass lists."""
    return frozenset(at for one in found.passes for at in one.cells)


def pass_label_sets(frame: Frame, packages: Sequence[Package]) -> list[LabelSet]:
    """What each pass says of the cells of a frame that it judged; annotators are `pass:NAME`.

    A value between 0 and 1 is partial.
    """
    known = {package.name: _passes(package) for package in packages}
    judged = {package.name: judged_cells(package) for package in packages}
    labels: dict[str, dict[str, Label]] = {}
    notes: dict[str, dict[str, str]] = {}
    for cell in frame.cells:
        at = cell.candidate, cell.unit
        for one in known[cell.package].passes if at in judged[cell.package] else ():
            value, why = one.cells.get(at, (VALUES["none"], ""))
            labels.setdefault(one.name, {})[cell.id] = label_of_value(value)
            if why:
                notes.setdefault(one.name, {})[cell.id] = why
    return [LabelSet(f"{PASS}{name}", labels[name], notes.get(name, {})) for name in labels]


def _passes(package: Package) -> LabelPasses:
    found = label_passes(package)
    if found is None:
        raise MemAuditError(f"{package.name}: keeps no label passes")
    return found

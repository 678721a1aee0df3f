"""Label passes that packages keep: which cells they judged, and what they said, as label sets."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from memaudit.audits.frames.cell import VALUES, Frame, Label, LabelSet
from memaudit.audits.frames.population import pairs
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.natural.heuristics import PASS
from memaudit.natural.label_passes import FIELD, LISTED, SESSION, Cell, LabelPasses, label_passes

BROUGHT = "labels:"
"""The generator of memories that people brought, and so of those that a pass judged."""


def judged_cells(package: Package) -> frozenset[Cell]:
    """The cells that a package's passes judged, covered or not; an error where it has no passes."""
    found = _passes(package)
    if found.frame == LISTED:
        return frozenset(at for one in found.passes for at in one.cells)
    cells = frozenset(
        (pair.candidate.id, pair.unit.id)
        for pair in pairs(package)
        if (pair.candidate.generator or "").startswith(BROUGHT)
        and (found.frame != SESSION or pair.same_session)
    )
    if len(cells) != found.judged:
        raise MemAuditError(
            f"{package.name}: its passes judged {found.judged:,} cells, but {len(cells):,} are of "
            f"labelled memories; its attribute {FIELD!r} does not fit the package"
        )
    return cells


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
            labels.setdefault(one.name, {})[cell.id] = _label(value)
            if why:
                notes.setdefault(one.name, {})[cell.id] = why
    return [LabelSet(f"{PASS}{name}", labels[name], notes.get(name, {})) for name in labels]


def _label(value: Fraction) -> Label:
    found: Mapping[Fraction, Label] = {worth: label for label, worth in VALUES.items()}
    return found.get(value, "partial")


def _passes(package: Package) -> LabelPasses:
    found = label_passes(package)
    if found is None:
        raise MemAuditError(f"{package.name}: keeps no label passes")
    return found

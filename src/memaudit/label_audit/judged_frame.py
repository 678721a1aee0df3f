"""All cells that label passes kept in packages judged, as a frame, with what the passes say."""

from collections.abc import Sequence
from fractions import Fraction

from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.label_audit.cells import Frame, LabelSet
from memaudit.label_audit.frame_drawing import Design, draw
from memaudit.label_audit.package_passes import BROUGHT, pass_label_sets
from memaudit.natural.label_passes import label_passes


def judged_frame(
    packages: Sequence[Package], names: Sequence[str]
) -> tuple[Frame, dict[str, LabelSet]]:
    """Every judged cell once, and the passes of these names, `pass:NAME`."""
    if not packages:
        raise MemAuditError("there are no packages, so no label passes; name a package")
    packages = [_judged_part(one) for one in packages]
    frame = draw(packages, Design(zero_rate=Fraction(1), judged_only=True)).frame
    known = {one.annotator: one for one in pass_label_sets(frame, packages)}
    for name in names:
        if name not in known:
            raise MemAuditError(
                f"{packages[0].name}: has no {name!r}; its passes: {', '.join(known) or 'none'}"
            )
    return frame, {name: known[name] for name in names}


def _judged_part(package: Package) -> Package:
    """The package without candidates that no pass judged: there are many, and none is looked at."""
    found = label_passes(package)
    listed = {candidate for one in (found.passes if found else ()) for candidate, _ in one.cells}
    kept = [
        one
        for one in package.candidates
        if one.id in listed or (one.generator or "").startswith(BROUGHT)
    ]
    ids = {one.id for one in kept}
    rows = tuple(row for row in package.coverage if row.candidate in ids)
    return package.replace(candidates=tuple(kept), coverage=rows)

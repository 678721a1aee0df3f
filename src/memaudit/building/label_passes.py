"""Several label passes in one package: the first is its coverage, all are attributes.

They are in the package's attributes, which writers never see, under `label_passes`:
`{"frame": "session" or "conversation" or "listed", "judged": CELLS, "passes": [{"name", "sha256",
"cells": [[candidate, unit, value, why], ...]}, ...]}`. A cell of the frame that a pass does not
list was judged not covered.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from pydantic import JsonValue

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact, plain
from memaudit.kernel.package.labels import LABEL_PASSES, PASS, coverage_row
from memaudit.kernel.package.package import Coverage, EvidenceUnit, Package
from memaudit.kernel.stats.agreement_coefficients import kappa_of_pairs

SESSION, CONVERSATION, LISTED = "session", "conversation", "listed"
"""Frames: memories and units of one session, of a conversation, or those any pass lists."""

HOME_SESSION = "session"
"""The attribute of a unit whose labelled session is not the session of its first source."""

CellKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LabelPass:
    """One pass's cells above 0, each with its value and reason."""

    name: str
    sha256: str
    cells: Mapping[CellKey, tuple[Fraction, str]]


@dataclass(frozen=True, slots=True)
class LabelPasses:
    """The passes of a package, and how many cells each of them judged."""

    frame: str
    judged: int
    passes: tuple[LabelPass, ...]


def home_session(unit: EvidenceUnit) -> str | None:
    """The session where a unit is judged: as labelled, or that of its first source."""
    placed = unit.attributes.get(HOME_SESSION)
    if placed is not None:
        return str(placed)
    return unit.sources[0].session if unit.sources else None


def label_passes_json(frame: str, judged: int, passes: Sequence[LabelPass]) -> JsonValue:
    """The passes as the package's attribute."""
    return {
        "frame": frame,
        "judged": judged,
        "passes": [
            {
                "name": labelled.name,
                "sha256": labelled.sha256,
                "cells": [
                    [candidate, unit, plain(value), why]
                    # Sorted, because the attribute is part of the package's digest.
                    for (candidate, unit), (value, why) in sorted(labelled.cells.items())
                ],
            }
            for labelled in passes
        ],
    }


def label_passes(package: Package) -> LabelPasses | None:
    """The passes of a package; None if it has none."""
    data = package.attributes.get(LABEL_PASSES)
    if data is None:
        return None
    try:
        return _unpacked(data)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise MemAuditError(
            f"{package.name}: the attribute {LABEL_PASSES!r} is not in the form that memaudit "
            "build writes"
        ) from None


def _unpacked(data: JsonValue) -> LabelPasses:
    if not isinstance(data, dict) or not isinstance(data["passes"], list):
        raise TypeError("no object with a list of passes")
    passes = []
    for entry in data["passes"]:
        if not isinstance(entry, dict) or not isinstance(entry["cells"], list):
            raise TypeError("no object with a list of cells")
        cells: dict[CellKey, tuple[Fraction, str]] = {}
        for row in entry["cells"]:
            if not isinstance(row, list):
                raise TypeError("no list")
            candidate, unit, value, why = row
            cells[str(candidate), str(unit)] = exact(value), str(why)
        passes.append(LabelPass(str(entry["name"]), str(entry["sha256"]), cells))
    return LabelPasses(str(data["frame"]), int(str(data["judged"])), tuple(passes))


def with_pass(package: Package, name: str) -> Package:
    """The package with the coverage of another pass; rows that no pass labelled stay."""
    labels = label_passes(package)
    known = {labelled.name: labelled for labelled in labels.passes} if labels else {}
    if name not in known:
        passes = ", ".join(known) or "none"
        raise MemAuditError(f"{package.name}: has no label pass {name!r}; its passes: {passes}")
    rows: list[Coverage] = [
        row for row in package.coverage if not (row.provenance or "").startswith(PASS)
    ]
    labelled = known[name].cells
    rows = [row for row in rows if (row.candidate, row.unit) not in labelled]
    rows += [
        coverage_row(candidate, unit, value, f"{PASS}{name}", why)
        for (candidate, unit), (value, why) in sorted(labelled.items())
    ]
    return package.replace(coverage=tuple(rows))


LABELLED_GENERATOR = "labels:"
"""The generator of memories that were supplied with labels begins so; passes judged these."""


def cells_judged_by(package: Package, passes: LabelPasses) -> frozenset[CellKey] | None:
    """All cells that passes judged, and every listed one; None if the package does not tell.

    It tells if the supplied memories have exactly as many cells as were judged. When judged session
    by session, a unit is looked at in one session only, though it may be mentioned elsewhere.
    """
    listed = listed_cells(passes)
    if passes.frame == LISTED:
        return listed
    sessions = {turn.id: turn.session for turn in package.experiences}
    homes = {unit.id: home_session(unit) for unit in package.units}
    cells = frozenset(
        (candidate.id, unit)
        for candidate in package.candidates
        if (candidate.generator or "").startswith(LABELLED_GENERATOR)
        for unit, home in homes.items()
        if passes.frame != SESSION or (home is not None and sessions[candidate.experience] == home)
    )
    # The numbers differ where memories were dropped or merged after labelling. Then cells that
    # nobody judged cannot be told from judged zeros.
    return cells | listed if len(cells) == passes.judged else None


def listed_cells(passes: LabelPasses) -> frozenset[CellKey]:
    """The cells that some pass lists."""
    return frozenset(at for label_pass in passes.passes for at in label_pass.cells)


ValuePair = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class LabelSetAgreement:
    """Raw agreement and Cohen's kappa, exact. Kappa is None if chance alone explains all."""

    first: str
    second: str
    cells: int
    agreed: int
    kappa: Fraction | None

    @property
    def raw(self) -> Fraction | None:
        """The share of cells with the same value."""
        return Fraction(self.agreed, self.cells) if self.cells else None


def pass_agreements(labelled: Iterable[LabelPasses]) -> list[LabelSetAgreement]:
    """The agreement of every two passes, their cells pooled over packages."""
    pooled: dict[tuple[str, str], Counter[ValuePair]] = {}
    for labels in labelled:
        for first, second in combinations(labels.passes, 2):
            pairs = pooled.setdefault((first.name, second.name), Counter())
            listed = first.cells.keys() | second.cells.keys()
            for at in listed:
                values = [side.cells[at][0] if at in side.cells else 0 for side in (first, second)]
                pairs[Fraction(values[0]), Fraction(values[1])] += 1
            # Cells that neither lists were judged by both as not covered.
            pairs[Fraction(0), Fraction(0)] += labels.judged - len(listed)
    return [
        LabelSetAgreement(
            first,
            second,
            pairs.total(),
            sum(n for (a, b), n in pairs.items() if a == b),
            kappa_of_pairs(pairs),
        )
        for (first, second), pairs in pooled.items()
    ]

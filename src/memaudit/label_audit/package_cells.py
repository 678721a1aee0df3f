"""All cells of packages: every candidate with every unit, and what is known of the pair."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from memaudit.core.errors import MemAuditError
from memaudit.core.package import Candidate, EvidenceUnit, Package
from memaudit.label_audit.frame import VALUES, Frame, Label, LabelSet, label_of_value
from memaudit.natural.coverage_rules import NONE, PASS, is_exact
from memaudit.natural.label_passes import (
    FIELD,
    LISTED,
    SESSION,
    CellKey,
    LabelPasses,
    home_session,
    label_passes,
)

Stratum = tuple[str, str, bool | None]
"""Candidate kind, unit kind, and whether both are of one session."""


class PackageCell(NamedTuple):
    """One cell of a package, not yet in any frame; a tuple, as there are very many."""

    package: str
    candidate: Candidate
    unit: EvidenceUnit
    same_session: bool | None
    value: Fraction
    provenance: str

    @property
    def stratum(self) -> Stratum:
        """Where the cell is counted."""
        return self.candidate.kind, self.unit.kind, self.same_session


def cells_of(package: Package, kinds: Collection[str] | None = None) -> Iterator[PackageCell]:
    """Every cell of a package, covered or not; of these candidate kinds only, where given."""
    sessions = {one.id: one.session for one in package.experiences}
    homes = [_homes(unit, sessions) for unit in package.units]
    rows = {(row.candidate, row.unit): row for row in package.coverage}
    for candidate in package.candidates:
        if kinds is not None and candidate.kind not in kinds:
            continue
        session = sessions[candidate.experience]
        for unit, home in zip(package.units, homes, strict=True):
            row = rows.get((candidate.id, unit.id))
            value, said = (NONE, None) if row is None else (row.value, row.provenance)
            yield PackageCell(
                package.name, candidate, unit, _same(session, home), value, said or ""
            )


class Strata:
    """Where the cells of a package are counted, by ids."""

    def __init__(self, package: Package) -> None:
        sessions = {one.id: one.session for one in package.experiences}
        self._candidates = {one.id: (one.kind, sessions[one.experience])
                            for one in package.candidates}  # fmt: skip
        self._units = {unit.id: (unit.kind, _homes(unit, sessions)) for unit in package.units}

    def of(self, candidate: str, unit: str) -> Stratum:
        """The stratum of a cell."""
        (kind, session), (unit_kind, homes) = self._candidates[candidate], self._units[unit]
        return kind, unit_kind, _same(session, homes)


def verbatim_kinds(packages: Iterable[Package]) -> frozenset[str]:
    """Candidate kinds with a covered cell that follows from the texts alone: raw and its like.

    What such a kind does not cover follows from the same rule: it does not hold the unit's turn.
    """
    return frozenset(
        package.candidate[row.candidate].kind
        for package in packages
        for row in package.coverage
        if row.value and is_exact(row.provenance)
    )


def _homes(unit: EvidenceUnit, sessions: Mapping[str, str | None]) -> frozenset[str | None]:
    """The sessions of a unit's sources; a source that names none may name an experience.

    A unit without sources may still be placed in a session.
    """
    if not unit.sources and (placed := home_session(unit)) is not None:
        return frozenset({placed})
    return frozenset(one.session or sessions.get(one.id) for one in unit.sources)


def _same(session: str | None, homes: Collection[str | None]) -> bool | None:
    """Whether a candidate's session is one of a unit's; None where that is not known."""
    if session is None or not homes:
        return None
    if session in homes:
        return True
    return None if None in homes else False


def quote_of(unit: EvidenceUnit) -> str:
    """The quoted source texts, each once."""
    return "\n".join(dict.fromkeys(one.text for one in unit.sources if one.text))


LABELLED_GENERATOR = "labels:"
"""The generator of memories that people brought, and so of those that a pass judged."""


def judged_cells(package: Package) -> frozenset[CellKey]:
    """The cells that a package's passes judged, covered or not; an error where it has no passes."""
    found = _passes(package)
    cells = cells_judged_by(package, found)
    if cells is None:
        raise MemAuditError(
            f"{package.name}: which {found.judged:,} cells its passes judged cannot be told from "
            f"its units and memories; its attribute {FIELD!r} does not fit the package"
        )
    return cells


def cells_judged_by(package: Package, found: LabelPasses) -> frozenset[CellKey] | None:
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
        if (candidate.generator or "").startswith(LABELLED_GENERATOR)
        for unit, at in home.items()
        if found.frame != SESSION or (at is not None and session[candidate.experience] == at)
    )
    return cells | listed if len(cells) == found.judged else None


def listed_cells(found: LabelPasses) -> frozenset[CellKey]:
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

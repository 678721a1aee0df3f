"""The cells of packages: every candidate with every unit, their strata, and those judged by passes.

A package keeps the label passes that people or models made for it. They judged some of its cells.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from memaudit.building.label_passes import (
    CellKey,
    LabelPasses,
    cells_judged_by,
    home_session,
    label_passes,
)
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import LABEL_PASSES, NONE, PASS, VALUES, Label, label_of_value
from memaudit.kernel.package.package import Candidate, EvidenceUnit, Package
from memaudit.kernel.package.unit_parts import WholeUnit, part_id, whole_units
from memaudit.lab.labels.frame import Frame, LabelSet

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
        """The stratum in which the cell is counted."""
        return self.candidate.kind, self.unit.kind, self.same_session


def cells_of(package: Package, kinds: Collection[str] | None = None) -> Iterator[PackageCell]:
    """Every cell of a package, covered or not; only of these candidate kinds, if given."""
    sessions = _sessions(package)
    homes = [_homes(unit, sessions) for unit in package.units]
    rows = {(row.candidate, row.unit): row for row in package.coverage}
    for candidate in package.candidates:
        if kinds is not None and candidate.kind not in kinds:
            continue
        session = sessions[candidate.experience]
        for unit, home in zip(package.units, homes, strict=True):
            row = rows.get((candidate.id, unit.id))
            value, provenance = (NONE, None) if row is None else (row.value, row.provenance)
            same = _same_session(session, home)
            yield PackageCell(package.name, candidate, unit, same, value, provenance or "")


class StatementCell(NamedTuple):
    """A candidate with a whole unit: a plain one, or a statement with its parts.

    `value` is the share that is kept, `kept` names the parts that are. A statement's grounds are
    those of its core.
    """

    package: str
    candidate: Candidate
    whole: WholeUnit
    same_session: bool | None
    value: Fraction
    provenance: str
    kept: frozenset[str]

    @property
    def stratum(self) -> Stratum:
        """The stratum in which the cell is counted."""
        return self.candidate.kind, self.whole.core.kind, self.same_session

    @property
    def at(self) -> CellKey:
        """The cell that decides for all of it."""
        return self.candidate.id, self.whole.core.id


def statement_cells(
    package: Package, kinds: Collection[str] | None = None
) -> Iterator[StatementCell]:
    """Every cell of a package by whole units, as people label them."""
    wholes = {unit.id: whole for whole in whole_units(package.units) for unit in whole.units}
    of_whole: dict[str, list[PackageCell]] = {}
    for cell in cells_of(package, kinds):
        whole = wholes[cell.unit.id]
        if not whole.has_parts:
            yield StatementCell(
                cell.package,
                cell.candidate,
                whole,
                cell.same_session,
                cell.value,
                cell.provenance,
                frozenset(),
            )
            continue
        own = of_whole.setdefault(whole.id, [])
        own.append(cell)
        # The parts of a statement need not follow each other among the units.
        if len(own) == len(whole.units):
            kept = [part for part in own if part.value]
            core = next(part for part in own if part.unit.core)
            yield StatementCell(
                cell.package,
                cell.candidate,
                whole,
                cell.same_session,
                sum((part.value * part.unit.share for part in kept), NONE),
                core.provenance,
                frozenset(part.unit.part or "" for part in kept),
            )
            del of_whole[whole.id]


def _sessions(package: Package) -> dict[str, str | None]:
    return {experience.id: experience.session for experience in package.experiences}


def _homes(unit: EvidenceUnit, sessions: Mapping[str, str | None]) -> frozenset[str | None]:
    """The sessions of a unit's sources; a source that names none may name an experience.

    A unit without sources may still be placed in a session.
    """
    # Units about several sessions, such as summaries of a change, have no source but may say where
    # they belong.
    if not unit.sources and (placed := home_session(unit)) is not None:
        return frozenset({placed})
    return frozenset(source.session or sessions.get(source.id) for source in unit.sources)


def _same_session(session: str | None, homes: Collection[str | None]) -> bool | None:
    """Whether a candidate's session is one of a unit's; None if that is unknown."""
    if session is None or not homes:
        return None
    if session in homes:
        return True
    # A source without a session could be of this one.
    return None if None in homes else False


def judged_cells(package: Package) -> frozenset[CellKey]:
    """The cells that a package's passes judged, covered or not; an error if it has no passes."""
    passes = _passes(package)
    cells = cells_judged_by(package, passes)
    if cells is None:
        raise MemAuditError(
            f"{package.name}: which {passes.judged:,} cells its passes judged is not clear from "
            f"its units and memories; its attribute {LABEL_PASSES!r} does not fit the package"
        )
    return cells


def pass_label_sets(frame: Frame, packages: Sequence[Package]) -> list[LabelSet]:
    """Each pass's labels of the frame cells that it judged; annotators are `pass:NAME`.

    A value between 0 and 1 is partial.
    """
    passes = {package.name: _passes(package).passes for package in packages}
    judged = {package.name: judged_cells(package) for package in packages}
    labels: dict[str, dict[str, Label]] = {}
    notes: dict[str, dict[str, str]] = {}
    kept: dict[str, dict[str, frozenset[str]]] = {}
    for cell in frame.cells:
        units = {part_id(cell.unit, name): name for name in cell.part_names} or {cell.unit: ""}
        at = cell.candidate, next(iter(units))
        for label_pass in passes[cell.package] if at in judged[cell.package] else ():
            value, why = label_pass.cells.get(at, (VALUES["none"], ""))
            label = label_of_value(value)
            if cell.parts:
                own = frozenset(
                    name
                    for unit, name in units.items()
                    if (cell.candidate, unit) in label_pass.cells
                )
                label = cell.label_of(own)
                kept.setdefault(label_pass.name, {})[cell.id] = own
            labels.setdefault(label_pass.name, {})[cell.id] = label
            if why:
                notes.setdefault(label_pass.name, {})[cell.id] = why
    return [
        LabelSet(f"{PASS}{name}", labels[name], notes.get(name, {}), kept.get(name, {}))
        for name in labels
    ]


def _passes(package: Package) -> LabelPasses:
    passes = label_passes(package)
    if passes is None:
        raise MemAuditError(f"{package.name}: has no label passes")
    return passes

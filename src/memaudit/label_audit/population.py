"""All cells of packages: every candidate with every unit, and what is known of the pair."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from memaudit.core.package import Candidate, EvidenceUnit, Package
from memaudit.natural.coverage_rules import NONE, is_exact
from memaudit.natural.label_passes import home_session

Stratum = tuple[str, str, bool | None]
"""Candidate kind, unit kind, and whether both are of one session."""


class Pair(NamedTuple):
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


def pairs(package: Package, kinds: Collection[str] | None = None) -> Iterator[Pair]:
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
            yield Pair(package.name, candidate, unit, _same(session, home), value, said or "")


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


def word_for_word_kinds(packages: Iterable[Package]) -> frozenset[str]:
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

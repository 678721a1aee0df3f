"""What a timeline shows: candidates in time order, units by what they say of time."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memaudit.core.errors import MemAuditError
from memaudit.core.objective import covered
from memaudit.core.optimum import Optimum
from memaudit.core.package import (
    ABSTENTION,
    CURRENT,
    DELETION,
    STALE,
    SUPERSESSION,
    TEMPORAL,
    Candidate,
    EvidenceUnit,
    Experience,
    Package,
)
from memaudit.solvers.solve import solve

MOST_ROWS, MOST_UNITS = 42, 26
"""A figure holds this many candidates and units; the rest is counted."""

STATES = (STALE, CURRENT, SUPERSESSION, DELETION, TEMPORAL, ABSTENTION)
OTHER = "other"


@dataclass(frozen=True, slots=True)
class Step:
    """One experience and the candidates that can be kept of it."""

    experience: Experience
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class TimelineTable:
    """The drawn part of a package at one budget, and how much of it is not drawn."""

    package: Package
    optimum: Optimum
    steps: tuple[Step, ...]
    units: tuple[EvidenceUnit, ...]
    cells: dict[tuple[str, str], Fraction]
    covered: dict[str, Fraction]
    undrawn_experiences: int
    undrawn_units: int

    @property
    def rows(self) -> int:
        """How many candidates are drawn."""
        return sum(max(1, len(step.candidates)) for step in self.steps)


def state_of(unit: EvidenceUnit) -> str:
    """What a unit says of time, or that it says nothing of it."""
    return unit.kind if unit.kind in STATES else OTHER


def timeline_table(package: Package, budget: Any) -> TimelineTable:
    """Experiences in stream order with their candidates, and what OPT keeps at the budget."""
    if not package.candidates:
        raise MemAuditError(f"package {package.name!r} has no candidates to draw")
    optimum = solve(package, budget)
    of: dict[str, list[Candidate]] = {one.id: [] for one in package.experiences}
    for candidate in package.candidates:
        of[candidate.experience].append(candidate)
    steps: list[Step] = []
    rows = 0
    for experience in sorted(package.experiences, key=lambda one: one.index):
        rows += max(1, len(of[experience.id]))
        if rows > MOST_ROWS:
            break
        steps.append(Step(experience, tuple(of[experience.id])))
    if not steps:
        raise MemAuditError(
            f"the first experience of package {package.name!r} has more than {MOST_ROWS} "
            "candidates; a timeline cannot show them"
        )
    order = {state: place for place, state in enumerate((*STATES, OTHER))}
    units = sorted(package.units, key=lambda unit: order[state_of(unit)])
    return TimelineTable(
        package=package,
        optimum=optimum,
        steps=tuple(steps),
        units=tuple(units[:MOST_UNITS]),
        cells={(cell.candidate, cell.unit): cell.value for cell in package.coverage},
        covered=covered(package, optimum.store),
        undrawn_experiences=len(package.experiences) - len(steps),
        undrawn_units=max(0, len(units) - MOST_UNITS),
    )

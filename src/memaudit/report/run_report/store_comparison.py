"""One writer's store beside OPT's: what both kept, what was missed, which units that cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.errors import MemAuditError
from memaudit.core.objective import covered
from memaudit.core.package import Candidate, EvidenceUnit, Package
from memaudit.report.run_report.remade_packages import CLOSE, Remade
from memaudit.report.run_report.run_data import Row
from memaudit.report.writer_groups import Member

MOST_LISTED = 25
"""Longer lists are cut, and say so."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Some candidates, the first of them shown."""

    shown: tuple[Candidate, ...]
    count: int

    @property
    def hidden(self) -> int:
        return self.count - len(self.shown)


@dataclass(frozen=True, slots=True)
class UnitChange:
    """A unit that is worth more in one store than in the other; `change` is writer minus OPT."""

    unit: EvidenceUnit
    weight: Fraction
    by_opt: Fraction
    by_writer: Fraction
    change: Fraction


@dataclass(frozen=True, slots=True)
class Keeping:
    """A writer's store compared with OPT's; nothing is compared where the writer failed."""

    member: Member
    failed: str
    value: Fraction
    cost: Fraction
    ratio: float | None
    both: Listed
    missed: Listed
    instead: Listed
    lost: tuple[UnitChange, ...]
    gained: tuple[UnitChange, ...]

    @property
    def total_lost(self) -> Fraction:
        return -sum((one.change for one in self.lost), Fraction(0))

    @property
    def total_gained(self) -> Fraction:
        return sum((one.change for one in self.gained), Fraction(0))


def compare(one: Remade, row: Row, member: Member, best: Sequence[str]) -> Keeping:
    """A row's store against OPT's, scored again now."""
    nothing = Listed((), 0)
    if row.get("failed"):
        return Keeping(
            member, row["failed"], Fraction(0), Fraction(0), None, nothing, nothing, nothing, (), ()
        )
    package, store = one.package, row["store"]
    score = one.subject.scorer.score(store)
    if abs(float(score.value) - row["value"]) > CLOSE:
        raise MemAuditError(
            f"{package.name!r}, writer {member.name!r}: the row says its store is worth "
            f"{row['value']}, scoring it gives {float(score.value)}; run the sweep again"
        )
    changes = unit_changes(package, best, store)
    return Keeping(
        member=member,
        failed="",
        value=score.value,
        cost=score.cost,
        ratio=row["ratio"],
        both=_listed(package, [id for id in best if id in store]),
        missed=_listed(package, [id for id in best if id not in store]),
        instead=_listed(package, [id for id in store if id not in best]),
        lost=tuple(change for change in changes if change.change < 0),
        gained=tuple(change for change in changes if change.change > 0),
    )


def unit_changes(package: Package, best: Sequence[str], store: Sequence[str]) -> list[UnitChange]:
    """The units on which two stores differ in value, the largest difference first."""
    by_opt, by_writer = covered(package, best), covered(package, store)
    changes = []
    for unit in package.units:
        weight = package.weights[unit.id]
        before = unit.response.at(by_opt[unit.id]).low * weight
        after = unit.response.at(by_writer[unit.id]).low * weight
        if before != after:
            changes.append(
                UnitChange(unit, weight, by_opt[unit.id], by_writer[unit.id], after - before)
            )
    return sorted(changes, key=lambda change: (-abs(change.change), change.unit.id))


def _listed(package: Package, ids: Sequence[str]) -> Listed:
    return Listed(tuple(package.candidate[id] for id in ids[:MOST_LISTED]), len(ids))

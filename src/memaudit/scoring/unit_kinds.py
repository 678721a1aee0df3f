"""Values and losses by kind of unit: current truth, supersession, deletion, abstention, ..."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memaudit.core.package import (
    ABSTENTION,
    CURRENT,
    DELETION,
    SUPERSESSION,
    TEMPORAL,
    EvidenceUnit,
    Package,
)
from memaudit.scoring.diagnosis import STEPS, Diagnosis

FIRST = (CURRENT, SUPERSESSION, DELETION, ABSTENTION, TEMPORAL)
"""Validity states come first, other kinds follow by name."""

ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class KindRow:
    """Units of one kind. `written` is the value of the whole store; `kept` and `losses` are of the
    diagnosis, over all kinds they add up to OPT of the common union; None where there is none."""

    kind: str
    units: int
    weight: Fraction
    written: Fraction
    kept: Fraction | None
    losses: Mapping[str, Fraction] | None

    @property
    def share(self) -> Fraction | None:
        """What is written of the weight; None where these units have none."""
        return self.written / self.weight if self.weight else None


def kind_rows(
    package: Package, written: Mapping[str, Fraction], diagnosis: Diagnosis | None
) -> list[KindRow]:
    """One row a kind of the package's units. `written` is by kind."""
    by_kind: dict[str, list[EvidenceUnit]] = {}
    for unit in package.units:
        by_kind.setdefault(unit.kind, []).append(unit)
    kind = {unit.id: unit.kind for unit in package.units}
    kept: Counter[str] = Counter()
    losses: dict[str, Counter[str]] = {step: Counter() for step in STEPS}
    if diagnosis is not None:
        kept.update(_summed(diagnosis.kept_units.items(), kind))
        for step in diagnosis.steps:
            losses[step.name].update(_summed(step.units, kind))
    return [
        KindRow(
            kind=name,
            units=len(by_kind[name]),
            weight=sum((package.weights[unit.id] for unit in by_kind[name]), ZERO),
            written=written.get(name, ZERO),
            kept=None if diagnosis is None else Fraction(kept[name]),
            losses=None
            if diagnosis is None
            else {step: Fraction(losses[step][name]) for step in STEPS},
        )
        for name in sorted(by_kind, key=_place)
    ]


def pooled(rows: Iterable[KindRow]) -> list[KindRow]:
    """Rows of several packages added up by kind; losses of those that have a diagnosis."""
    by_kind: dict[str, list[KindRow]] = {}
    for row in rows:
        by_kind.setdefault(row.kind, []).append(row)
    return [_sum(kind, by_kind[kind]) for kind in sorted(by_kind, key=_place)]


def kind_data(row: KindRow) -> dict[str, Any]:
    """As plain data, beside its kind."""
    return {
        "units": row.units,
        "weight": _number(row.weight),
        "value": _number(row.written),
        "share": None if row.share is None else _number(row.share),
        "kept": None if row.kept is None else _number(row.kept),
        "losses": row.losses and {step: _number(value) for step, value in row.losses.items()},
    }


def _sum(kind: str, rows: Sequence[KindRow]) -> KindRow:
    told = [row.losses for row in rows if row.losses is not None]
    return KindRow(
        kind=kind,
        units=sum(row.units for row in rows),
        weight=sum((row.weight for row in rows), ZERO),
        written=sum((row.written for row in rows), ZERO),
        kept=sum((row.kept for row in rows if row.kept is not None), ZERO) if told else None,
        losses={step: sum((one[step] for one in told), ZERO) for step in STEPS} if told else None,
    )


def _summed(parts: Iterable[tuple[str, Fraction]], kind: Mapping[str, str]) -> dict[str, Fraction]:
    found: dict[str, Fraction] = {}
    for unit, part in parts:
        found[kind[unit]] = found.get(kind[unit], ZERO) + part
    return found


def _place(kind: str) -> tuple[int, str]:
    return (FIRST.index(kind) if kind in FIRST else len(FIRST), kind)


def _number(number: Fraction) -> float:
    return round(float(number), 9)

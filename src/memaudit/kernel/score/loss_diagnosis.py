"""Where a store's value went: from OPT of the common union down to what it keeps, adding up to 1.

    generation  OPT(common union) - OPT(package + store): only others' memories express it
    extraction  OPT(package + store) - M: never written
    cost        M - OPT(store alone): written, but too long to fit
    selection   OPT(store alone) - F(kept): a better choice of its own memories was there
    kept        F(what it keeps)

M is OPT(package + store) where every unit counts at most as much as the whole store covers it: the
best that any wording within the budget could keep of what was written. All four optima are
certified, so the losses do not depend on which of several optimal stores a solver returns. Each is
at least 0. A store keeps all of it where that fits, else what a policy keeps.

The units of a loss are the differences between the two stores it lies between. What one unit lost
may have been given up for another, which then gained; lost minus gained is the loss.

Where some h is irrational, values are those that solvers maximise, rounded up to a grid. Their
steps are exact too and sum to 1, and each share comes with the two numbers the true one lies
between.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import Enclosure, plain
from memaudit.kernel.losses import KEPT, LOSS_STEPS, STAGES
from memaudit.kernel.notebook import Frame, html_table, to_frame
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.package.package import (
    ABSTENTION,
    CURRENT,
    DELETION,
    SUPERSESSION,
    TEMPORAL,
    EvidenceUnit,
    Package,
)
from memaudit.kernel.package.unit_parts import WholeUnit, whole_units
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.score.pruning import EVERYTHING_FITS, Policy, keep_within
from memaudit.kernel.score.score import (
    NOT_CERTIFIED,
    NOT_JUDGED,
    OPTIMUM_IS_ZERO,
    StoreScorer,
    bound_text,
)
from memaudit.kernel.words.text import counted

LITTLE = Fraction(1, 10)
"""Below this total loss the advice is to look downstream."""

UnitValues = Mapping[str, Enclosure]
"""What a store is worth, unit by unit."""

ZERO = Fraction(0)
NOTHING = Enclosure(ZERO, ZERO)


@dataclass(frozen=True, slots=True)
class Loss:
    """One loss: its share of OPT of the common union, and the units behind it, largest first.

    Parts of units add up to the loss; a unit with a negative part gained. `between` encloses the
    true share; a point unless some h is irrational.
    """

    name: str
    value: Fraction
    share: Fraction
    units: tuple[tuple[str, Fraction], ...]
    queries: tuple[str, ...]
    between: Enclosure


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis:
    """The losses of a store at a budget. `kept_share` and the shares of the steps sum to 1."""

    store: str
    budget: Fraction
    optimum: Fraction
    kept: tuple[str, ...]
    policy: str
    kept_share: Fraction
    kept_between: Enclosure
    kept_units: Mapping[str, Fraction]
    steps: tuple[Loss, ...]
    stages: Mapping[str, Fraction]
    """The values that the losses lie between, from OPT of the common union down."""
    advice: str

    def __repr__(self) -> str:
        lost = ", ".join(f"{step.name} {float(step.share):.1%}" for step in self.steps)
        return f"Diagnosis({self.store!r}: kept {float(self.kept_share):.1%}, lost {lost})"

    @property
    def is_exact(self) -> bool:
        """Whether shares are known exactly, and not to a precision."""
        return self.kept_between.is_point and all(step.between.is_point for step in self.steps)

    @property
    def precision(self) -> Fraction:
        """The width of the widest share; 0 where shares are exact."""
        shares = (self.kept_between, *(step.between for step in self.steps))
        return max(share.high - share.low for share in shares)


class NoDiagnosis(MemAuditError):
    """Why a store has no losses: the optimum of `basis` is 0 or not certified."""

    def __init__(
        self, store: str, budget: Fraction, undefined: str, basis: str, optimum: Optimum
    ) -> None:
        self.undefined, self.basis, self.optimum = undefined, basis, optimum
        why = f"the optimum of the {basis} {bound_text(optimum)}"
        if undefined == OPTIMUM_IS_ZERO:
            why = "the optimum is 0"
        elif undefined == NOT_JUDGED:
            why = "some cells of the store are not judged"
        super().__init__(f"no diagnosis of {store!r} at budget {plain(budget)}: {why}")


def diagnose_losses(
    scorer: StoreScorer, store: JudgedStore, budget: Fraction, policy: Policy | None = None
) -> Diagnosis:
    """The losses of a store; NoDiagnosis where an optimum is 0 or not certified.

    `scorer` knows the package and every store that was scored along, of which `store` is one.
    `policy` cuts the store to the `budget`, as in its score; None for the first it allows.
    """
    # What can refuse a diagnosis comes first: the union as written takes a solve of its own.
    common = scorer.common_optimum(budget)
    union, upper = scorer.union_optimum(store, budget), scorer.alone_optimum(store, budget)
    for basis, optimum in (("common union", common), ("union", union), ("store alone", upper)):
        if not optimum.certified:
            raise NoDiagnosis(store.name, budget, NOT_CERTIFIED, basis, optimum)
    if not common.value:
        raise NoDiagnosis(store.name, budget, OPTIMUM_IS_ZERO, "common union", common)
    if any(cell.upper for memory in store.memories for cell in memory.coverage.values()):
        raise NoDiagnosis(store.name, budget, NOT_JUDGED, "store alone", upper)
    written = scorer.as_written_optimum(store, budget)
    if not written.certified:
        raise NoDiagnosis(store.name, budget, NOT_CERTIFIED, "union as written", written)
    kept = keep_within(store, budget, policy)
    stages: list[UnitValues] = [*scorer.stages(store, budget), scorer.unit_values(store, kept.ids)]
    # Several stores may be optimal, and which of them a solver returns is chance. Where two lines
    # of the chain are worth the same, the lower one's store is optimal for both.
    for place in reversed(range(len(stages) - 1)):
        if _total(stages[place]).high == _total(stages[place + 1]).high:
            stages[place] = stages[place + 1]  # optimal there too, and nothing changes hands
    opt, kept_value = _total(stages[0]), _total(stages[-1])
    steps = tuple(
        _step(scorer.package, name, above, below, opt)
        for name, (above, below) in zip(LOSS_STEPS, pairwise(stages), strict=True)
    )
    worst = max(steps, key=lambda step: step.share)
    little = sum(step.share for step in steps) < LITTLE
    return Diagnosis(
        store=store.name,
        budget=budget,
        optimum=opt.high,
        kept=kept.ids,
        policy=kept.policy or EVERYTHING_FITS,
        kept_share=kept_value.high / opt.high,
        kept_between=_share(kept_value.low, kept_value.high, opt),
        kept_units={unit: value.high for unit, value in stages[-1].items() if value.high},
        steps=steps,
        stages={name: _total(units).high for name, units in zip(STAGES, stages, strict=True)},
        advice=(KEPT if little else LOSS_STEPS[worst.name]).advice,
    )


def _step(
    package: Package, name: str, above: UnitValues, below: UnitValues, opt: Enclosure
) -> Loss:
    parts = {
        unit: above.get(unit, NOTHING).high - below.get(unit, NOTHING).high
        for unit in {*above, *below}
    }
    # Ties by id: the order of units in a file must not depend on that of a set.
    lost = sorted(
        ((unit, part) for unit, part in parts.items() if part), key=lambda item: (-item[1], item[0])
    )
    value = sum(parts.values(), ZERO)
    gone = {unit for unit, part in lost if part > 0}
    asking = [query for query in package.queries if gone & set(query.required)]
    asking.sort(key=lambda query: (-query.importance, query.id))
    # The widest difference of the two enclosures: the true loss lies somewhere between its ends.
    upper, lower = _total(above), _total(below)
    between = _share(upper.low - lower.high, upper.high - lower.low, opt)
    queries = tuple(query.id for query in asking)
    return Loss(name, value, value / opt.high, tuple(lost), queries, between)


def _total(values: UnitValues) -> Enclosure:
    return sum(values.values(), NOTHING)


def _share(low: Fraction, high: Fraction, opt: Enclosure) -> Enclosure:
    """A part of OPT: at least 0, and at most 1."""
    return Enclosure(max(ZERO, low / opt.high), min(Fraction(1), high / opt.low))


@dataclass(frozen=True, slots=True)
class LostUnit:
    """What a unit lost at one step, or gained there, which is negative."""

    unit: str
    kind: str
    text: str
    weight: Fraction
    lost: Fraction
    step: str
    asked_by: tuple[tuple[str, str], ...]
    """The queries that need it, by id and text."""
    whole: WholeUnit | None = field(default=None, repr=False, compare=False)
    """The statement that it is a part of, if it is one."""


class LostUnits(tuple[LostUnit, ...]):
    """The units behind the losses of a store, step by step, the largest first.

    The rows of a step add up to its loss: what was lost, less what was gained for it.
    """

    def __repr__(self) -> str:
        lost = sum(row.lost > 0 for row in self)
        return f"{counted(lost, 'loss', 'losses')} and {counted(len(self) - lost, 'gain')} of units"

    def to_frame(self) -> Any:
        """A pandas data frame: unit, kind, text, weight, lost, step, asked_by."""
        return to_frame(self._frame())

    def _frame(self) -> Frame:
        names = ("unit", "kind", "text", "weight", "lost", "step", "asked_by")
        return names, [
            (
                row.unit,
                row.kind,
                row.text,
                float(row.weight),
                float(row.lost),
                row.step,
                ", ".join(id for id, _ in row.asked_by),
            )
            for row in self
        ]

    def _repr_html_(self) -> str:
        return html_table(*self._frame())


def lost_units(package: Package, diagnosis: Diagnosis | NoDiagnosis) -> LostUnits:
    """The units behind each loss, in the order of the steps; none without a diagnosis."""
    if isinstance(diagnosis, NoDiagnosis):
        return LostUnits()
    units = {unit.id: unit for unit in package.units}
    wholes = {
        unit.id: whole
        for whole in whole_units(package.units)
        if whole.has_parts
        for unit in whole.units
    }
    asking: dict[str, list[tuple[str, str]]] = {}
    for query in package.queries:
        for id in dict.fromkeys(query.required):
            asking.setdefault(id, []).append((query.id, query.text))
    return LostUnits(
        LostUnit(
            id,
            units[id].kind,
            units[id].text,
            package.weights[id],
            part,
            step.name,
            tuple(asking.get(id, ())),
            wholes.get(id),
        )
        for step in diagnosis.steps
        for id, part in step.units
    )


FIRST_KINDS = (CURRENT, SUPERSESSION, DELETION, ABSTENTION, TEMPORAL)
"""Validity states come first, other kinds follow by name."""


@dataclass(frozen=True, slots=True)
class KindRow:
    """Values and losses of the units of one kind.

    `written` is the value of the whole store. `kept`, `lost` and `gained` are of the diagnosis,
    None where there is none. Over all kinds, kept and lost less gained add up to OPT of the common
    union, step by step to the losses.
    """

    kind: str
    units: int
    weight: Fraction
    written: Fraction
    kept: Fraction | None
    lost: Mapping[str, Fraction] | None
    gained: Mapping[str, Fraction] | None

    @property
    def share(self) -> Fraction | None:
        """The written share of the weight; None where these units have none."""
        return self.written / self.weight if self.weight else None


def kind_rows(
    package: Package, written: Mapping[str, Fraction], diagnosis: Diagnosis | None
) -> list[KindRow]:
    """One row per kind of the package's units. `written` is by kind."""
    by_kind: dict[str, list[EvidenceUnit]] = {}
    for unit in package.units:
        by_kind.setdefault(unit.kind, []).append(unit)
    rows = [
        KindRow(
            kind=name,
            units=len(by_kind[name]),
            weight=sum((package.weights[unit.id] for unit in by_kind[name]), ZERO),
            written=written.get(name, ZERO),
            kept=None,
            lost=None,
            gained=None,
        )
        for name in sorted(by_kind, key=_kind_order)
    ]
    if diagnosis is None:
        return rows
    kind = {unit.id: unit.kind for unit in package.units}
    kept = _by_kind(diagnosis.kept_units.items(), kind)
    lost = {step.name: _by_kind(step.units, kind, 1) for step in diagnosis.steps}
    gained = {step.name: _by_kind(step.units, kind, -1) for step in diagnosis.steps}
    return [
        replace(
            row,
            kept=kept.get(row.kind, ZERO),
            lost={step: parts.get(row.kind, ZERO) for step, parts in lost.items()},
            gained={step: parts.get(row.kind, ZERO) for step, parts in gained.items()},
        )
        for row in rows
    ]


def pool_kind_rows(rows: Iterable[KindRow]) -> list[KindRow]:
    """Rows of several packages added up by kind; losses of those that have a diagnosis."""
    by_kind: dict[str, list[KindRow]] = {}
    for row in rows:
        by_kind.setdefault(row.kind, []).append(row)
    return [_added_up(kind, by_kind[kind]) for kind in sorted(by_kind, key=_kind_order)]


def _added_up(kind: str, rows: Sequence[KindRow]) -> KindRow:
    return KindRow(
        kind=kind,
        units=sum(row.units for row in rows),
        weight=sum((row.weight for row in rows), ZERO),
        written=sum((row.written for row in rows), ZERO),
        kept=sum((row.kept for row in rows if row.kept is not None), ZERO)
        if any(row.kept is not None for row in rows)
        else None,
        lost=_summed([row.lost for row in rows if row.lost is not None]),
        gained=_summed([row.gained for row in rows if row.gained is not None]),
    )


def _summed(by_step: Sequence[Mapping[str, Fraction]]) -> dict[str, Fraction] | None:
    """The sums step by step; None without any."""
    if not by_step:
        return None
    return {step: sum((parts[step] for parts in by_step), ZERO) for step in LOSS_STEPS}


def _by_kind(
    parts: Iterable[tuple[str, Fraction]], kind: Mapping[str, str], sign: int = 1
) -> dict[str, Fraction]:
    """Sums of the parts of one sign, as positive numbers."""
    sums: dict[str, Fraction] = {}
    for unit, part in parts:
        if part * sign > 0:
            sums[kind[unit]] = sums.get(kind[unit], ZERO) + part * sign
    return sums


def _kind_order(kind: str) -> tuple[int, str]:
    return (FIRST_KINDS.index(kind) if kind in FIRST_KINDS else len(FIRST_KINDS), kind)

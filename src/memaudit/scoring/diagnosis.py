"""Where a store's value went: from OPT of the common union down to what it holds, adding up to 1.

    generation  OPT(common union) - OPT(package + store): only others' memories express it
    extraction  OPT(package + store) - as much of it as the whole store covers: never written
    cost        as much of it as the whole store covers - its best subset within the budget: too
                dear to fit
    selection   its best subset - what it keeps: a better choice was there
    kept        F(what it keeps)

The middle stage is, unit by unit, what OPT(package + store) is worth but no more than what the
whole store is worth; where the best subset is worth more, it takes its place. So each step is at
least 0. A store keeps all of it where that fits, else what a policy keeps.

Where some h is irrational, values are those that solvers maximise, rounded up to a grid: their
steps are exact too and sum to 1, and each share comes with the two numbers the true one lies
between.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import Enclosure, plain
from memaudit.core.optimum import Optimum
from memaudit.scoring.pruning import Policy, pruned
from memaudit.scoring.ratio import NOT_CERTIFIED, ZERO, Basis, bound_text
from memaudit.scoring.store_scores import ExportAudit
from memaudit.scoring.union import WrittenStore

STEPS = ("generation", "extraction", "cost", "selection")
ADVICE = {
    "generation": "other systems express what neither the package nor this store does: "
    "look at their memories",
    "extraction": "improve extraction: what later questions need was never written",
    "cost": "improve compaction: what was written is too long to fit the budget",
    "selection": "improve admission: a better subset of its own memories fits the budget",
    "kept": "little is lost in writing: look downstream, at retrieval and reading",
}
LITTLE = Fraction(1, 10)
"""Below this total loss the advice is to look downstream."""


Stage = Mapping[str, Enclosure]
"""What a store is worth, unit by unit."""

NOTHING = Enclosure(Fraction(0), Fraction(0))


@dataclass(frozen=True, slots=True)
class Step:
    """One loss: its share of OPT of the common union, and the units behind it, largest first.

    A unit's part may be negative where the lower stage covers it better; parts add up to the loss.
    `between` encloses the true share; a point unless some h is irrational.
    """

    name: str
    value: Fraction
    share: Fraction
    units: tuple[tuple[str, Fraction], ...]
    queries: tuple[str, ...]
    between: Enclosure


@dataclass(frozen=True, slots=True)
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
    steps: tuple[Step, ...]
    advice: str

    @property
    def is_exact(self) -> bool:
        """Whether shares are known exactly, and not to a precision."""
        return self.kept_between.is_point and all(step.between.is_point for step in self.steps)

    @property
    def precision(self) -> Fraction:
        """The width of the widest share; 0 where shares are exact."""
        found = (self.kept_between, *(step.between for step in self.steps))
        return max(one.high - one.low for one in found)


class NoDiagnosis(MemAuditError):
    """Why there are no losses to tell: `undefined`, of which optimum, and how far it is known."""

    def __init__(
        self, store: str, budget: Fraction, undefined: str, basis: "Basis | str", optimum: Optimum
    ) -> None:
        self.undefined, self.basis, self.optimum = undefined, basis, optimum
        where = f"no diagnosis of {store!r} at budget {plain(budget)}"
        if undefined == ZERO:
            super().__init__(f"{where}: the optimum is 0")
        else:
            super().__init__(f"{where}: the optimum of the {basis} {bound_text(optimum)}")


def diagnose(
    audit: ExportAudit, store: WrittenStore, budget: Fraction, policy: Policy = "recency"
) -> Diagnosis:
    """The losses of a store; NoDiagnosis where an optimum is 0 or not certified."""
    common = audit.common_optimum(budget)
    union, upper = audit.union_optimum(store, budget), audit.upper_optimum(store, budget)
    for basis, optimum in (("common union", common), ("union", union), ("store alone", upper)):
        if not optimum.certified:
            raise NoDiagnosis(store.name, budget, NOT_CERTIFIED, basis, optimum)
    if not common.value:
        raise NoDiagnosis(store.name, budget, ZERO, "common union", common)
    fits = store.cost <= budget
    kept = store.candidate_ids if fits else pruned(store, budget, policy)
    if kept is None:
        raise MemAuditError(f"{store.name!r} has no {policy} for every memory; use recency")
    stages = [audit.unit_values(common.store)]
    stages.append(stages[0] if union is common else audit.unit_values(union.store))
    whole, best = audit.unit_values(store.candidate_ids), audit.unit_values(upper.store)
    shared = {
        unit: min(value, whole.get(unit, NOTHING), key=lambda one: (one.high, one.low))
        for unit, value in stages[-1].items()
    }
    stages.append(shared if _worth(shared).high > _worth(best).high else best)
    stages += [best, audit.unit_values(kept)]
    whole_worth = _worth(stages[0])
    steps = tuple(
        _step(audit, name, above, below, whole_worth)
        for name, (above, below) in zip(STEPS, pairwise(stages), strict=True)
    )
    held = _worth(stages[-1])
    return Diagnosis(
        store=store.name,
        budget=budget,
        optimum=whole_worth.high,
        kept=kept,
        policy="everything fits" if fits else policy,
        kept_share=held.high / whole_worth.high,
        kept_between=_share(held.low, held.high, whole_worth),
        kept_units={unit: value.high for unit, value in stages[-1].items() if value.high},
        steps=steps,
        advice=_advice(steps),
    )


def _worth(stage: Stage) -> Enclosure:
    return sum(stage.values(), NOTHING)


def _share(low: Fraction, high: Fraction, whole: Enclosure) -> Enclosure:
    """A part of the whole: at least 0, and no more than all of it."""
    return Enclosure(max(Fraction(0), low / whole.high), min(Fraction(1), high / whole.low))


def _step(audit: ExportAudit, name: str, above: Stage, below: Stage, whole: Enclosure) -> Step:
    parts = {
        unit: above.get(unit, NOTHING).high - below.get(unit, NOTHING).high
        for unit in {*above, *below}
    }
    lost = sorted(
        ((unit, part) for unit, part in parts.items() if part), key=lambda item: (-item[1], item[0])
    )
    value = sum(parts.values(), Fraction(0))
    gone = {unit for unit, part in lost if part > 0}
    asking = [q for q in audit.package.queries if value and gone & set(q.required)]
    asking.sort(key=lambda query: (-query.importance, query.id))
    queries = tuple(query.id for query in asking)
    upper, lower = _worth(above), _worth(below)
    between = _share(upper.low - lower.high, upper.high - lower.low, whole)
    if above is below:
        between = NOTHING
    return Step(name, value, value / whole.high, tuple(lost), queries, between)


def _advice(steps: tuple[Step, ...]) -> str:
    worst = max(steps, key=lambda step: step.share)
    if sum(step.share for step in steps) < LITTLE:
        return ADVICE["kept"]
    return ADVICE[worst.name]

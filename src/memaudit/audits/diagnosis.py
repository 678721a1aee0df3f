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
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from memaudit.audits.exported import ExportAudit
from memaudit.audits.pruning import Policy, pruned
from memaudit.audits.union import WrittenStore
from memaudit.core.errors import MemAuditError

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


@dataclass(frozen=True, slots=True)
class Step:
    """One loss: its share of OPT of the common union, and the units behind it, largest first.

    A unit's part may be negative where the lower stage covers it better; parts add up to the loss.
    """

    name: str
    value: Fraction
    share: Fraction
    units: tuple[tuple[str, Fraction], ...]
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The losses of a store at a budget. `kept_share` and the shares of the steps sum to 1."""

    store: str
    budget: Fraction
    optimum: Fraction
    kept: tuple[str, ...]
    policy: str
    kept_value: Fraction
    kept_share: Fraction
    steps: tuple[Step, ...]
    advice: str


def diagnose(
    audit: ExportAudit, store: WrittenStore, budget: Fraction, policy: Policy = "recency"
) -> Diagnosis:
    """The losses of a store; an error where an optimum is 0 or not certified."""
    common = audit.common_optimum(budget)
    union, upper = audit.union_optimum(store, budget), audit.upper_optimum(store, budget)
    for optimum in (common, union, upper):
        if not optimum.certified or optimum.value_high is not None:
            raise MemAuditError(
                f"no diagnosis of {store.name!r} at budget {budget}: an optimum is not certified "
                "to a single value"
            )
    if not common.value:
        raise MemAuditError(f"no diagnosis of {store.name!r} at budget {budget}: the optimum is 0")
    fits = store.cost <= budget
    kept = store.candidate_ids if fits else pruned(store, budget, policy)
    if kept is None:
        raise MemAuditError(f"{store.name!r} has no {policy} for every memory; use recency")
    stages = [audit.unit_values(common.store), audit.unit_values(union.store)]
    whole, best = audit.unit_values(store.candidate_ids), audit.unit_values(upper.store)
    shared = {unit: min(value, whole.get(unit, Fraction(0))) for unit, value in stages[-1].items()}
    stages.append(shared if sum(shared.values()) > upper.value else best)
    stages += [best, audit.unit_values(kept)]
    steps = tuple(
        _step(audit, name, above, below, common.value)
        for name, (above, below) in zip(STEPS, pairwise(stages), strict=True)
    )
    kept_value = sum(stages[-1].values(), Fraction(0))
    return Diagnosis(
        store=store.name,
        budget=budget,
        optimum=common.value,
        kept=kept,
        policy="everything fits" if fits else policy,
        kept_value=kept_value,
        kept_share=kept_value / common.value,
        steps=steps,
        advice=_advice(steps),
    )


def _step(
    audit: ExportAudit,
    name: str,
    above: Mapping[str, Fraction],
    below: Mapping[str, Fraction],
    optimum: Fraction,
) -> Step:
    zero = Fraction(0)
    parts = {unit: above.get(unit, zero) - below.get(unit, zero) for unit in {*above, *below}}
    lost = sorted(
        ((unit, part) for unit, part in parts.items() if part), key=lambda item: (-item[1], item[0])
    )
    value = sum(parts.values(), zero)
    gone = {unit for unit, part in lost if part > 0}
    queries = tuple(q.id for q in audit.package.queries if gone & set(q.required)) if value else ()
    return Step(name, value, value / optimum, tuple(lost), queries)


def _advice(steps: tuple[Step, ...]) -> str:
    worst = max(steps, key=lambda step: step.share)
    if sum(step.share for step in steps) < LITTLE:
        return ADVICE["kept"]
    return ADVICE[worst.name]

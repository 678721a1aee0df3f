"""What a store keeps within a budget: all of it where it fits, else what a policy keeps.

This is the only place that decides it. A policy needs a score of every memory. Where one is
missing, the policy keeps nothing: `prune` raises MissingSalience, `usable_policies` leaves the
policy out, and `kept_row` returns None.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeVar, cast

from memaudit.core.errors import MemAuditError
from memaudit.scoring.judged_store import WrittenMemory, WrittenStore

Policy = Literal["recency", "salience", "query_salience"]
POLICIES: dict[Policy, str] = {
    "recency": "newest memories first, what fits",
    "salience": "highest write-time salience first, what fits",
    "query_salience": "highest salience scored with the question in sight: not a write-time policy",
}
"""Policies a system could follow, kept apart by what they see."""

DEFAULT_POLICY: Policy = "recency"
"""The policy of the diagnosis and of the leaderboard: it needs no salience."""

EVERYTHING_FITS = "everything fits"

Row = TypeVar("Row")


class MissingSalience(MemAuditError):
    """A policy needs a score that some memory does not have."""

    def __init__(self, store: str, policy: str) -> None:
        super().__init__(f"{store!r} has no {policy} for every memory; use {DEFAULT_POLICY}")


@dataclass(frozen=True, slots=True)
class StoreWithinBudget:
    """The candidate ids a store keeps within a budget, in order of writing."""

    ids: tuple[str, ...]
    policy: Policy | None
    """None where everything fits."""

    @property
    def kept_by(self) -> str:
        return EVERYTHING_FITS if self.policy is None else f"cut by {self.policy}"


def keep_within(
    store: WrittenStore, budget: Fraction, policy: Policy = DEFAULT_POLICY
) -> StoreWithinBudget:
    """All of a store that fits the budget, else what the policy keeps of it."""
    if store.cost <= budget:
        return StoreWithinBudget(store.candidate_ids, None)
    return StoreWithinBudget(prune(store, budget, policy), policy)


def kept_row(
    fits: bool, whole: Row, pruned: Mapping[str, Row], policy: str = DEFAULT_POLICY
) -> Row | None:
    """The same rule for rows that are scored: of the whole store, or of the pruned ones."""
    return whole if fits else pruned.get(policy)


def prune(store: WrittenStore, budget: Fraction, policy: Policy) -> tuple[str, ...]:
    """The candidate ids of what the policy keeps, in order of writing."""
    order = _order(store, policy)
    if order is None:
        raise MissingSalience(store.name, policy)
    left, kept = budget, set()
    for memory in order:
        if memory.cost <= left:
            left -= memory.cost
            kept.add(memory.id)
    return tuple(store.candidate_id(memory) for memory in store.memories if memory.id in kept)


def usable_policies(store: WrittenStore) -> list[Policy]:
    """The policies whose scores every memory has."""
    return [policy for policy in POLICIES if _order(store, policy) is not None]


def _order(store: WrittenStore, policy: Policy) -> list[WrittenMemory] | None:
    """Memories as a policy takes them, the newest first among equals; None without scores."""
    newest_first = list(reversed(store.memories))
    if policy == "recency":
        return newest_first
    scores = [
        memory.salience if policy == "salience" else memory.query_salience
        for memory in newest_first
    ]
    if None in scores:
        return None
    by_score = sorted(
        zip(cast("list[Fraction]", scores), newest_first, strict=True), key=lambda pair: -pair[0]
    )
    return [memory for _, memory in by_score]

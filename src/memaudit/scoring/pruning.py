"""Cutting a store down to a budget: policies a system could follow, kept apart by what they see."""

from collections.abc import Callable
from fractions import Fraction
from typing import Literal

from memaudit.scoring.union import WrittenMemory, WrittenStore

Policy = Literal["recency", "salience", "query_salience"]

ABOUT: dict[Policy, str] = {
    "recency": "newest memories first, what fits",
    "salience": "highest write-time salience first, what fits",
    "query_salience": "highest salience scored with the question in sight: not a write-time policy",
}


def pruned(store: WrittenStore, budget: Fraction, policy: Policy) -> tuple[str, ...] | None:
    """Candidate ids of what stays, in order of writing; None where salience is missing."""
    order = _order(store, policy)
    if order is None:
        return None
    left, kept = budget, set()
    for memory in order:
        if memory.cost <= left:
            left -= memory.cost
            kept.add(memory.id)
    return tuple(store.candidate_id(memory) for memory in store.memories if memory.id in kept)


def _order(store: WrittenStore, policy: Policy) -> list[WrittenMemory] | None:
    newest_first = list(reversed(store.memories))
    if policy == "recency":
        return newest_first
    score: Callable[[WrittenMemory], Fraction | None] = (
        (lambda memory: memory.salience)
        if policy == "salience"
        else (lambda memory: memory.query_salience)
    )
    if any(score(memory) is None for memory in newest_first):
        return None
    return sorted(newest_first, key=lambda memory: -(score(memory) or Fraction(0)))

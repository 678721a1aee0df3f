"""What a store keeps within a budget: all of it where it fits, else what a policy keeps.

This is the only place that decides it. Recency needs to know when each memory was written, which an
export does not tell of the entries of a document; other policies need a score of every memory.
Where that is missing, the policy keeps nothing: `prune` raises NoSuchOrder, `usable_policies` does
not list it.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Literal, cast

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.score.priced_store import JudgedStore, WrittenMemory

Policy = Literal["recency", "top", "salience", "query_salience"]
POLICIES: dict[Policy, str] = {
    "recency": "newest memories first, what fits",
    "top": "documents from the top, then the newest memories, up to the first that does not fit",
    "salience": "highest write-time salience first, what fits",
    "query_salience": "highest salience scored with the question in sight: not a write-time policy",
}
"""Policies a system could follow, kept apart by what they see."""

DEFAULT_POLICIES: tuple[Policy, Policy] = ("recency", "top")
"""The policy of a score, the diagnosis and the board: the first that a store allows."""

BY_DEFAULT = "recency, or top where entries of a document have no times"

EVERYTHING_FITS = "everything fits"

SHUFFLES = 500
"""A random cut is the mean over so many orders of the memories."""


class NoSuchOrder(MemAuditError):
    """A policy needs a score or a time that some memory does not have."""

    def __init__(self, store: JudgedStore, policy: str) -> None:
        lacks = {
            "recency": "entries without times, so recency is not defined",
            "top": "no documents to cut from the top",
        }
        what = lacks.get(policy, f"no {policy} for every memory")
        super().__init__(f"{store.name!r} has {what}; use {default_policy(store)}")


@dataclass(frozen=True, slots=True)
class CutStore:
    """The candidate ids a store keeps within a budget, in order of writing."""

    ids: tuple[str, ...]
    policy: Policy | None
    """None where everything fits."""

    @property
    def kept_by(self) -> str:
        return EVERYTHING_FITS if self.policy is None else f"cut by {self.policy}"


def named_policy(name: str | None) -> Policy | None:
    """The policy of that name; None for the default."""
    if name is None:
        return None
    for policy in POLICIES:
        if policy == name:
            return policy
    raise MemAuditError(f"unknown policy {name!r}; choose from {', '.join(POLICIES)}")


def default_policy(store: JudgedStore) -> Policy:
    """Recency, or `top` where it is not known which memories are the newest."""
    return next(policy for policy in DEFAULT_POLICIES if _order(store, policy) is not None)


def keep_within(store: JudgedStore, budget: Fraction, policy: Policy | None = None) -> CutStore:
    """All of a store that fits the budget, else what the policy keeps of it.

    `policy` is asked only where the store does not fit; None for the first default it allows.
    """
    if store.cost <= budget:
        return CutStore(store.candidate_ids, None)
    policy = policy or default_policy(store)
    return CutStore(prune(store, budget, policy), policy)


def prune(store: JudgedStore, budget: Fraction, policy: Policy) -> tuple[str, ...]:
    """The candidate ids of what the policy keeps, in order of writing."""
    order = _order(store, policy)
    if order is None:
        raise NoSuchOrder(store, policy)
    if policy == "top":  # a file is cut off, it does not skip what is too long
        return _kept(store, budget, _whole_files(store, order, budget), skip=False)
    return _kept(store, budget, ((memory,) for memory in order), skip=True)


def random_cuts(
    store: JudgedStore, budget: Fraction, shuffles: int = SHUFFLES
) -> Iterator[tuple[str, ...]]:
    """The candidate ids that are kept if memories are taken in random order, what fits, once per
    shuffle; a store that fits is not shuffled."""
    if store.cost <= budget:
        yield store.candidate_ids
        return
    # Seeded by the store itself: a score does not change from one run to the next.
    dice = random.Random(" ".join(memory.id for memory in store.memories))
    for _ in range(shuffles):
        order = dice.sample(store.memories, len(store.memories))
        yield _kept(store, budget, ((memory,) for memory in order), skip=True)


def _kept(
    store: JudgedStore, budget: Fraction, parts: Iterable[tuple[WrittenMemory, ...]], skip: bool
) -> tuple[str, ...]:
    """The candidate ids of the parts that fit; the first too long ends it unless it is skipped."""
    # `left` is what the parts that are kept have left of the budget.
    left, kept = budget, set[str]()
    for part in parts:
        cost = store.cost_of([memory.id for memory in part]) if store.documents else part[0].cost
        if cost <= left:
            left -= cost
            kept.update(memory.id for memory in part)
        elif not skip:
            break
    return tuple(store.candidate_id(memory) for memory in store.memories if memory.id in kept)


def _whole_files(
    store: JudgedStore, order: Sequence[WrittenMemory], left: Fraction
) -> Iterator[tuple[WrittenMemory, ...]]:
    """Documents from the top: whole while they fit, the first that does not entry by entry."""
    parts = {document.id: document.parts for document in store.documents}
    for name, entries in groupby(order, key=lambda memory: memory.document):
        together = tuple(entries)
        cost = store.cost_of(parts.get(name, ())) if name is not None else left + 1
        if name is not None and cost <= left:
            left -= cost
            yield together
        else:
            yield from ((memory,) for memory in together)


def usable_policies(store: JudgedStore) -> list[Policy]:
    """The policies whose scores or times every memory has."""
    return [policy for policy in POLICIES if _order(store, policy) is not None]


def _order(store: JudgedStore, policy: Policy) -> list[WrittenMemory] | None:
    """Memories as a policy takes them, the newest first among equals; None where it cannot."""
    newest_first = list(reversed(store.memories))
    if policy == "recency":
        return newest_first if all(memory.has_order for memory in store.memories) else None
    if policy == "top":
        # As programs do that load a memory file: they read its first lines and stop.
        entries = [memory for memory in store.in_file_order if memory.first_line]
        return [*entries, *(m for m in newest_first if not m.first_line)] if entries else None
    scores = [
        memory.salience if policy == "salience" else memory.query_salience
        for memory in newest_first
    ]
    if None in scores:
        return None
    # The sort is stable, so that the newest comes first among memories of one score.
    by_score = sorted(
        zip(cast("list[Fraction]", scores), newest_first, strict=True), key=lambda pair: -pair[0]
    )
    return [memory for _, memory in by_score]

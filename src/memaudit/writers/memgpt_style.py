"""MemGPT-style tiers: a proxy for MemGPT and Letta, not one of the systems."""

from collections import deque
from fractions import Fraction
from typing import Literal

from memaudit.writers.budgeted_store import BudgetedStore
from memaudit.writers.protocol import View, VisibleCandidate

CORE_SHARE = Fraction(1, 4)
"""The share of the budget that core memory may take."""

CORE_KINDS = (
    "compound_update",
    "tombstone",
    "preference",
    "rule",
    "fact",
    "plan",
    "event",
    "temporal_event",
)
"""What core memory holds, in order of priority."""

ARCHIVE_KINDS = ("raw", "summary")
"""What the archive holds, in order of priority; other kinds come last."""


class MemGptStyle:
    """Two tiers, both first in, first out: core memory evicts into the archive, which forgets."""

    name = "memgpt_style"
    label = "MemGPT-style tiers (proxy)"
    about = "a small core of updates and facts evicts into an archive of recent spans, FIFO"
    peeks: Literal[False] = False
    monotone = False

    def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        store, limit = BudgetedStore(view, budget), budget * CORE_SHARE
        core: deque[VisibleCandidate] = deque()
        archive: deque[VisibleCandidate] = deque()
        spent = Fraction(0)
        for group in view.groups:
            affordable = [c for c in group if c.cost <= budget]
            for candidate in sorted(affordable, key=_priority)[: view.group_cap]:
                store.keep(candidate)
                if candidate.kind in CORE_KINDS and candidate.cost <= limit:
                    core.append(candidate)
                    spent += candidate.cost
                else:
                    archive.append(candidate)
                while spent > limit:
                    archive.append(core.popleft())
                    spent -= archive[-1].cost
                while store.left < 0:
                    store.drop(archive.popleft())
        return store.ids


def _priority(candidate: VisibleCandidate) -> int:
    order = CORE_KINDS + ARCHIVE_KINDS
    return order.index(candidate.kind) if candidate.kind in order else len(order)

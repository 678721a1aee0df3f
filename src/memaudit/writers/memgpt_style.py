"""MemGPT-style tiers: a stand-in for the MemGPT and Letta family, not one of the systems."""

from collections import deque
from fractions import Fraction
from typing import Literal

from memaudit.writers.protocol import View, VisibleCandidate
from memaudit.writers.shelf import Shelf

CORE_SHARE = Fraction(1, 4)
"""The share of the budget that core memory may take."""

CORE_KINDS = (
    "compound_update", "tombstone", "preference", "rule", "fact", "event", "temporal_event",
)  # fmt: skip
"""What core memory holds, the first to be taken first."""

ARCHIVE_KINDS = ("raw", "summary")
"""What the archive is filled with, the first to be taken first; any other kind comes after."""


class MemGptStyle:
    """Two tiers, both first in, first out: core memory evicts into the archive, which forgets."""

    name = "memgpt_style"
    label = "MemGPT-style tiers (proxy)"
    about = "a small core of updates and facts evicts into an archive of recent spans, FIFO"
    peeks: Literal[False] = False
    monotone = False

    def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        shelf, limit = Shelf(view, budget), budget * CORE_SHARE
        core: deque[VisibleCandidate] = deque()
        archive: deque[VisibleCandidate] = deque()
        spent = Fraction(0)
        for group in view.groups:
            affordable = [c for c in group if c.cost <= budget]
            for candidate in sorted(affordable, key=_priority)[: view.group_cap]:
                shelf.keep(candidate)
                if candidate.kind in CORE_KINDS and candidate.cost <= limit:
                    core.append(candidate)
                    spent += candidate.cost
                else:
                    archive.append(candidate)
                while spent > limit:
                    archive.append(core.popleft())
                    spent -= archive[-1].cost
                while shelf.left < 0:
                    shelf.drop(archive.popleft())
        return shelf.store


def _priority(candidate: VisibleCandidate) -> int:
    order = CORE_KINDS + ARCHIVE_KINDS
    return order.index(candidate.kind) if candidate.kind in order else len(order)

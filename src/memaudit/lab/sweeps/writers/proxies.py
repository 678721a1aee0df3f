"""Proxies for memory systems, each after one published design; none is the system itself."""

from collections import deque
from fractions import Fraction
from typing import Literal

from memaudit.lab.sweeps.writers.lexical import (
    Words,
    contained_share,
    content_words,
    jaccard,
)
from memaudit.lab.sweeps.writers.protocol import BudgetedStore, View, VisibleCandidate

FACT_KINDS = frozenset(
    {"fact", "preference", "rule", "plan", "event", "temporal_event", "interval_fact", "edge"}
)
"""Atomic statements; spans, summaries and compound updates are not extracted."""

DUPLICATE = 0.8
"""From this overlap on, a fact is a duplicate of a kept one."""
SAME_TOPIC = 0.4
"""From this overlap on, a fact is a new version of a kept one."""
DELETES = 0.5
"""A tombstone deletes a kept fact that contains at least this share of its words."""


class Mem0Style:
    """Adds, updates, deletes or ignores one fact after the other; over budget, the oldest go."""

    name = "mem0_style"
    label = "Mem0-style extraction (proxy)"
    about = "facts only: add, update, delete or no-op by shared words; over budget the oldest go"
    peeks: Literal[False] = False
    monotone = False

    def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        memory = _Memory(BudgetedStore(view, budget))
        for group in view.groups:
            for candidate in group:
                if candidate.kind == "tombstone":
                    memory.delete(content_words(candidate.text))
            facts = [c for c in group if c.kind in FACT_KINDS and c.cost <= budget]
            for candidate in sorted(facts, key=_doubt)[: view.group_cap]:
                memory.add(candidate)
        return memory.store.ids


class _Memory:
    """The kept facts and their words, the oldest first."""

    def __init__(self, store: BudgetedStore) -> None:
        self.store = store
        self._facts: dict[str, tuple[VisibleCandidate, Words]] = {}

    def add(self, candidate: VisibleCandidate) -> None:
        """Add the fact, replace an older version with it, or ignore a duplicate."""
        words = content_words(candidate.text)
        closest, old = 0.0, None
        for known, known_words in self._facts.values():
            # `>=`: of equally close facts the newest, which is the one that an update is about.
            if (alike := jaccard(words, known_words)) >= closest:
                closest, old = alike, known
        if closest >= DUPLICATE:
            return
        if old is not None and closest >= SAME_TOPIC:
            self._drop(old)
        self.store.keep(candidate)
        self._facts[candidate.id] = candidate, words
        while self.store.left < 0:
            self._drop(next(iter(self._facts.values()))[0])

    def delete(self, ended: Words) -> None:
        """Drop every fact that a tombstone ends. The tombstone itself is not stored."""
        for known, words in list(self._facts.values()):
            if contained_share(ended, words) >= DELETES:
                self._drop(known)

    def _drop(self, candidate: VisibleCandidate) -> None:
        self.store.drop(candidate)
        del self._facts[candidate.id]


def _doubt(candidate: VisibleCandidate) -> Fraction:
    return -(Fraction(1) if candidate.confidence is None else candidate.confidence)


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
            for candidate in sorted(affordable, key=_block_priority)[: view.group_cap]:
                store.keep(candidate)
                if candidate.kind in CORE_KINDS and candidate.cost <= limit:
                    core.append(candidate)
                    spent += candidate.cost
                else:
                    archive.append(candidate)
                # Eviction from core costs nothing: the memory moves to the archive and is still in
                # the store.
                while spent > limit:
                    archive.append(core.popleft())
                    spent -= archive[-1].cost
                while store.left < 0:
                    store.drop(archive.popleft())
        return store.ids


def _block_priority(candidate: VisibleCandidate) -> int:
    order = CORE_KINDS + ARCHIVE_KINDS
    return order.index(candidate.kind) if candidate.kind in order else len(order)

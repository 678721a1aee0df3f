"""Proxies for memory systems, each after one published design; none is the system itself."""

from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from memaudit.lab.sweeps.writers.lexical import (
    LexicalNovelty,
    Words,
    contained_share,
    content_words,
    cue_worth,
    jaccard,
    status_words,
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


NOTE_KINDS = ("note", "raw", "summary")
"""What a note is made from, in order of priority; other kinds come last."""

LINKED = 0.15
"""From this overlap on, two notes are linked."""
DECAY = 0.95
"""What is left of a note's strength after each further experience."""


@dataclass(slots=True)
class _Note:
    candidate: VisibleCandidate
    words: Words
    strength: float = 1.0


class AMemStyle:
    """A new note links to kept notes on its topic and strengthens them; the weakest note goes."""

    name = "amem_style"
    label = "A-Mem-style notes (proxy)"
    about = "full notes linked by shared words; over budget the least linked go, links fade"
    peeks: Literal[False] = False
    monotone = False

    def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        store = BudgetedStore(view, budget)
        notes: list[_Note] = []
        for group in view.groups:
            for note in notes:
                # Every group fades all notes before it adds: a note that is linked now outweighs
                # old links.
                note.strength *= DECAY
            affordable = [c for c in group if c.cost <= budget]
            for candidate in sorted(affordable, key=_note_priority)[: view.group_cap]:
                new = _Note(candidate, content_words(candidate.text))
                for note in notes:
                    if jaccard(new.words, note.words) >= LINKED:
                        note.strength += 1
                        new.strength += 1
                notes.append(new)
                store.keep(candidate)
                while store.left < 0:  # min takes the oldest of equals
                    weakest = min(notes, key=lambda note: note.strength)
                    notes.remove(weakest)
                    store.drop(weakest.candidate)
        return store.ids


def _note_priority(candidate: VisibleCandidate) -> int:
    kinds = NOTE_KINDS
    return kinds.index(candidate.kind) if candidate.kind in kinds else len(kinds)


TYPE_PRIOR = {
    "preference": 1.0,
    "rule": 0.9,
    "compound_update": 0.9,
    "fact": 0.8,
    "tombstone": 0.8,
    "plan": 0.7,
    "event": 0.7,
    "temporal_event": 0.7,
    "summary": 0.5,
    "raw": 0.2,
}
"""Lasting information counts more than what was merely said."""

OTHER_TYPE = 0.5

UTILITY, CONFIDENCE, NOVELTY, RECENCY, TYPE = 0.20, 0.15, 0.20, 0.10, 0.35
"""The weights of the five parts of a score. Every part is in [0, 1]; the weights add up to 1."""

LOWEST, HIGHEST = 0.5, 0.9
"""The threshold for an empty store and for a full one. A plain fact that is new and certain
scores about 0.7 and passes until the store is half full."""


class AMacStyle:
    """Admits what scores at least a threshold that rises as the budget fills; evicts nothing."""

    name = "amac_style"
    label = "A-MAC-style admission (proxy)"
    about = "admits by utility, confidence, novelty, recency and type; stricter as it fills"
    peeks: Literal[False] = False
    monotone = False

    def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        store = BudgetedStore(view, budget)
        # A budget above the total cost is no looser than the total cost.
        usable = min(budget, sum((c.cost for c in view.candidates), Fraction(0)))
        novelty = LexicalNovelty(tuple(status_words(c) for c in view.candidates))
        place = 0
        for step, group in enumerate(view.groups, start=1):
            # The view's candidates are its groups one after the other, so places are a running
            # count.
            places = range(place, place + len(group))
            place += len(group)
            recency = RECENCY * step / len(view.groups)
            fixed = {
                p: recency
                + UTILITY * cue_worth(c.text)
                + CONFIDENCE * (1.0 if c.confidence is None else float(c.confidence))
                + TYPE * TYPE_PRIOR.get(c.kind, OTHER_TYPE)
                for p, c in zip(places, group, strict=True)
            }
            for _ in range(view.group_cap):
                fitting = [p for p in places if store.fits(view.candidates[p])]
                if not fitting:
                    break
                scores = {p: fixed[p] + NOVELTY * novelty.share(p) for p in fitting}
                best = max(fitting, key=scores.__getitem__)  # the first of equals
                full = float((budget - store.left) / usable) if usable else 0.0
                if scores[best] < LOWEST + (HIGHEST - LOWEST) * full:
                    break
                store.keep(view.candidates[best])
                novelty.keep(best)
        return store.ids

"""A-Mem-style notes: a proxy for systems with linked notes, not the system itself."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from memaudit.writers.budgeted_store import BudgetedStore
from memaudit.writers.estimators.lexical import Words, content_words, jaccard
from memaudit.writers.protocol import View, VisibleCandidate

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
                note.strength *= DECAY
            affordable = [c for c in group if c.cost <= budget]
            for candidate in sorted(affordable, key=_priority)[: view.group_cap]:
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


def _priority(candidate: VisibleCandidate) -> int:
    kinds = NOTE_KINDS
    return kinds.index(candidate.kind) if candidate.kind in kinds else len(kinds)

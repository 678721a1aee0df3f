"""A-Mem-style notes: a stand-in for the family of linked notes, not the system."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from memaudit.writers.protocol import View, VisibleCandidate
from memaudit.writers.shelf import Shelf, Words, content_words, likeness

NOTE_KINDS = ("note", "raw", "summary")
"""What a note is made from, the first to be taken first; any other kind comes after."""

LINKED = 0.15
"""From this likeness on, two notes are linked."""
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
        shelf = Shelf(view, budget)
        notes: list[_Note] = []
        for group in view.groups:
            for note in notes:
                note.strength *= DECAY
            affordable = [c for c in group if c.cost <= budget]
            for candidate in sorted(affordable, key=_priority)[: view.group_cap]:
                new = _Note(candidate, content_words(candidate.text))
                for note in notes:
                    if likeness(new.words, note.words) >= LINKED:
                        note.strength += 1
                        new.strength += 1
                notes.append(new)
                shelf.keep(candidate)
                while shelf.left < 0:  # min takes the oldest of equals
                    weakest = min(notes, key=lambda note: note.strength)
                    notes.remove(weakest)
                    shelf.drop(weakest.candidate)
        return shelf.store


def _priority(candidate: VisibleCandidate) -> int:
    kinds = NOTE_KINDS
    return kinds.index(candidate.kind) if candidate.kind in kinds else len(kinds)

"""A random order that is the same on every machine."""

import hashlib
from collections.abc import Iterable

from memaudit.writers.view import VisibleCandidate


def shuffled(candidates: Iterable[VisibleCandidate], seed: int) -> list[VisibleCandidate]:
    """The candidates in the order of a hash of the seed and their place in the stream."""
    placed = list(enumerate(candidates))
    placed.sort(key=lambda item: hashlib.sha256(f"{seed} {item[0]}".encode()).digest())
    return [candidate for _, candidate in placed]

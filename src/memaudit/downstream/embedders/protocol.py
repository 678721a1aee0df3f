"""What an embedder takes and gives."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]


class Embedder(Protocol):
    """Turns texts into vectors of length 1."""

    @property
    def name(self) -> str:
        """Which model."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text; a text that says nothing is a row of zeros."""
        ...


def unit_length(raw: Vectors) -> Vectors:
    """The rows scaled to length 1; rows of zeros stay."""
    length = np.linalg.norm(raw, axis=1, keepdims=True)
    vectors: Vectors = raw / np.where(length > 0, length, 1.0)
    return vectors

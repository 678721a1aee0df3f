"""Embedding novelty: the cue prior times the distance to the nearest kept memory."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memaudit.kernel.errors import MissingTool, install_line
from memaudit.lab.sweeps.writers.estimators.lexical import CuePrior
from memaudit.lab.sweeps.writers.protocol import View

Vectors = NDArray[np.float64]
DIGITS = 6
"""Cosines are rounded to this many digits, because further digits differ between machines."""
MAX_CACHED_BYTES = 1 << 27
"""Rows of cosines that are cached for the next pass take at most this."""
BATCH_TEXTS, BATCH_CHARACTERS = 64, 1 << 16
"""A batch takes memory by its longest text, to which the others are padded."""


class _Model(Protocol):
    def embed(self, texts: list[str]) -> NDArray[np.float32]: ...


class Embedding:
    """What is new of a candidate is 1 - its highest cosine to anything kept."""

    name = "embedding"
    about = "the cue prior, times one minus the highest cosine to what is kept"

    def values(self, view: View) -> tuple[float, ...]:
        return CuePrior().values(view)

    def novelty(self, view: View) -> Callable[[], "EmbeddingNovelty"]:
        nearness = _nearness(tuple(candidate.text for candidate in view.candidates))
        return lambda: EmbeddingNovelty(len(view.candidates), nearness)


@lru_cache(maxsize=1)
def _nearness(texts: tuple[str, ...]) -> Callable[[int], Vectors]:
    """Rows of cosines between texts. Every writer and budget of a package uses the same ones."""
    vectors = embedded(texts)
    rows = MAX_CACHED_BYTES // (8 * len(texts)) if texts else 0
    return lru_cache(maxsize=rows)(lambda place: cosines(vectors, place))


class EmbeddingNovelty:
    """Remembers how near each candidate is to the nearest kept one."""

    def __init__(self, count: int, nearness: Callable[[int], Vectors]) -> None:
        self._nearest, self._nearness = np.zeros(count), nearness

    def share(self, place: int) -> float:
        return 1.0 - float(self._nearest[place])

    def keep(self, place: int) -> None:
        self._nearest = np.maximum(self._nearest, self._nearness(place))


def cosines(vectors: Vectors, place: int) -> Vectors:
    """The cosine of every vector to one of them, between 0 and 1."""
    rounded: Vectors = np.clip(np.round(vectors @ vectors[place], DIGITS), 0.0, 1.0)
    return rounded


def embedded(texts: Sequence[str]) -> Vectors:
    """One unit vector per text; a zero vector if a text has no tokens."""
    model = _model()
    if not texts:
        return np.zeros((0, 1))
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    with np.errstate(invalid="ignore"):  # a text without tokens has no mean
        parts = [model.embed([texts[place] for place in batch]) for batch in _batches(texts, order)]
    raw = np.empty((len(texts), parts[0].shape[1]))
    raw[order] = np.nan_to_num(np.concatenate(parts).astype(np.float64))
    length = np.linalg.norm(raw, axis=1, keepdims=True)
    vectors: Vectors = raw / np.where(length > 0, length, 1.0)
    return vectors


def _batches(texts: Sequence[str], order: Sequence[int]) -> Iterator[list[int]]:
    """Places of texts, shortest first, in batches that need little memory."""
    batch: list[int] = []
    for place in order:
        padded = (len(batch) + 1) * len(texts[place])
        if batch and (len(batch) == BATCH_TEXTS or padded > BATCH_CHARACTERS):
            yield batch
            batch = []
        batch.append(place)
    yield batch


@cache
def _model() -> _Model:
    """The model inside the wheel of wordllama; nothing is downloaded."""
    with _logging_unchanged():
        try:
            wordllama = import_module("wordllama")
        except ImportError:
            raise MissingTool(
                f"the embedding estimator needs wordllama: {install_line('embeddings')}"
            ) from None
        folder = Path(str(wordllama.__file__)).parent
        try:
            model: _Model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
        except FileNotFoundError:
            raise MissingTool(
                f"the installed wordllama contains no model: {install_line('embeddings')}"
            ) from None
    return model


@contextmanager
def _logging_unchanged() -> Iterator[None]:
    """Restore the logging setup that importing wordllama changes."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)

"""Vectors of texts by the model inside the wheel of wordllama."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memaudit.kernel.errors import MissingTool, install_line

Vectors = NDArray[np.float64]
BATCH_TEXTS, BATCH_CHARACTERS = 64, 1 << 16
"""A batch takes memory by its longest text, to which the others are padded."""


class _Model(Protocol):
    def embed(self, texts: list[str]) -> NDArray[np.float32]: ...


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
                f"the retrievers dense and hybrid need wordllama: {install_line('embeddings')}"
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

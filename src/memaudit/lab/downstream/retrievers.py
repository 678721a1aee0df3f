"""Retrievers by name: BM25, the cosine of embeddings, and an oracle that looks at the coverage."""

import logging
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memaudit.kernel.errors import MemAuditError, MissingTool, install_line
from memaudit.kernel.words.text import terms
from memaudit.lab.downstream.question import PackageQuestion, StoredMemory

Vectors = NDArray[np.float64]

Ranking = tuple[str, ...]
"""Ids of the memories found, best first, at most k. Unrelated memories are not found."""

DIGITS = 6
"""Scores are rounded to this many digits, because the rest differs between machines."""


class Retriever(Protocol):
    """Finds memories of one store for questions."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str:
        """How it ranks, in one line."""
        ...

    @property
    def peeks(self) -> bool:
        """Whether it looks at more than texts and their order."""
        ...

    def rank(
        self, memories: Sequence[StoredMemory], questions: Sequence[PackageQuestion], k: int
    ) -> list[Ranking]:
        """One ranking per question. Memories come in order of writing, which decides ties."""
        ...


def best(memories: Sequence[StoredMemory], scores: Sequence[float], k: int) -> Ranking:
    """The k best of those with a score above 0. Of equals, the one written first."""
    rounded = [round(float(score), DIGITS) for score in scores]
    order = sorted(
        (at for at in range(len(memories)) if rounded[at] > 0), key=lambda at: -rounded[at]
    )
    return tuple(memories[at].id for at in order[:k])


class _Index(Protocol):
    def index(self, corpus: list[list[str]], show_progress: bool) -> None: ...

    def get_scores(self, query_tokens_single: list[str]) -> NDArray[np.float64]: ...


class Bm25:
    """Lucene's BM25 with k1 = 1.5 and b = 0.75, the defaults of bm25s, over stemmed terms."""

    name = "bm25"
    about = "BM25 over stemmed content words, numbers and names"
    peeks = False

    def rank(
        self, memories: Sequence[StoredMemory], questions: Sequence[PackageQuestion], k: int
    ) -> list[Ranking]:
        corpus = [words(memory.text) for memory in memories]
        if not any(corpus):
            return [() for _ in questions]
        # An index per store: the inverse document frequency is part of BM25, and stores differ.
        index = _index()
        index.index(corpus, show_progress=False)
        known = {word for text in corpus for word in text}
        rankings = []
        for question in questions:
            # Words that no memory has would score 0 everywhere; a query of such words alone is an
            # error in bm25s.
            asked = [word for word in words(question.text) if word in known]
            rankings.append(best(memories, list(index.get_scores(asked)), k) if asked else ())
        return rankings


def words(text: str) -> list[str]:
    """The terms of a text in order, repeats kept."""
    return [term for piece in text.split() for term in sorted(terms(piece))]


def _index() -> _Index:
    try:
        bm25s = import_module("bm25s")
    except ImportError:
        raise MissingTool("the retriever bm25 needs bm25s: pip install bm25s") from None
    index: _Index = bm25s.BM25(dtype="float64")
    return index


AT_ONCE = 16
"""Texts in a batch of wordllama, which pads them to the longest: more would take much memory."""


def embedded(texts: Sequence[str]) -> Vectors:
    """One vector of length 1 per text, by wordllama; zeros for a text without tokens."""
    embed = _wordllama()
    if not texts:
        return np.zeros((0, 1))
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    with np.errstate(invalid="ignore"):  # a text without tokens has no mean
        parts = [
            embed([texts[place] for place in order[start : start + AT_ONCE]])
            for start in range(0, len(order), AT_ONCE)
        ]
    raw = np.empty((len(texts), parts[0].shape[1]))
    raw[order] = np.nan_to_num(np.concatenate(parts).astype(np.float64))
    length = np.linalg.norm(raw, axis=1, keepdims=True)
    vectors: Vectors = raw / np.where(length > 0, length, 1.0)
    return vectors


@cache
def _wordllama() -> Callable[[list[str]], NDArray[np.float32]]:
    """The model inside the wheel of wordllama; nothing is downloaded."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        wordllama = import_module("wordllama")
        folder = Path(str(wordllama.__file__)).parent
        model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    except (ImportError, FileNotFoundError):
        raise MissingTool(
            f"the retriever dense needs wordllama: {install_line('embeddings')}"
        ) from None
    finally:  # importing it sets up logging for the whole program
        root.handlers[:] = handlers
        root.setLevel(level)
    embed: Callable[[list[str]], NDArray[np.float32]] = model.embed
    return embed


class Dense:
    """Ranks by the cosine between question and memory. A cosine below 0 is not found."""

    name = "dense"
    about = "cosine of embeddings, wordllama, the model in its wheel"
    peeks = False

    def rank(
        self, memories: Sequence[StoredMemory], questions: Sequence[PackageQuestion], k: int
    ) -> list[Ranking]:
        if not memories or not questions:
            return [() for _ in questions]
        texts = [memory.text for memory in memories]
        vectors = embedded([*texts, *(question.text for question in questions)])
        # Vectors are of unit length already, so the product is the cosine.
        near = vectors[len(texts) :] @ vectors[: len(texts)].T
        return [best(memories, list(row), k) for row in near]


class Oracle:
    """Takes the memory that adds most of what is still missing, until nothing is missing.

    What an answer needs goes before what else is required. With k as large as the number of
    memories that cover anything required, it misses nothing; below that it is a greedy reference,
    not proven to be the best choice of k.
    """

    name = "oracle"
    about = "by what memories cover of the required units, most still missing first"
    peeks = True

    def rank(
        self, memories: Sequence[StoredMemory], questions: Sequence[PackageQuestion], k: int
    ) -> list[Ranking]:
        return [_chosen(memories, question, k) for question in questions]


def _chosen(memories: Sequence[StoredMemory], question: PackageQuestion, k: int) -> Ranking:
    missing = dict(question.needs)
    left = [memory for memory in memories if any(memory.covers.get(unit) for unit in missing)]
    taken: list[str] = []

    def adds(memory: StoredMemory) -> tuple[Fraction, Fraction]:
        # What supports the answer comes first in the tuple, what is required besides breaks ties.
        needed = {unit: missing[unit] for unit in question.needs if unit in question.supports}
        return _adds(memory, needed), _adds(memory, missing)

    while left and len(taken) < k:
        # The first of equals: `max` keeps the one written first.
        chosen = max(left, key=adds)
        if not _adds(chosen, missing):
            break
        for unit in missing:
            missing[unit] = max(Fraction(0), missing[unit] - chosen.covers.get(unit, Fraction(0)))
        taken.append(chosen.id)
        left.remove(chosen)
    return tuple(taken)


def _adds(memory: StoredMemory, missing: Mapping[str, Fraction]) -> Fraction:
    shares = (min(missing[unit], memory.covers.get(unit, Fraction(0))) for unit in missing)
    return sum(shares, Fraction(0))


RETRIEVERS: dict[str, Retriever] = {
    retriever.name: retriever for retriever in (Bm25(), Dense(), Oracle())
}


def named_retriever(name: str) -> Retriever:
    """The retriever of that name."""
    if name not in RETRIEVERS:
        known = ", ".join(RETRIEVERS)
        raise MemAuditError(f"unknown retriever {name!r}; known retrievers: {known}")
    return RETRIEVERS[name]

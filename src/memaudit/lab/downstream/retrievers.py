"""Retrievers by name: BM25, dense, hybrid, recency, and the oracle."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memaudit.kernel.errors import MemAuditError, MissingTool
from memaudit.kernel.words.text import terms
from memaudit.lab.downstream.embedders import Embedder, WordLlama
from memaudit.lab.downstream.question import PackageQuestion
from memaudit.lab.downstream.served_store import StoredMemory

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
        index = _index()
        index.index(corpus, show_progress=False)
        known = {word for text in corpus for word in text}
        rankings = []
        for question in questions:
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


class Dense:
    """Ranks by the cosine between question and memory. A cosine below 0 is not found."""

    peeks = False

    def __init__(self, embedder: Embedder, name: str = "dense") -> None:
        self.name = name
        self.about = f"cosine of embeddings, {embedder.name}"
        self._embedder = embedder

    def rank(
        self, memories: Sequence[StoredMemory], questions: Sequence[PackageQuestion], k: int
    ) -> list[Ranking]:
        if not memories or not questions:
            return [() for _ in questions]
        texts = [memory.text for memory in memories]
        vectors = self._embedder.embed([*texts, *(question.text for question in questions)])
        near = vectors[len(texts) :] @ vectors[: len(texts)].T
        return [best(memories, list(row), k) for row in near]


DAMPING = 60
"""A memory at rank r of a ranking gets 1 / (60 + r) from it."""

DEPTH = 5
"""Each ranking is read to this many times k."""

SCALE = 1000
"""Keeps neighbouring ranks apart where scores are rounded."""


class Hybrid:
    """Ranks by the sum of 1 / (60 + rank) over its parts."""

    peeks = False

    def __init__(self, parts: Sequence[Retriever], name: str = "hybrid") -> None:
        self.name = name
        self.about = f"reciprocal rank fusion of {' and '.join(part.name for part in parts)}"
        self._parts = tuple(parts)

    def rank(
        self, memories: Sequence[StoredMemory], questions: Sequence[PackageQuestion], k: int
    ) -> list[Ranking]:
        rankings = [part.rank(memories, questions, DEPTH * k) for part in self._parts]
        return [
            self._fused(memories, [ranking[at] for ranking in rankings], k)
            for at in range(len(questions))
        ]

    @staticmethod
    def _fused(memories: Sequence[StoredMemory], rankings: Sequence[Ranking], k: int) -> Ranking:
        points = {memory.id: 0.0 for memory in memories}
        for ranking in rankings:
            for rank, id in enumerate(ranking, start=1):
                points[id] += SCALE / (DAMPING + rank)
        return best(memories, list(points.values()), k)


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


class Recency:
    """The last k written, newest first."""

    name = "recency"
    about = "the newest memories, whatever is asked"
    peeks = False

    def rank(
        self, memories: Sequence[StoredMemory], questions: Sequence[PackageQuestion], k: int
    ) -> list[Ranking]:
        newest = tuple(memory.id for memory in reversed(memories))[:k]
        return [newest for _ in questions]


_ALL: tuple[Retriever, ...] = (
    Bm25(),
    Dense(WordLlama()),
    Hybrid((Bm25(), Dense(WordLlama()))),
    Recency(),
    Oracle(),
)
RETRIEVERS: dict[str, Retriever] = {retriever.name: retriever for retriever in _ALL}
KNOWN = f"{', '.join(RETRIEVERS)}, dense:URL#MODEL, hybrid:URL#MODEL"


def named_retriever(
    name: str, vectors: Path = Path("memaudit-vectors.sqlite"), offline: bool = False
) -> Retriever:
    """The retriever of that name. dense:URL#MODEL embeds at an OpenAI-compatible address.

    Vectors from an address are kept in a file, which is the only source when offline.
    """
    kind, colon, place = name.partition(":")
    if colon and kind in ("dense", "hybrid"):
        address, _, model = place.partition("#")
        if not address or not model:
            raise MemAuditError(f"retriever {name!r}: write {kind}:URL#MODEL")
        # What opens connections is loaded only where one is opened.
        from memaudit.lab.downstream.embedders import AddressEmbedder

        dense = Dense(AddressEmbedder(address, model, vectors, offline), name)
        return dense if kind == "dense" else Hybrid((Bm25(), dense), name)
    if name not in RETRIEVERS:
        raise MemAuditError(f"unknown retriever {name!r}; known retrievers: {KNOWN}")
    return RETRIEVERS[name]

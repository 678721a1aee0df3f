"""BM25 over content terms, by bm25s."""

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memaudit.core.errors import MissingTool
from memaudit.core.text import terms
from memaudit.downstream.memory import StoredMemory
from memaudit.downstream.question import Question
from memaudit.downstream.retrievers.protocol import Ranking, best


class _Index(Protocol):
    def index(self, corpus: list[list[str]], show_progress: bool) -> None: ...

    def get_scores(self, query_tokens_single: list[str]) -> NDArray[np.float64]: ...


class Bm25:
    """Lucene's BM25 with k1 = 1.5 and b = 0.75, the defaults of bm25s, over stemmed terms."""

    name = "bm25"
    about = "BM25 over stemmed content words, numbers and names"
    peeks = False

    def rank(
        self, memories: Sequence[StoredMemory], questions: Sequence[Question], k: int
    ) -> list[Ranking]:
        corpus = [words(memory.text) for memory in memories]
        if not any(corpus):
            return [() for _ in questions]
        index = _index()
        index.index(corpus, show_progress=False)
        known = {word for text in corpus for word in text}
        found = []
        for question in questions:
            asked = [word for word in words(question.text) if word in known]
            found.append(best(memories, list(index.get_scores(asked)), k) if asked else ())
        return found


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

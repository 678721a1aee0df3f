"""The model inside the wheel of wordllama: small, offline, the same everywhere."""

from collections.abc import Sequence

from memaudit.downstream.embedders.protocol import Vectors
from memaudit.writers.estimators.embedding import embedded


class WordLlama:
    """Means of token vectors; the model that the embedding writers use."""

    name = "wordllama, the model in its wheel"

    def embed(self, texts: Sequence[str]) -> Vectors:
        return embedded(list(texts))

"""Retrievers by name, as they are written on the command line."""

from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.downstream.embedders.wordllama import WordLlama
from memaudit.downstream.retrievers.bm25 import Bm25
from memaudit.downstream.retrievers.dense import Dense
from memaudit.downstream.retrievers.hybrid import Hybrid
from memaudit.downstream.retrievers.oracle import Oracle
from memaudit.downstream.retrievers.protocol import Retriever
from memaudit.downstream.retrievers.recency import Recency

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
    """The retriever of that name; dense:URL#MODEL embeds at an OpenAI-compatible address.

    Vectors from an address are kept in a file; offline, that file is all there is.
    """
    kind, colon, place = name.partition(":")
    if colon and kind in ("dense", "hybrid"):
        address, _, model = place.partition("#")
        if not address or not model:
            raise MemAuditError(f"retriever {name!r}: write {kind}:URL#MODEL")
        # What opens connections is loaded only where one is opened.
        from memaudit.downstream.embedders.address import AddressEmbedder

        dense = Dense(AddressEmbedder(address, model, vectors, offline), name)
        return dense if kind == "dense" else Hybrid((Bm25(), dense), name)
    if name not in RETRIEVERS:
        raise MemAuditError(f"unknown retriever {name!r}; known retrievers: {KNOWN}")
    return RETRIEVERS[name]

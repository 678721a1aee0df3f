"""Retrievers by name, and the embedders of the dense ones.

An embedder is the model inside wordllama, or an OpenAI-compatible address asked once per text.
"""

import hashlib
import logging
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
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
from memaudit.models.completions import escape_surrogates
from memaudit.models.database import refuse_special_database
from memaudit.models.live import (
    CallFailed,
    OpenAITransport,
    RetryPolicy,
    is_transient,
)
from memaudit.models.secret import checked_address, key_for

Vectors = NDArray[np.float64]


class Embedder(Protocol):
    """Turns texts into vectors of length 1."""

    @property
    def name(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text. A text without words is a row of zeros."""
        ...


def unit_length(raw: Vectors) -> Vectors:
    """The rows scaled to length 1; rows of zeros stay."""
    length = np.linalg.norm(raw, axis=1, keepdims=True)
    vectors: Vectors = raw / np.where(length > 0, length, 1.0)
    return vectors


AT_ONCE = 16
"""Texts in a batch of wordllama, which pads them to the longest: more would take much memory."""


class WordLlama:
    """Means of token vectors by the model inside the wheel of wordllama; nothing is downloaded."""

    name = "wordllama, the model in its wheel"

    def embed(self, texts: Sequence[str]) -> Vectors:
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
        return unit_length(raw)


@cache
def _wordllama() -> Callable[[list[str]], NDArray[np.float32]]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        wordllama = import_module("wordllama")
        folder = Path(str(wordllama.__file__)).parent
        model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    except (ImportError, FileNotFoundError):
        raise MissingTool(
            f"the retrievers dense and hybrid need wordllama: {install_line('embeddings')}"
        ) from None
    finally:  # importing it sets up logging for the whole program
        root.handlers[:] = handlers
        root.setLevel(level)
    embed: Callable[[list[str]], NDArray[np.float32]] = model.embed
    return embed


class EmbeddingTransport(OpenAITransport):
    """The same address, key and limits, but the endpoint /embeddings."""

    path = "embeddings"


LARGEST_VECTORS = 32 << 20
"""Bytes of a response with the vectors of all texts of one call."""

APPLICATION = 0x4D454D56
"""Marks the file as ours ("MEMV")."""

PATIENCE = 60.0
"""Seconds to wait for another process that is writing."""


class VectorFile:
    """Vectors by model and text, whichever server gave them."""

    def __init__(self, path: Path, model: str) -> None:
        self.path, self._model = path, model

    def known(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """The vectors of those texts that have one."""
        if not self.path.exists():
            return {}
        found = {}
        with self._open() as link:
            for text in dict.fromkeys(texts):
                row = link.execute("SELECT vector FROM vectors WHERE key = ?", (self._key(text),))
                if hit := row.fetchone():
                    found[text] = np.frombuffer(hit[0], np.float64)
        return found

    def keep(self, vectors: Mapping[str, Vectors]) -> None:
        """Add vectors. One that already exists stays."""
        # The bytes of float64: what is read is bit for bit what was written, so rankings repeat.
        rows = [(self._key(text), vector.tobytes()) for text, vector in vectors.items()]
        with self._open() as link, link:
            link.executemany("INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", rows)

    def _key(self, text: str) -> str:
        key = f"{self._model}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(key).hexdigest()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        refuse_special_database(self.path)
        try:
            with closing(sqlite3.connect(self.path, timeout=PATIENCE)) as link:
                (owner,) = link.execute("PRAGMA application_id").fetchone()
                (objects,) = link.execute("SELECT count(*) FROM sqlite_master").fetchone()
                if objects and owner != APPLICATION:
                    raise MemAuditError(f"{self.path}: is not a file of vectors; check model.cache")
                with link:
                    link.execute(f"PRAGMA application_id = {APPLICATION}")
                    link.execute(
                        "CREATE TABLE IF NOT EXISTS vectors "
                        "(key TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
                    )
                yield link
        except sqlite3.Error as error:
            raise MemAuditError(
                f"cannot use the vectors in {self.path}: {error}; model.cache needs a file in a "
                "folder that you may write to"
            ) from None


AT_ONCE = 64
"""Texts in one call."""


class AddressEmbedder:
    """Asks a server for vectors that the file does not have. Offline, that is an error."""

    def __init__(
        self,
        address: str,
        model: str,
        vectors: Path,
        offline: bool = False,
        retry: RetryPolicy | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.name = model
        self._address, self._model, self._offline = checked_address(address), model, offline
        self._file = VectorFile(vectors, model)
        self._retry, self._sleep = retry or RetryPolicy(), sleep

    def embed(self, texts: Sequence[str]) -> Vectors:
        said = [text for text in texts if text.strip()]  # servers refuse blank input
        vectors = self._file.known(said)
        missing = [text for text in dict.fromkeys(said) if text not in vectors]
        if missing and self._offline:
            raise MemAuditError(
                f"{len(missing)} texts have no vector of {self._model} in {self._file.path}; run "
                "once with provider live"
            )
        if missing:
            transport = EmbeddingTransport(
                self._address, key_for(self._address), largest=LARGEST_VECTORS
            )
            for start in range(0, len(missing), AT_ONCE):
                some = missing[start : start + AT_ONCE]
                new = dict(zip(some, self._ask(transport, some), strict=True))
                self._file.keep(new)
                vectors |= new
        width = {len(vector) for vector in vectors.values()}
        if len(width) > 1:
            raise MemAuditError(
                f"vectors of {self._model} have different lengths ({min(width)} and {max(width)}); "
                f"remove {self._file.path}"
            )
        # A blank text has the zero vector: its cosine is 0 with everything, so it is never found.
        nothing = np.zeros(max(width, default=1))
        return unit_length(np.array([vectors.get(text, nothing) for text in texts]))

    def _ask(self, transport: EmbeddingTransport, texts: Sequence[str]) -> list[Vectors]:
        attempt = 0
        while True:
            try:
                said = [escape_surrogates(text) for text in texts]
                found = transport.send(
                    {"model": self._model, "input": said, "encoding_format": "float"}
                )
                return _vectors(found, len(texts))
            except CallFailed as error:
                pause = self._retry.wait(texts[0], attempt, error.pause)
                if not is_transient(error.status) or pause is None:
                    raise MemAuditError(
                        f"no embeddings from {self._address}: {error}; check the address, the "
                        "model and the API key"
                    ) from None
                self._sleep(pause)
                attempt += 1


def _vectors(data: object, count: int) -> list[Vectors]:
    """The vectors of a response in the order asked; anything else is a failed call."""
    rows = data.get("data") if isinstance(data, dict) else None
    if not isinstance(rows, list) or len(rows) != count:
        raise CallFailed("the response does not hold one vector per text", 200)
    vectors: dict[int, Vectors] = {}
    for at, row in enumerate(rows):
        try:
            vector = np.array(row["embedding"], np.float64)
            # The API allows any order and numbers its rows; servers that do not number keep the
            # order.
            vectors[int(row.get("index", at))] = vector
        except (KeyError, TypeError, ValueError, AttributeError):
            raise CallFailed("the response holds an invalid vector", 200) from None
        if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
            raise CallFailed("the response holds an invalid vector", 200)
    if sorted(vectors) != list(range(count)):
        raise CallFailed("the response numbers its vectors wrongly", 200)
    return [vectors[at] for at in range(count)]


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
        # Vectors are of unit length already, so the product is the cosine.
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
        # Deeper than k: a memory that is good in both rankings may be among the k of neither.
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
        dense = Dense(AddressEmbedder(address, model, vectors, offline), name)
        return dense if kind == "dense" else Hybrid((Bm25(), dense), name)
    if name not in RETRIEVERS:
        raise MemAuditError(f"unknown retriever {name!r}; known retrievers: {KNOWN}")
    return RETRIEVERS[name]

"""Embedders: the model inside wordllama, or an OpenAI-compatible address asked once per text."""

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.writers.estimators.embedding import embedded
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


class WordLlama:
    """Means of token vectors; the model that the embedding writers use."""

    name = "wordllama, the model in its wheel"

    def embed(self, texts: Sequence[str]) -> Vectors:
        return embedded(list(texts))


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
            vectors[int(row.get("index", at))] = vector
        except (KeyError, TypeError, ValueError, AttributeError):
            raise CallFailed("the response holds an invalid vector", 200) from None
        if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
            raise CallFailed("the response holds an invalid vector", 200)
    if sorted(vectors) != list(range(count)):
        raise CallFailed("the response numbers its vectors wrongly", 200)
    return [vectors[at] for at in range(count)]

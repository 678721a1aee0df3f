"""Embeddings from any OpenAI-compatible address, each text asked for once."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from memaudit.core.errors import MemAuditError
from memaudit.downstream.embedders.protocol import Vectors, unit_length
from memaudit.downstream.embedders.transport import EmbeddingTransport
from memaudit.downstream.embedders.vector_file import VectorFile
from memaudit.models.secret import checked_address, key_for
from memaudit.models.transport import CallFailed, RetryPolicy, is_transient, whole_text

AT_ONCE = 64
"""Texts in one call."""


class AddressEmbedder:
    """Asks a server for what the file of vectors does not hold; offline, that is an error."""

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
                "once with --provider live"
            )
        if missing:
            transport = EmbeddingTransport(self._address, key_for(self._address))
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
                said = [whole_text(text) for text in texts]
                found = transport.send({"model": self._model, "input": said})
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
        raise CallFailed("the response does not hold one vector a text", 200)
    found: dict[int, Vectors] = {}
    for at, row in enumerate(rows):
        try:
            vector = np.array(row["embedding"], np.float64)
            found[int(row.get("index", at))] = vector
        except (KeyError, TypeError, ValueError, AttributeError):
            raise CallFailed("the response holds a vector that is none", 200) from None
        if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
            raise CallFailed("the response holds a vector that is none", 200)
    if sorted(found) != list(range(count)):
        raise CallFailed("the response numbers its vectors wrongly", 200)
    return [found[at] for at in range(count)]

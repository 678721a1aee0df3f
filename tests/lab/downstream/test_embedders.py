"""Embeddings from an address, over real HTTP."""

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.downstream.retrievers import AddressEmbedder, named_retriever
from memaudit.models.live import RetryPolicy
from tests.lab.downstream.small import ALL, ASKED
from tests.models.server import Behaviour, fails, send, serving


def vector(text: str) -> list[float]:
    """How often a text has each of five letters."""
    return [float(text.lower().count(letter)) for letter in "aegrx"]


def rows(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The vectors, last first: `index` says which is which."""
    found = [{"index": at, "embedding": vector(text)} for at, text in enumerate(body["input"])]
    return found[::-1]


def embeds(
    change: Callable[[list[dict[str, Any]]], object] = lambda found: found,
) -> Behaviour:
    """A server that embeds; `change` spoils what it sends."""

    def behave(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        send(handler, 200, {"object": "list", "model": "m", "data": change(rows(body))})

    return behave


def embedder(url: str, folder: Path, offline: bool = False) -> AddressEmbedder:
    """One that does not wait between tries."""
    retry = RetryPolicy(retries=1)
    return AddressEmbedder(url, "m", folder / "v.sqlite", offline, retry, lambda _: None)


def test_vectors(tmp_path: Path) -> None:
    """Of length 1, in the order asked; a blank text is not sent and is a row of zeros."""
    with serving(embeds()) as served:
        found = embedder(served.url, tmp_path).embed(["egg", " ", "Rex", "egg"])
    # egg: one e, two g, so (0, 1, 2, 0, 0) / √5; Rex: one each of e, r, x.
    assert np.allclose(found[0], np.array([0, 1, 2, 0, 0]) / 5**0.5)
    assert np.allclose(found[2], np.array([0, 1, 0, 1, 1]) / 3**0.5)
    assert (found[1] == 0).all()
    assert (found[3] == found[0]).all()
    (body,) = served.bodies
    assert (body["path"], body["input"], body["model"]) == ("/v1/embeddings", ["egg", "Rex"], "m")


def test_each_text_is_asked_for_once(tmp_path: Path) -> None:
    """The file answers afterwards, offline too; another model does not share it."""
    with serving(embeds()) as served:
        first = embedder(served.url, tmp_path).embed(["egg", "Rex"])
        again = embedder(served.url, tmp_path).embed(["Rex", "egg", "axe"])
        assert [body["input"] for body in served.bodies] == [["egg", "Rex"], ["axe"]]
        assert (again[:2] == first[::-1]).all()
        offline = embedder(served.url, tmp_path, offline=True)
        assert (offline.embed(["egg"]) == first[:1]).all()
        with pytest.raises(MemAuditError, match="1 texts have no vector of m in"):
            offline.embed(["egg", "new"])
        assert len(served.bodies) == 2


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (embeds(lambda found: found[1:]), "one vector per text"),
        (embeds(lambda found: "nothing" if found else ""), "one vector per text"),
        (embeds(lambda _: [{"index": 0, "embedding": "x"}]), "an invalid vector"),
        (embeds(lambda _: [{"index": 0, "embedding": []}]), "an invalid vector"),
        (embeds(lambda _: [{"index": 0, "embedding": [1, None]}]), "an invalid vector"),
        (embeds(lambda _: [{"index": 5, "embedding": [1.0]}]), "numbers its vectors wrongly"),
        (fails(400, "too long"), "HTTP 400: too long"),
        (fails(503, "later"), "HTTP 503: later"),
    ],
)
def test_what_is_no_vector(tmp_path: Path, behaviour: Behaviour, message: str) -> None:
    """One clear line, and nothing is kept."""
    with (
        serving(behaviour) as served,
        pytest.raises(MemAuditError, match=message),
    ):
        embedder(served.url, tmp_path).embed(["egg"])
    assert not (tmp_path / "v.sqlite").exists()
    assert len(served.bodies) == (2 if "503" in message else 1)


def test_a_passing_fault_is_tried_again(tmp_path: Path) -> None:
    """The second time it works."""
    with serving(fails(503), embeds()) as served:
        assert embedder(served.url, tmp_path).embed(["egg"]).shape == (1, 5)


def test_vectors_that_do_not_fit_together(tmp_path: Path) -> None:
    """A server that changed its model is an error, not a wrong cosine."""
    with serving(embeds(), embeds(lambda _: [{"embedding": [1.0]}])) as served:
        embedder(served.url, tmp_path).embed(["egg"])
        with pytest.raises(MemAuditError, match="different lengths"):
            embedder(served.url, tmp_path).embed(["egg", "axe"])


def test_a_file_of_something_else(tmp_path: Path) -> None:
    """Is not touched."""
    (tmp_path / "v.sqlite").write_text("notes, not vectors, and long enough to be looked at" * 20)
    with pytest.raises(MemAuditError, match="cannot use the vectors"):
        embedder("http://127.0.0.1:9/v1", tmp_path).embed(["egg"])


def test_as_a_retriever(tmp_path: Path) -> None:
    """dense:URL#MODEL and hybrid:URL#MODEL."""
    with serving(embeds()) as served:
        for kind in ("dense", "hybrid"):
            name = f"{kind}:{served.url}#m"
            found = named_retriever(name, tmp_path / "v.sqlite")
            assert found.name == name
            (ranking,) = found.rank(ALL, [ASKED["dog"]], 2)
            assert len(ranking) == 2
        assert len(served.bodies) == 1

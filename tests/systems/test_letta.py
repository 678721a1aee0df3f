"""Letta end to end."""

from tests.systems.conftest import Run, package
from tests.systems.model_server import ModelServer

TOLD = (
    "Ann lives in Rome. Ann plays chess.",
    "Ann has a parrot called Kiwi.",
    "Correction: Ann lives in Oslo.",
    "Forget chess.",
)


def test_blocks_are_revised_and_passages_added(run: Run) -> None:
    """Core memory is one memory that changes; the archive has one for every fact told to it."""
    store = run("letta", [package("ann", *TOLD)]).store
    block, passage = store.active
    assert block.text.strip() == "Ann lives in Oslo."
    assert block.namespace == "human"
    assert block.metadata["written_after"] == ["e0", "e2", "e3"]
    assert passage.text == "Ann has a parrot called Kiwi."
    assert passage.namespace == "archival"
    assert passage.metadata["written_after"] == ["e1"]
    assert store.origin.configuration["changes"] == {"add": 2, "update": 2}
    assert store.origin.versions["letta"] == "0.16.8"
    assert store.warnings == ()


def test_more_than_the_default_page(run: Run) -> None:
    facts = [f"Ann owns book number {number}." for number in range(52)]
    halves = [" ".join(facts[:26]), " ".join(facts[26:])]
    store = run("letta", [package("ann", *halves)]).store
    assert [memory.text for memory in store.active] == facts


def test_what_the_blocks_begin_with_is_no_memory(run: Run, model: ModelServer) -> None:
    store = run("letta", [package("ann", "Ann swims.")], persona="I am brief.").store
    assert [memory.text.strip() for memory in store.active] == ["Ann swims."]
    assert "I am brief." in model.chats[0]


def test_a_mistake_of_the_model_is_no_failure(run: Run, model: ModelServer) -> None:
    """It replaces a line that is not there; Letta says so to it, and all goes on."""
    told = ["Correction: Ann lives in Oslo.", "Ann swims."]
    store = run("letta", [package("ann", *told)]).store
    assert any("not there` did not appear verbatim" in chat for chat in model.chats)
    assert store.warnings == ()
    assert [memory.text.strip() for memory in store.active] == ["Ann swims."]


def test_a_passage_that_cannot_be_embedded_is_a_failure(run: Run, model: ModelServer) -> None:
    model.no_vector = "parrot"
    store = run("letta", [package("ann", *TOLD)]).store
    (warning,) = store.warnings
    assert warning.startswith("incomplete: 1 of 4 messages failed: ann e1 (")


def test_a_conversation_longer_than_the_context_window(run: Run, model: ModelServer) -> None:
    """Letta has the oldest messages summed up, by the same model; memories stay."""
    facts = [f"Ann owns book number {number}." for number in range(6)]
    told = [fact + " Is it not a beautiful day today?" * 60 for fact in facts]
    store = run("letta", [package("ann", *told)], context_window=6000).store
    assert store.warnings == ()
    assert [memory.text for memory in store.active] == facts
    assert any("<end_transcript>" in chat for chat in model.chats)

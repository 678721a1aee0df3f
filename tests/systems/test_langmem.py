"""LangMem end to end."""

from tests.systems.conftest import Run, package
from tests.systems.model_server import ModelServer

TOLD = (
    "Ann lives in Rome. Ann plays chess.",
    "Correction: Ann lives in Oslo.",
    "Forget chess.",
    "Ann swims.",
)


def test_updates_and_deletes(run: Run) -> None:
    store = run("langmem", [package("ann", *TOLD)], enable_deletes=True).store
    assert {(m.text, m.state) for m in store.memories} == {
        ("Ann lives in Oslo.", "active"),
        ("Ann plays chess.", "deleted"),
        ("Ann swims.", "active"),
    }
    oslo = next(m for m in store.active if "Oslo" in m.text)
    chess = next(m for m in store.memories if m.state == "deleted")
    assert oslo.metadata["written_after"] == ["e0", "e1"]
    assert chess.metadata["deleted_after"] == "e2"
    assert [m.text for m in store.active] == ["Ann lives in Oslo.", "Ann swims."]
    assert store.count.inactive == {"deleted": 1}
    assert store.origin.configuration["changes"] == {"add": 3, "delete": 1, "update": 1}


def test_deleting_is_off_unless_asked_for(run: Run) -> None:
    store = run("langmem", [package("ann", *TOLD)]).store
    assert "Ann plays chess." in [memory.text for memory in store.active]


def test_more_than_the_default_page(run: Run) -> None:
    """Fifteen memories: a search of the store would stop at ten without a word."""
    facts = [f"Ann owns book number {number}." for number in range(15)]
    store = run("langmem", [package("ann", " ".join(facts))]).store
    assert sorted(memory.text for memory in store.active) == sorted(facts)


def test_without_an_embedder(run: Run, model: ModelServer) -> None:
    store = run("langmem", [package("ann", *TOLD[:2])], embedder=None).store
    assert {memory.text for memory in store.active} == {"Ann lives in Oslo.", "Ann plays chess."}
    assert {path for path, _ in model.seen} == {"/v1/chat/completions"}

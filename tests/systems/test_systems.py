"""Real memory systems end to end: what holds for each of them, and what is particular to one."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.io.store_file import read_store
from memaudit.lab.capture.capture import capture
from memaudit.lab.capture.systems import SYSTEMS, CaptureSettings
from memaudit.stores.protocol import ImportOptions
from memaudit.stores.registry import import_store
from tests.cli.running import words
from tests.systems.conftest import ENVIRONMENTS, HIDDEN, KEY, Run, package
from tests.systems.model_server import ModelServer

ANN = ("Ann lives in Rome. Ann plays chess.", "Is it warm?", "Ann has a parrot called Kiwi.")
BOB = ("Bob works at the harbour.", "Bob repairs old clocks.")


@pytest.mark.parametrize("system", SYSTEMS)
def test_captures_what_the_system_wrote_and_nothing_leaks(
    system: str, run: Run, model: ModelServer, no_way_out: list[str], tmp_path: Path
) -> None:
    """Two packages: memories in order, with versions; no hidden side, no key, no call to any
    other address."""
    outcome = run(system, [package("ann", *ANN), package("bob", *BOB)])
    store = outcome.store
    assert outcome.broken == {}
    texts = {name: [m.text for m in store.active if m.example == name] for name in ("ann", "bob")}
    for name, facts in (("ann", [ANN[0].split(". ")[0], ANN[2]]), ("bob", list(BOB))):
        found = [next(at for at, text in enumerate(texts[name]) if f in text) for f in facts]
        assert found == sorted(found)
    assert not any("Bob" in text for text in texts["ann"])

    sent = json.dumps(model.seen)
    assert HIDDEN not in sent
    asked = [text for text in ANN + BOB if any(text in chat for chat in model.chats)]
    assert asked == [*ANN, *BOB]
    assert model.keys == {f"Bearer {KEY}"}
    assert no_way_out == []
    assert not any("contacted" in warning for warning in store.warnings)

    assert set(store.origin.versions) > {"python"}
    assert store.origin.configuration["model"] == "small"
    assert store.origin.configuration["messages"] == len(ANN) + len(BOB)
    written = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    assert not any(KEY in text for text in written)
    assert read_store(tmp_path / "store.json") == store

    # The raw exports beside the store are what `memaudit import` reads.
    exports = sorted((tmp_path / "store.json.capture" / "exports").iterdir())
    imported = [m for path in exports for m in import_store([path]).memories]
    assert {m.id for m in imported} == {m.id for m in store.memories}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_finished_example_is_not_fed_again(system: str, run: Run, model: ModelServer) -> None:
    first = run(system, [package("ann", *ANN)])
    model.seen.clear()
    both = run(system, [package("ann", *ANN), package("bob", *BOB)])
    assert both.fed_now == 1
    assert not any(text in chat for chat in model.chats for text in ANN)
    assert [m for m in both.store.memories if m.example == "ann"] == list(first.store.memories)


@pytest.mark.parametrize("system", [name for name in SYSTEMS if name != "cognee"])
def test_a_message_that_fails_is_counted(system: str, run: Run, model: ModelServer) -> None:
    """One refused message: the others are there, the failure is named and shows no key.

    cognee repeats a refused request for minutes, and takes the message up again with the next one.
    """
    # A-Mem stores a note it could not analyse, and shows it to the model with later ones.
    model.refuse, model.refusals = "parrot", 1 if system == "amem" else 1000
    store = run(system, [package("ann", *ANN, "Ann swims.")]).store
    assert store.origin.configuration["failed_messages"] == 1
    (warning,) = [text for text in store.warnings if "failed" in text]
    assert warning.startswith("incomplete: 1 of 4 messages failed: ann e2 (")
    assert KEY not in warning
    assert any("Ann swims." in memory.text for memory in store.active)


def test_a_model_that_always_fails_gives_no_store_of_silence(run: Run, model: ModelServer) -> None:
    """Three failures in a row end an example, two examples the run; none counts as finished."""
    model.refuse, model.refusals = "Messages", 1000
    names = ("ann", "bob", "eve")
    outcome = run("mem0", [package(name, *ANN) for name in names])
    assert set(outcome.broken) == set(names)
    assert "3 messages in a row failed" in outcome.broken["ann"]
    assert outcome.broken["eve"] == "not reached"
    assert outcome.store.warnings[0].startswith("incomplete: 3 packages are not in this store")
    model.refuse = ""
    assert run("mem0", [package(name, *ANN) for name in names]).fed_now == 3


@pytest.mark.parametrize("system", SYSTEMS)
def test_kill_minus_nine_in_the_middle(
    system: str, run: Run, model: ModelServer, tmp_path: Path
) -> None:
    """Killed while the second package is being fed: the first stays, the second begins anew, and
    what the model had answered is not asked again."""
    packages = [package("ann", *ANN), package("bob", *BOB)]
    paths = []
    for one in packages:
        write_package(one, tmp_path / f"{one.name}.json")
        paths += ["--package", str(tmp_path / f"{one.name}.json")]
    model.hold = "clocks"
    command = [
        sys.executable,
        "-c",
        "from memaudit.lab.commands.capture import capture; import typer; "
        "app = typer.Typer(); app.command()(capture); app()",
        *words(
            system,
            *paths,
            f"--base-url {model.address} --model small --embedder words --option feed=message",
            f"--out {tmp_path / 'store.json'} --python {Path(ENVIRONMENTS or '') / system}",
        ),
    ]
    with subprocess.Popen(command) as process:
        assert model.held.wait(120)
        process.send_signal(signal.SIGKILL)
    assert not (tmp_path / "store.json").exists()
    model.hold = ""
    model.released.set()
    model.seen.clear()
    outcome = run(system, packages)
    assert outcome.fed_now == 1
    assert model.chats
    assert all("clocks" in chat for chat in model.chats)
    bob = [memory.text for memory in outcome.store.active if memory.example == "bob"]
    assert len(bob) == 2


def test_notes_evolve(run: Run) -> None:
    """A later note about chess links to the first and changes its context; the others stay."""
    told = ("Ann plays chess.", "Bob sings.", "Ann lost at chess.")
    store = run("amem", [package("ann", *told)]).store
    first, second, third = store.active
    assert first.text == (
        "memory content: Ann: Ann plays chess.\nmemory context: About plays. Told again.\n"
        "memory keywords: plays, chess\nmemory tags: diary, linked"
    )
    assert first.metadata["written_after"] == ["e0", "e2"]
    assert second.metadata["written_after"] == ["e1"]
    assert third.metadata["links"] == [first.id]
    assert first.created_at == "2024-03-01T09:00"
    assert store.origin.configuration["changes"] == {"add": 3, "update": 1}


def test_which_modules_were_stand_ins_is_written_down(run: Run) -> None:
    store = run("amem", [package("ann", "Ann plays chess.")]).store
    stand_ins = store.origin.configuration["stand_ins"]
    assert isinstance(stand_ins, list)
    assert "sentence_transformers" in stand_ins


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


def test_dates_and_names_reach_the_model(run: Run, model: ModelServer) -> None:
    run("mem0", [package("ann", "I moved today.")], custom_instructions="Only places.")
    assert "[2024-03-01T09:00] Ann: I moved today." in model.chats[0]
    assert "Only places." in model.chats[0]


@pytest.mark.parametrize("system", ["mem0", "langmem", "letta", "graphiti", "mcp-memory"])
def test_a_budget_reaches_the_model(run: Run, model: ModelServer, system: str) -> None:
    """By custom instructions, by instructions beside the usual ones, or by block limits; the store
    says what the system was told. A-Mem has no way to be told. Letta shows its limit and does not
    enforce it, so what fits is measured, never assumed."""
    store = run(system, [package("ann", "Ann swims.")], budget=40).store
    told = "All memories together may have at most 40 words"
    assert any(told in chat for chat in model.chats)
    assert str(store.origin.configuration["told"]).startswith(told)
    if system == "langmem":
        assert any("long-term memory manager" in chat and told in chat for chat in model.chats)
    if system == "letta":  # 40 words of 7 letters, two blocks
        assert any("chars_limit=140" in chat for chat in model.chats)
        assert any(
            "about the person you are conversing with" in chat and told in chat
            for chat in model.chats
        )
    if system == "mem0":
        with pytest.raises(MemAuditError, match="A-Mem has no setting 'budget' here"):
            run("amem", [package("ann", "Ann swims.")], budget=40)


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


TOLD_LANGMEM = (
    "Ann lives in Rome. Ann plays chess.",
    "Correction: Ann lives in Oslo.",
    "Forget chess.",
    "Ann swims.",
)


def test_updates_and_deletes(run: Run) -> None:
    store = run("langmem", [package("ann", *TOLD_LANGMEM)], enable_deletes=True).store
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
    store = run("langmem", [package("ann", *TOLD_LANGMEM)]).store
    assert "Ann plays chess." in [memory.text for memory in store.active]


def test_without_an_embedder(run: Run, model: ModelServer) -> None:
    store = run("langmem", [package("ann", *TOLD_LANGMEM[:2])], embedder=None).store
    assert {memory.text for memory in store.active} == {"Ann lives in Oslo.", "Ann plays chess."}
    assert {path for path, _ in model.seen} == {"/v1/chat/completions"}


TOLD_LETTA = (
    "Ann lives in Rome. Ann plays chess.",
    "Ann has a parrot called Kiwi.",
    "Correction: Ann lives in Oslo.",
    "Forget chess.",
)


def test_blocks_are_revised_and_passages_added(run: Run) -> None:
    """Entries of core memory come and go; the archive has a memory for every fact told to it."""
    store = run("letta", [package("ann", *TOLD_LETTA)]).store
    passage, entry = store.active
    assert entry.text == "Ann lives in Oslo."
    assert entry.namespace == "human"
    assert entry.metadata["written_after"] == ["e2"]
    lives = {
        memory.text: (memory.metadata["written_after"], memory.metadata["deleted_after"])
        for memory in store.memories
        if memory.state == "deleted"
    }
    assert lives == {"Ann lives in Rome.": (["e0"], "e2"), "Ann plays chess.": (["e0"], "e3")}
    assert [document.text.strip() for document in store.documents] == ["Ann lives in Oslo."]
    assert passage.text == "Ann has a parrot called Kiwi."
    assert passage.namespace == "archival"
    assert passage.metadata["written_after"] == ["e1"]
    assert store.origin.configuration["changes"] == {"add": 2, "update": 2}
    assert store.origin.versions["letta"] == "0.16.8"
    assert store.warnings == ()


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
    store = run("letta", [package("ann", *TOLD_LETTA)]).store
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


def test_a_fact_that_ended_is_superseded(run: Run, model: ModelServer) -> None:
    """Facts begin when they were told; one that a later fact contradicts ends there. A fact told
    twice is one edge, and the message that repeats it changes nothing."""
    told = ("Ann lives in Rome. Ann plays chess.", "Ann plays chess.", "Ann lives in Oslo.")
    store = run("graphiti", [package("ann", *told)]).store
    assert [(m.text, m.valid_from, m.metadata["written_after"]) for m in store.active] == [
        ("Ann plays chess.", "2024-03-01T09:00", ["e0"]),
        ("Ann lives in Oslo.", "2024-03-03T09:00", ["e2"]),
    ]
    (rome,) = [memory for memory in store.memories if memory.state == "superseded"]
    assert (rome.text, rome.valid_to) == ("Ann lives in Rome.", "2024-03-03T09:00")
    assert rome.metadata["written_after"] == ["e0", "e2"]
    assert store.origin.configuration["changes"] == {"add": 3, "update": 1}
    assert store.origin.versions["graphiti-core"] == "0.31.1"
    (warning,) = store.warnings  # as of the last message
    assert warning.startswith("ann: expiry dates are compared with")
    assert any("<CURRENT MESSAGE>\\nAnn: Ann plays chess." in chat for chat in model.chats)


@pytest.mark.parametrize("system", ["cognee"])
def test_relations_between_entities(system: str, run: Run, model: ModelServer) -> None:
    """Chunks, summaries and types are in cognee's graph too, and are no memories."""
    told = ("Ann lives in Rome.", "Ann plays chess. Ann lives in Rome.")
    store = run(system, [package("ann", *told)], custom_prompt="Draw a knowledge graph.").store
    assert [(m.text, m.metadata["written_after"]) for m in store.active] == [
        ("Ann lives in Rome.", ["e0"]),
        ("Ann plays chess.", ["e1"]),
    ]
    assert any("Draw a knowledge graph." in chat for chat in model.chats)
    assert store.origin.versions["cognee"] == "1.6.5"
    assert store.warnings == ()


TOLD_GRAPH = (
    "Ann lives in Rome. Ann plays chess.",
    "Bob sings. Ann knows Bob.",
    "Correction: Ann lives in Oslo.",
    "Forget Bob.",
)


def test_observations_come_and_go_one_by_one(run: Run, model: ModelServer) -> None:
    """The server's file is rewritten after every call; each observation has its own history, and
    what is deleted with its entity is remembered."""
    store = run("mcp-memory", [package("ann", *TOLD_GRAPH)]).store
    assert [(m.text, m.metadata["written_after"]) for m in store.active] == [
        ("Ann: Ann plays chess.", ["e0"]),
        ("Ann: Ann lives in Oslo.", ["e2"]),
    ]
    gone = {m.text: m.metadata["deleted_after"] for m in store.memories if m.state == "deleted"}
    assert gone == {"Ann: Ann lives in Rome.": "e2", "Bob: Bob sings.": "e3", "Ann knows Bob": "e3"}
    assert "Always begin your chat by saying only" in model.chats[0]
    assert store.origin.versions["@modelcontextprotocol/server-memory"] == "2026.8.31"
    assert store.warnings == ()


def test_an_entity_as_one_memory(run: Run, tmp_path: Path) -> None:
    """The raw export is the graph as the server has it, and may be read with the other view."""
    run("mcp-memory", [package("ann", *TOLD_GRAPH[:2])])
    (export,) = (tmp_path / "store.json.capture" / "exports").iterdir()
    store = import_store([export], options=ImportOptions(view="entities"))
    assert [memory.text for memory in store.memories] == [
        "Ann (person):\nAnn lives in Rome.\nAnn plays chess.",
        "Bob (person):\nBob sings.",
        "Ann knows Bob",
    ]


def test_a_tool_call_that_the_server_refuses_is_told_to_the_model(
    run: Run, model: ModelServer
) -> None:
    told = ["Correction: Ann lives in Oslo.", "Ann swims."]
    store = run("mcp-memory", [package("ann", *told)]).store
    assert any("Entity with name Ann not found" in chat for chat in model.chats)
    assert store.warnings == ()
    assert [memory.text for memory in store.active] == ["Ann: Ann swims."]


def test_how_much_of_the_chat_the_model_sees(run: Run, model: ModelServer) -> None:
    run("mcp-memory", [package("ann", "Ann swims.", "Bob sings.", "Eve runs.")], history=1)
    assert "Bob sings." in model.chats[-1]
    assert "09:00] Ann: Ann swims." not in model.chats[-1]


def test_a_model_that_never_answers_fails_its_message(run: Run) -> None:
    store = run("mcp-memory", [package("ann", "Ann swims.", "Is it warm?")], max_steps=2).store
    assert [text for text in store.warnings if "still called tools after 2 steps" in text]


@pytest.mark.parametrize(
    ("system", "count"), [("mem0", 25), ("langmem", 15), ("letta", 52), ("graphiti", 25)]
)
def test_more_than_the_default_page(system: str, count: int, run: Run) -> None:
    """A listing of the store would stop at its default limit without a word."""
    facts = [f"Ann owns book number {number}." for number in range(count)]
    told = [" ".join(facts[start : start + 26]) for start in range(0, count, 26)]
    store = run(system, [package("ann", *told)]).store
    assert sorted(memory.text for memory in store.active) == sorted(facts)

"""What holds for every system: order, privacy, resuming, failures."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memaudit.adapters.capture.systems import SYSTEMS
from memaudit.adapters.registry import import_store
from memaudit.adapters.store import read_store
from memaudit.io.packages import write_package
from tests.systems.conftest import ENVIRONMENTS, HIDDEN, KEY, Run, package
from tests.systems.model_server import ModelServer

ANN = ("Ann lives in Rome. Ann plays chess.", "Is it warm?", "Ann has a parrot called Kiwi.")
BOB = ("Bob works at the harbour.", "Bob repairs old clocks.")


@pytest.mark.parametrize("system", SYSTEMS)
def test_captures_what_the_system_wrote_and_nothing_leaks(
    system: str, run: Run, model: ModelServer, no_way_out: list[str], tmp_path: Path
) -> None:
    """Two packages: memories in order, told apart, with versions; no hidden side, no key, no call
    to any other address."""
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


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_message_that_fails_is_counted(system: str, run: Run, model: ModelServer) -> None:
    """One refused message: the others are there, the failure is named and shows no key."""
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
    """Killed while the second package is being fed: the first stays, the second begins anew."""
    packages = [package("ann", *ANN), package("bob", *BOB)]
    paths = []
    for one in packages:
        write_package(one, tmp_path / f"{one.name}.json")
        paths += ["--package", str(tmp_path / f"{one.name}.json")]
    model.hold = "clocks"
    command = [
        sys.executable, "-c", "from memaudit.cli.capture import capture; import typer; "
        "app = typer.Typer(); app.command()(capture); app()", system, *paths,
        "--base-url", model.address, "--model", "small", "--embedder", "words",
        "--out", str(tmp_path / "store.json"), "--python", str(Path(ENVIRONMENTS or "") / system),
    ]  # fmt: skip
    with subprocess.Popen(command) as process:
        assert model.held.wait(120)
        process.send_signal(signal.SIGKILL)
    assert not (tmp_path / "store.json").exists()
    model.hold = ""
    model.released.set()
    model.seen.clear()
    outcome = run(system, packages)
    assert outcome.fed_now == 1
    asked = [text for text in ANN + BOB if any(text in chat for chat in model.chats)]
    assert asked == list(BOB)
    bob = [memory.text for memory in outcome.store.active if memory.example == "bob"]
    assert len(bob) == 2

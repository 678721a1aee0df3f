"""Feeding, resuming, failing: the machinery around a system."""

from pathlib import Path

import pytest

from memaudit.adapters.capture.capture import capture
from memaudit.adapters.capture.systems import CaptureSettings, MemorySystem, named_system
from memaudit.adapters.store import read_store
from memaudit.core.errors import MemAuditError, MissingTool
from memaudit.scoring.judged_store import active_memories
from tests.adapters.capture.conftest import KEY, NOTEBOOK, Run, package


def test_memories_in_order_of_writing_with_their_lives(run: Run, tmp_path: Path) -> None:
    """Notes a, b, c; b forgotten after e3, a rewritten after e4. The store lists them backwards."""
    outcome = run([package("p", "a", "b", "c", "forget b", "change new")])
    found = [(m.text, m.state, m.metadata["written_after"]) for m in outcome.store.memories]
    assert found == [
        ("new", "active", ["e0", "e4"]),
        ("b", "deleted", ["e1"]),
        ("c", "active", ["e2"]),
    ]
    assert outcome.store.memories[1].metadata["deleted_after"] == "e3"
    assert {memory.example for memory in outcome.store.memories} == {"p"}
    assert outcome.store.count.model_dump() == {
        "read": 3, "kept": 3, "inactive": {"deleted": 1}, "skipped": {},
    }  # fmt: skip
    assert outcome.store.origin.configuration["changes"] == {"add": 3, "delete": 1, "update": 1}
    assert read_store(tmp_path / "store.json") == outcome.store


def test_equal_ids_of_two_examples_are_told_apart(run: Run) -> None:
    store = run([package("p", "a"), package("q", "b")]).store
    assert [(m.id, m.text, m.example) for m in store.memories] == [
        ("0", "a", "p"),
        ("q/0", "b", "q"),
    ]


def test_an_example_for_which_nothing_is_written_is_in_the_store(run: Run) -> None:
    """Whoever scores q finds an empty store of it, not a store that was never fed q."""
    store = run([package("p", "a"), package("q", "forget nothing")]).store
    assert store.origin.configuration["examples"] == {"p": 1, "q": 0}
    assert active_memories(store, "q") == []
    with pytest.raises(MemAuditError, match="was not written for the package 'r'"):
        active_memories(store, "r")


def test_a_second_run_feeds_only_what_is_new_or_changed(run: Run) -> None:
    first = run([package("p", "a"), package("q", "b")])
    again = run([package("p", "a"), package("q", "other"), package("r", "c")])
    assert (first.fed_now, again.fed_now) == (2, 2)
    assert [m.text for m in again.store.memories] == ["a", "other", "c"]


def test_other_settings_do_not_mix(run: Run) -> None:
    """A record begun with other options is refused; the message names what differs."""
    run([package("p", "a")])
    with pytest.raises(MemAuditError, match=r'started with options \{\}, not \{"shout": true\}'):
        run([package("p", "a")], shout=True)


@pytest.mark.parametrize("way", ["raise", "log", "print"])
def test_a_failure_is_counted_however_the_library_hides_it(run: Run, way: str) -> None:
    """An exception, an error in the log, a printed error; the key is not in the message."""
    outcome = run([package("p", "a", f"{way} it", "b")])
    (warning,) = outcome.store.warnings
    assert warning.startswith("incomplete: 1 of 3 messages failed: p e1 (")
    assert KEY not in warning
    assert outcome.store.origin.configuration["failed_messages"] == 1
    assert {"a", "b"} <= {memory.text for memory in outcome.store.active}


def test_a_system_that_dies_breaks_one_example_only(run: Run, tmp_path: Path) -> None:
    """The next example gets a new process; the broken one is fed again by the next run."""
    outcome = run([package("p", "a"), package("q", "b", "die now"), package("r", "c")])
    assert outcome.broken == {"q": "the process of Notebook ended: last words"}
    assert [m.text for m in outcome.store.memories] == ["a", "c"]
    assert outcome.store.warnings[0] == (
        "incomplete: 1 packages are not in this store: "
        "q (the process of Notebook ended: last words)"
    )
    assert run([package("p", "a"), package("q", "b", "die now"), package("r", "c")]).fed_now == 0
    work = [path for path in (tmp_path / "store.json.capture").iterdir() if "work" in path.name]
    assert work == []


def test_a_system_that_hangs_is_ended(run: Run) -> None:
    outcome = run([package("p", "sleep long")], patience=1)
    assert outcome.broken == {"p": "Notebook gave no answer in 1 s"}


def test_two_broken_examples_in_a_row_end_the_run(run: Run) -> None:
    bad = ["raise one", "raise two", "raise three"]
    outcome = run([package(name, *bad) for name in ("p", "q", "r")])
    assert outcome.broken["r"] == "not reached"
    assert outcome.broken["p"].startswith("3 messages in a row failed: RuntimeError: with the key ")
    assert KEY not in str(outcome)
    assert outcome.store.memories == ()


def test_experiences_without_text_are_counted_not_fed(run: Run) -> None:
    store = run([package("p", "a", "  ")]).store
    assert "1 experiences without text were not fed" in store.warnings
    assert store.origin.configuration["messages"] == 1


def test_nothing_on_disk_holds_the_key(run: Run, tmp_path: Path) -> None:
    run([package("p", "a", "raise it")])
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 3
    assert not any(KEY in path.read_text() for path in files)


def test_a_system_that_is_not_installed_gives_the_pip_line(tmp_path: Path) -> None:
    driver = tmp_path / "driver.py"
    driver.write_text("import no_such_module_anywhere\n")
    system = MemorySystem("x", "X", "x-memory==1.2 y", driver, "mem0", "results")
    with pytest.raises(MissingTool, match=r"-m pip install x-memory==1\.2 y$"):
        capture(
            system,
            [package("p", "a")],
            CaptureSettings("m", "http://127.0.0.1:1"),
            tmp_path / "s.json",
        )
    assert list(tmp_path.glob("s.json*")) == []


@pytest.mark.parametrize(
    ("packages", "settings", "message"),
    [
        ([package("p", "a"), package("p", "b")], {}, "two packages are called 'p'"),
        ([package("p", " ")], {}, "has no experience with a text"),
        ([package("p", "a")], {"base_url": "ftp://x"}, "not an http or https address"),
        ([package("p", "a")], {"options": {"x": 1}}, "no setting 'x' here; known: shout"),
        ([package("p", "a")], {"python": "/no/such/python"}, "cannot run /no/such/python"),
    ],
)
def test_mistakes_are_told_in_one_line(
    packages: list, settings: dict, message: str, tmp_path: Path
) -> None:
    given = CaptureSettings(**{"model": "m", "base_url": "http://127.0.0.1:1", **settings})
    with pytest.raises(MemAuditError, match=message) as caught:
        capture(NOTEBOOK, packages, given, tmp_path / "store.json")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_unknown_system() -> None:
    with pytest.raises(MemAuditError, match="unknown system 'zep'; choose mem0, amem, langmem"):
        named_system("zep")

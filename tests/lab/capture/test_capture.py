"""Feeding, resuming, failing: the machinery around a system, with a notebook as the system."""

import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from memaudit.kernel.errors import MemAuditError, MissingTool
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.io.store_file import Memory, read_store
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.priced_store import active_memories
from memaudit.lab.capture.capture import CallPlan, CaptureOutcome, assemble, capture
from memaudit.lab.capture.driver_process import child_environment
from memaudit.lab.capture.feed_package import ExampleResult, StoreHistory
from memaudit.lab.capture.messages import as_example
from memaudit.lab.capture.systems import (
    DRIVERS,
    SYSTEMS,
    CaptureSettings,
    MemorySystem,
    block_entries,
    blocks_and_passages,
    named_system,
    parse_options,
    single_list,
)
from memaudit.stores.registry import import_store
from tests.cli.running import failure

KEY = "sk-a-key-that-nobody-may-see"


NOTEBOOK = MemorySystem(
    "notebook", "Notebook", "notebook==1", Path(__file__).parent / "notebook.py", "mem0", "results"
)


def package(name: str, *texts: str) -> Package:
    return Package.model_validate(
        {
            "name": name,
            "candidates": [],
            "units": [],
            "experiences": [{"id": f"e{at}", "text": text} for at, text in enumerate(texts)],
        }
    )


Run = Callable[..., CaptureOutcome]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Capture packages with the notebook into `tmp_path / "store.json"`."""
    monkeypatch.setenv("MEMAUDIT_API_KEY", KEY)

    def go(packages: list[Package], patience: float = 30, **options: JsonValue) -> CaptureOutcome:
        settings = CaptureSettings(
            "model", "http://127.0.0.1:1/v1", None, dict(options), None, None, patience
        )
        return capture(NOTEBOOK, packages, settings, tmp_path / "store.json")

    return go


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
        "read": 3,
        "kept": 3,
        "inactive": {"deleted": 1},
        "skipped": {},
    }
    assert outcome.store.origin.configuration["changes"] == {"add": 3, "delete": 1, "update": 1}
    assert read_store(tmp_path / "store.json") == outcome.store


def test_equal_ids_of_two_examples_are_told_apart(run: Run) -> None:
    store = run([package("p", "a"), package("q", "b")]).store
    found = [(m.id, m.text, m.example) for m in store.memories]
    assert found == [("0", "a", "p"), ("q/0", "b", "q")]


def test_an_written_from_which_nothing_is_written_is_in_the_store(run: Run) -> None:
    """Whoever scores q finds an empty store of it, not a store that was never fed q."""
    store = run([package("p", "a"), package("q", "forget nothing")]).store
    assert store.origin.configuration["examples"] == {"p": 1, "q": 0}
    assert active_memories(store, package("q", "forget nothing")) == []
    with pytest.raises(MemAuditError, match="was not written for the package 'r'"):
        active_memories(store, package("r", "c"))


def test_a_package_of_the_same_turns_finds_its_memories(run: Run) -> None:
    """Whatever it is called: a capture keeps digests of what it fed, failed messages aside."""
    told = ["I like green tea.", "I live in Bonn."]
    store = run([package("p", told[0], "raise it", told[1]), package("q", "My cat is grey.")]).store
    again = package("another name", *told)
    assert [memory.text for memory in active_memories(store, again)] == told
    turns = store.origin.configuration["turns"]
    assert isinstance(turns, dict)
    lengths = {name: len(lines) for name, lines in turns.items() if isinstance(lines, list)}
    assert lengths == {"p": 2, "q": 1}


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
def test_a_failure_is_counted_however_the_library_hides_it(
    run: Run, way: str, tmp_path: Path
) -> None:
    """An exception, an error in the log, a printed error; the key is in no message and no file."""
    outcome = run([package("p", "a", f"{way} it", "b")])
    (warning,) = outcome.store.warnings
    assert warning.startswith("incomplete: 1 of 3 messages failed: p e1 (")
    assert outcome.store.origin.configuration["failed_messages"] == 1
    assert {"a", "b"} <= {memory.text for memory in outcome.store.active}
    files = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 4
    assert not any(KEY in text for text in [warning, *files])


def test_a_key_in_the_memory_is_hidden(run: Run, tmp_path: Path) -> None:
    outcome = run([package("p", "leak it")])
    assert [memory.text for memory in outcome.store.active] == ["the key is [key hidden]"]
    files = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(KEY in text for text in files)


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
    assert outcome.broken == {"p": "Notebook gave no sign of life in 1 s"}


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


def test_a_system_that_is_not_installed_gives_the_pip_line(tmp_path: Path) -> None:
    driver = tmp_path / "driver.py"
    driver.write_text("import no_such_module_anywhere\n")
    system = MemorySystem("x", "X", "x-memory==1.2 y", driver, "mem0", "results")
    settings = CaptureSettings("m", "http://127.0.0.1:1")
    with pytest.raises(MissingTool, match=r"-m pip install x-memory==1\.2 y$"):
        capture(system, [package("p", "a")], settings, tmp_path / "s.json")
    assert list(tmp_path.glob("s.json*")) == []
    settings = CaptureSettings("m", "http://127.0.0.1:1", python=sys.executable)
    with pytest.raises(MissingTool, match=r" y && \S+/npm install --prefix \S+ z@1$"):
        capture(replace(system, npm="z@1"), [package("p", "a")], settings, tmp_path / "s.json")


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
    packages: list[Package], settings: dict[str, Any], message: str, tmp_path: Path
) -> None:
    given = CaptureSettings(**{"model": "m", "base_url": "http://127.0.0.1:1", **settings})
    with pytest.raises(MemAuditError, match=message) as caught:
        capture(NOTEBOOK, packages, given, tmp_path / "store.json")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_unknown_system() -> None:
    with pytest.raises(MemAuditError, match="unknown system 'zep'; choose mem0, amem, langmem"):
        named_system("zep")


HIDDEN = "xyzzy"


def stream(**experience: object) -> Package:
    """One experience, and a hidden side full of one word."""
    return Package.model_validate(
        {
            "name": "p",
            "experiences": [{"id": "e", "text": "I moved.", **experience}],
            "candidates": [
                {"id": "c", "experience": "e", "kind": "fact", "cost": 1, "text": HIDDEN}
            ],
            "units": [{"id": "u", "kind": "fact", "text": HIDDEN}],
            "queries": [{"id": "q", "text": HIDDEN, "answer": HIDDEN, "required": ["u"]}],
        }
    )


@pytest.mark.parametrize(
    ("experience", "role", "content", "time"),
    [
        ({}, "user", "I moved.", None),
        ({"speaker": "assistant"}, "assistant", "I moved.", None),
        ({"speaker": "User"}, "user", "I moved.", None),
        ({"speaker": "Ann"}, "user", "Ann: I moved.", None),
        (
            {"timestamp": "2023-05-08T13:56:10"},
            "user",
            "[2023-05-08T13:56:10] I moved.",
            "202305081356",
        ),
        ({"speaker": "Ann", "timestamp": "May"}, "user", "[May] Ann: I moved.", "May"),
    ],
)
def test_message(experience: dict[str, Any], role: str, content: str, time: str | None) -> None:
    """Made of the visible side, and of nothing else."""
    example = as_example(stream(**experience, attributes={"answer": HIDDEN}))
    (fed,) = example.messages
    assert (fed.message.role, fed.message.content, fed.message.time) == (role, content, time)
    assert HIDDEN not in repr(example)


def test_order_is_that_of_arrival() -> None:
    late, early = package("p", "late", "early").experiences
    turned = package("p").replace(experiences=(late, early.model_copy(update={"index": -1})))
    assert [one.experience for one in as_example(turned).messages] == ["e1", "e0"]


def test_digest_is_of_what_is_fed_alone() -> None:
    base = as_example(stream()).digest
    assert as_example(stream(attributes={"x": 1})).digest == base
    changes = ({"text": "I left."}, {"speaker": "Ann"}, {"timestamp": "2023-01-01"})
    assert len({base, *(as_example(stream(**change)).digest for change in changes)}) == 4


def test_the_lines_of_a_row_share_its_life() -> None:
    """A block written after e0 and emptied after e2, read line by line; a passage between."""
    account = StoreHistory()
    account.note("e0", [{"id": "block-1", "change": "add", "export": {"value": "a\nb"}}])
    account.note("e1", [{"id": "passage-1", "change": "add", "export": {"text": "c"}}])
    account.note("e2", [{"id": "block-1", "change": "delete"}])
    read = [
        Memory(id="passage-1", text="c"),
        Memory(id="block-1:1", text="a"),
        Memory(id="block-1:2", text="b"),
    ]
    lines = account.settle(read, "p")
    assert [(one.id, one.state, one.metadata["written_after"]) for one in lines] == [
        ("block-1:1", "deleted", ["e0"]),
        ("block-1:2", "deleted", ["e0"]),
        ("passage-1", "active", ["e1"]),
    ]


def test_entries_of_a_document_have_lives_of_their_own() -> None:
    """A line appears, changes, goes and comes back; what is gone stays as deleted."""
    history = StoreHistory(block_entries)
    values = [
        "# Ann\n- tea\n- cat",
        "# Ann\n- cake\n- tea\n- cat",
        "# Ann\n- cake\n- tea",
        "# Ann\n- cat\n- cake",
    ]
    for at, value in enumerate(values):
        change = {"id": "b", "change": "update" if at else "add", "export": {"value": value}}
        history.note(f"e{at}", [change])
    read = [
        Memory(id="b:L2", text="Ann: cat", lines=(2, 2), document="b"),
        Memory(id="b:L3", text="Ann: cake", lines=(3, 3), document="b"),
    ]
    settled = history.settle(read, "p")
    assert [(one.id, one.text, one.state, one.metadata) for one in settled] == [
        ("b:L2", "Ann: cat", "active", {"written_after": ["e0", "e3"]}),
        ("b:L3", "Ann: cake", "active", {"written_after": ["e1"]}),
        ("b:gone-1", "Ann: tea", "deleted", {"written_after": ["e0"], "deleted_after": "e3"}),
    ]


def test_an_entry_outlives_its_heading_and_is_remembered_when_the_block_is_emptied() -> None:
    history = StoreHistory(block_entries)
    for at, value in enumerate(["# Ann\n- tea", "# Ann, baker\n- tea", ""]):
        history.note(f"e{at}", [{"id": "b", "change": "update", "export": {"value": value}}])
    (gone,) = history.settle([], "p")
    assert (gone.text, gone.state) == ("Ann, baker: tea", "deleted")
    assert gone.metadata == {"written_after": ["e0", "e1"], "deleted_after": "e2"}


def test_other_keys_and_paths_stay_behind() -> None:
    variables = {
        "PATH": "/bin",
        "OPENROUTER_API_KEY": "other",
        "LANGSMITH_API_KEY": "other",
        "PYTHONPATH": "/ours",
        "MEMAUDIT_API_KEY": "given",
        "HTTPS_PROXY": "http://proxy",
    }
    found = child_environment(SYSTEMS["mem0"], variables, "/folder", "key")
    assert found["OPENAI_API_KEY"] == "key"
    assert found["MEM0_TELEMETRY"] == "False"
    assert found["HTTPS_PROXY"] == "http://proxy"
    assert "other" not in found.values()
    assert not {"PYTHONPATH", "MEMAUDIT_API_KEY"} & found.keys()


@pytest.mark.parametrize("system", SYSTEMS)
def test_drivers_import_nothing_of_ours(system: str) -> None:
    for path in (DRIVERS / "serve.py", SYSTEMS[system].driver):
        lines = path.read_text().splitlines()
        assert not [line for line in lines if "import" in line and "memaudit" in line]


def test_serve_runs_without_our_packages(tmp_path: object) -> None:
    command = [sys.executable, "-I", "-S", str(DRIVERS / "serve.py"), str(DRIVERS / "on_mem0.py")]
    done = subprocess.run(command, input="", capture_output=True, text=True, cwd=str(tmp_path))
    assert done.stdout == '{"missing": "mem0"}\n'


def result(*contacted: str) -> ExampleResult:
    return ExampleResult("p", "d", 1, 0, [], {}, 0, [], {}, [], {}, list(contacted))


def test_other_addresses_are_told() -> None:
    store = assemble(
        SYSTEMS["mem0"],
        CaptureSettings("m", "http://127.0.0.1:1"),
        {"versions": {}},
        [result(), result("spy.example:443")],
        {},
        "s",
    )
    told = "the system contacted more than the model's address: spy.example:443"
    assert store.warnings == (told,)


def test_options() -> None:
    assert parse_options(["a=1", "b=true", "c=two words", "d=x=y"]) == {
        "a": 1,
        "b": True,
        "c": "two words",
        "d": "x=y",
    }
    with pytest.raises(MemAuditError, match="write NAME=VALUE"):
        parse_options(["a"])


BLOCK = {"id": "block-1", "label": "human", "value": "Ann swims."}
PASSAGE = {"id": "passage-1", "text": "Ann owns a boat.", "archive_id": "archive-1"}


@pytest.mark.parametrize(
    ("rows", "memories"),
    [([PASSAGE, BLOCK], [("Ann swims.", "human"), ("Ann owns a boat.", "archival")]), ([], [])],
    ids=["both", "nothing written"],
)
def test_core_memory_and_archive_apart(
    rows: list[dict[str, Any]], memories: list[tuple[str, str]], tmp_path: Path
) -> None:
    documents = blocks_and_passages("passages", rows)
    for end, document in documents.items():
        (tmp_path / f"export{end}").write_text(json.dumps(document))
    assert list(documents) == [".json", ".passages.json"]
    store = import_store([tmp_path / f"export{end}" for end in documents], "letta")
    assert [(one.text, one.namespace) for one in store.memories] == memories
    assert single_list("results", rows) == {".json": {"results": rows}}


PROJECT = Path(__file__).parents[3] / "pyproject.toml"


@pytest.mark.parametrize("name", SYSTEMS)
def test_extra(name: str) -> None:
    """The same versions as in the pip line that a missing system is answered with."""
    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    assert sorted(extras[name]) == sorted(SYSTEMS[name].requirements.split())


def test_messages_that_come_late_are_told(run: Run) -> None:
    told = package("p", "a", "b", "c")
    days = ("2024-03-03", "2024-03-02", "2024-03-01")
    experiences = [
        experience.model_copy(update={"timestamp": day})
        for experience, day in zip(told.experiences, days, strict=True)
    ]
    (warning,) = run([told.replace(experiences=tuple(experiences))]).store.warnings
    assert warning.startswith("2 messages are earlier than one before them")


def test_the_clock_is_that_of_the_conversation(run: Run, tmp_path: Path) -> None:
    """What the system dates is dated by the messages, and the same ids come again."""
    told = package("p", "when", "when").replace(
        experiences=tuple(
            one.model_copy(update={"timestamp": f"2023-05-0{at + 1}T10:00"})
            for at, one in enumerate(package("p", "when", "when").experiences)
        )
    )
    first = [memory.text for memory in run([told]).store.active]
    assert [text[:23] for text in first] == ["2023-05-01T10:00:00.000", "2023-05-02T10:00:00.000"]
    (tmp_path / "store.json").unlink()
    shutil.rmtree(tmp_path / "store.json.capture")
    assert [memory.text for memory in run([told]).store.active] == first


def test_what_must_be_given(tmp_path: Path) -> None:
    write_package(package("p", "a"), tmp_path / "p.json")
    base = ("capture", "mem0", "--package", tmp_path / "p.json", "--out", tmp_path / "s.json")
    live = ("--base-url", "http://x", "--model", "m")
    for more, message in (
        ((), "give --base-url, the address of the model, or --replay FILE"),
        (("--base-url", "http://x"), "give --model"),
        (("--replay", tmp_path / "r", "--model", "m"), "--replay has the model and the settings"),
        (("--replay", tmp_path / "r", "--record", tmp_path / "q"), "a replay records nothing"),
        (("--replay", tmp_path / "p.json"), "p.json, line 1: is damaged"),
        ((*live, "--option", "feed=word"), "feed must be message"),
        ((*live, "--option", "clock=sun"), "clock must be"),
        ((*live, "--option", "counts_tokens=1.5"), "counts_tokens must be true, false"),
        ((*live, "--option", "patience=0"), "patience must be above 0 seconds"),
    ):
        assert message in failure(*base, *more), more
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.json"]


def test_a_wall_clock_cannot_be_replayed(tmp_path: Path) -> None:
    settings = CaptureSettings("m", "http://127.0.0.1:1/v1", clock="wall")
    store = capture(NOTEBOOK, [package("p", "a")], settings, tmp_path / "s.json").store
    assert store.origin.configuration["replayable"] is False
    with pytest.raises(MemAuditError, match="recorded with the clock on the wall"):
        capture(
            NOTEBOOK,
            [package("p", "a")],
            settings,
            tmp_path / "t.json",
            calls=CallPlan(replay=tmp_path / "s.json.record.jsonl"),
        )


def test_what_writing_cost(run: Run) -> None:
    """The notebook asks nobody: no calls, and no tokens to report."""
    writing: Any = run([package("p", "a", "b")]).store.origin.configuration["writing"]
    assert (writing["calls"], writing["tokens_in"]) == (0, "not reported")
    assert [row["after"] for row in writing["feedings"]["p"]] == ["", "e0", "e1"]


def test_a_record_is_not_written_over_something_else(run: Run, tmp_path: Path) -> None:
    """Not over notes, not over the store, and not over the calls of an earlier capture."""
    notes = tmp_path / "notes.txt"
    notes.write_text("the only copy")
    settings = CaptureSettings("m", "http://127.0.0.1:1/v1")
    out = tmp_path / "store.json"
    for place, message in ((notes, "is not a record of a capture"), (out, "choose another --rec")):
        with pytest.raises(MemAuditError, match=message):
            capture(NOTEBOOK, [package("p", "a")], settings, out, calls=CallPlan(record=place))
    assert notes.read_text() == "the only copy"
    run([package("p", "a")])
    with pytest.raises(MemAuditError, match='was recorded with model "model", not "m"'):
        capture(
            NOTEBOOK,
            [package("p", "a")],
            settings,
            tmp_path / "t.json",
            calls=CallPlan(record=tmp_path / "store.json.record.jsonl"),
        )


def test_an_example_of_which_every_message_failed_is_not_finished(tmp_path: Path) -> None:
    """Also where it was fed as one session, of which one failure is not three in a row."""
    settings = CaptureSettings("m", "http://127.0.0.1:1/v1", feed="session")
    outcome = capture(NOTEBOOK, [package("p", "raise a", "b")], settings, tmp_path / "s.json")
    assert outcome.broken["p"].startswith("every message failed: RuntimeError")
    assert outcome.results == []


def test_the_store_keeps_its_name_in_a_replay(run: Run, tmp_path: Path) -> None:
    run([package("p", "a")])
    settings = CaptureSettings("", "")
    plan = CallPlan(replay=tmp_path / "store.json.record.jsonl")
    capture(NOTEBOOK, [package("p", "a")], settings, tmp_path / "again.json", calls=plan)
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "store.json").read_bytes()

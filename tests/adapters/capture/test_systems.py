"""A system's process sees a short list of variables."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from memaudit.adapters.capture.capture import assemble
from memaudit.adapters.capture.driver_process import child_environment
from memaudit.adapters.capture.feed_package import ExampleResult
from memaudit.adapters.capture.systems import (
    DRIVERS,
    SYSTEMS,
    CaptureSettings,
    blocks_and_passages,
    parse_options,
    single_list,
)
from memaudit.adapters.registry import import_store
from memaudit.core.errors import MemAuditError


def test_other_keys_and_paths_stay_behind() -> None:
    variables = {
        "PATH": "/bin", "OPENROUTER_API_KEY": "other", "LANGSMITH_API_KEY": "other",
        "PYTHONPATH": "/ours", "MEMAUDIT_API_KEY": "given", "HTTPS_PROXY": "http://proxy",
    }  # fmt: skip
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


@pytest.mark.parametrize(
    ("address", "contacted", "others"),
    [
        ("http://127.0.0.1:80/v1", ["127.0.0.1:80"], None),
        ("http://127.0.0.1:80/v1", ["127.0.0.1:80", "9.9.9.9:443"], "9.9.9.9:443"),
        ("https://api.example/v1", ["api.example:443", "9.9.9.9:443"], None),
        ("https://api.example/v1", ["api.example:443", "spy.example:443"], "spy.example:443"),
    ],
)
def test_other_addresses_are_told(address: str, contacted: list[str], others: str | None) -> None:
    store = assemble(
        SYSTEMS["mem0"], CaptureSettings("m", address), address, {}, [result(*contacted)], {}, "s"
    )
    expected = f"the system contacted more than the model's address: {others}"
    assert store.warnings == ((expected,) if others else ())


def test_options() -> None:
    assert parse_options(["a=1", "b=true", "c=two words", "d=x=y"]) == {
        "a": 1, "b": True, "c": "two words", "d": "x=y",
    }  # fmt: skip
    with pytest.raises(MemAuditError, match="write NAME=VALUE"):
        parse_options(["a"])


BLOCK = {"id": "block-1", "label": "human", "value": "Ann swims."}
PASSAGE = {"id": "passage-1", "text": "Ann owns a boat.", "archive_id": "archive-1"}


def test_one_list() -> None:
    assert single_list("results", [{"id": "1"}]) == {".json": {"results": [{"id": "1"}]}}


def test_core_memory_and_archive_apart(tmp_path: Path) -> None:
    paths = []
    for end, document in blocks_and_passages("passages", [PASSAGE, BLOCK]).items():
        paths.append(tmp_path / f"export{end}")
        paths[-1].write_text(json.dumps(document))
    assert [path.name for path in paths] == ["export.json", "export.passages.json"]
    store = import_store(paths)
    assert [(one.text, one.namespace) for one in store.memories] == [
        ("Ann swims.", "human"),
        ("Ann owns a boat.", "archival"),
    ]
    assert store.warnings == ()


def test_an_agent_that_wrote_nothing(tmp_path: Path) -> None:
    paths = []
    for end, document in blocks_and_passages("passages", []).items():
        paths.append(tmp_path / f"export{end}")
        paths[-1].write_text(json.dumps(document))
    assert import_store(paths, "letta").memories == ()


PROJECT = Path(__file__).parents[3] / "pyproject.toml"


@pytest.mark.parametrize("name", SYSTEMS)
def test_extra(name: str) -> None:
    """The same versions as in the pip line that a missing system is answered with."""
    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    assert sorted(extras[name]) == sorted(SYSTEMS[name].requirements.split())

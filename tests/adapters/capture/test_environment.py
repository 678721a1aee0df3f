"""A system's process sees a short list of variables."""

import subprocess
import sys

import pytest

from memaudit.adapters.capture.capture import assemble
from memaudit.adapters.capture.driver_process import child_environment
from memaudit.adapters.capture.example import ExampleResult
from memaudit.adapters.capture.systems import DRIVERS, SYSTEMS, CaptureSettings, parse_options
from memaudit.core.errors import MemAuditError


def test_other_keys_and_paths_stay_behind() -> None:
    """One key, the one for the address; no tracing, no module path of ours."""
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
    """They run where MemAudit is not installed: the word stands in no import."""
    for path in (DRIVERS / "serve.py", SYSTEMS[system].driver):
        lines = path.read_text().splitlines()
        assert not [line for line in lines if "import" in line and "memaudit" in line]


def test_serve_runs_without_our_packages(tmp_path: object) -> None:
    """An isolated interpreter without site packages can load it."""
    command = [sys.executable, "-I", "-S", str(DRIVERS / "serve.py"), str(DRIVERS / "on_mem0.py")]
    done = subprocess.run(command, input="", capture_output=True, text=True, cwd=str(tmp_path))
    assert done.stdout == '{"missing": "mem0"}\n'


def result(*contacted: str) -> ExampleResult:
    """An empty example that contacted these."""
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
    """What the model's own name resolved to is not another address."""
    store = assemble(
        SYSTEMS["mem0"], CaptureSettings("m", address), address, {}, [result(*contacted)], {}, "s"
    )
    expected = f"the system contacted more than the model's address: {others}"
    assert store.warnings == ((expected,) if others else ())


def test_options() -> None:
    """JSON where it reads as JSON, else text."""
    assert parse_options(["a=1", "b=true", "c=two words", "d=x=y"]) == {
        "a": 1, "b": True, "c": "two words", "d": "x=y",
    }  # fmt: skip
    with pytest.raises(MemAuditError, match="write NAME=VALUE"):
        parse_options(["a"])

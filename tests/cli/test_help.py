"""Help: word for word, quick to print, and named by words that a command does not take."""

import json
import subprocess
import sys

import pytest

from memaudit.cli.main import COMMANDS
from tests.cli.running import done, failure, run
from tests.golden_files import check_golden

HEAVY = ("numpy", "numba", "highspy", "matplotlib", "jinja2", "pydantic", "rich", "hypothesis")
MOST_MODULES = 240
"""Measured: 213 with Python 3.11 and typer 0.29, 61 of them to read entry points."""

PACKAGE = (
    "package validate",
    "package show",
    "package convert",
    "package recost",
    "package schema",
    "package card",
    "study generate",
    "package inspect",
    "package subset",
)
MODEL = tuple(f"model {name}" for name in ("export", "import", "show"))
STUDIES = ("study sensitivity", "study transfer")

PROBE = """
import json, runpy, sys
sys.argv = ["memaudit", "--help"]
try:
    runpy.run_module("memaudit.cli.main", run_name="__main__")
except SystemExit as stop:
    assert not stop.code
print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize(
    "command",
    [
        "",
        *COMMANDS,
        *PACKAGE,
        *MODEL,
        "label annotate",
        "audit agreement",
        *STUDIES,
    ],
)
def test_help(command: str) -> None:
    """Written down in tests/golden/help."""
    name = command.replace(" ", "_") or "memaudit"
    check_golden(f"help/{name}.txt", done(*command.split(), "--help").stdout)


def test_help_imports_little() -> None:
    """No heavy module, and not many of any kind; the module runs as the console script does."""
    probe = [sys.executable, "-c", PROBE]
    ran = subprocess.run(probe, capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.startswith("Usage: ")
    modules = json.loads(ran.stdout.splitlines()[-1])
    assert [name for name in HEAVY if name in modules] == []
    assert len(modules) <= MOST_MODULES


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("frobnicate", "No such command 'frobnicate'; see memaudit --help"),
        ("--frobnicate", "No such option: --frobnicate; see memaudit --help"),
        ("demo --nope", "No such option: --nope; see memaudit demo --help"),
        ("audit frobnicate", "No such command 'frobnicate'; see memaudit audit --help"),
        ("score", "give a PACKAGE and at least one STORE; see memaudit score --help"),
        ("solve p.json --budget", "Option '--budget' requires an argument; see memaudit --help"),
        ("label frame p --seed x", "valid integer"),
        ("serve . --port 70000", "65535"),
    ],
)
def test_words_that_a_command_does_not_take(words: str, line: str) -> None:
    """One line that names its help, and exit code 1."""
    message = failure(*words.split())
    assert message.startswith("error: ")
    assert line in message
    assert message.endswith("--help")


@pytest.mark.parametrize("group", [(), ("audit",), ("reproduce",)])
def test_a_group_alone_shows_its_help(group: tuple[str, ...]) -> None:
    assert run(*group).output == run(*group, "--help").stdout

"""Words that a command does not take: one line that names its help, and exit code 1."""

import pytest

from tests.cli.running import run


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("frobnicate", "No such command 'frobnicate'; see memaudit --help"),
        ("--frobnicate", "No such option: --frobnicate; see memaudit --help"),
        ("demo --nope", "No such option: --nope; see memaudit demo --help"),
        ("audit frobnicate", "No such command 'frobnicate'; see memaudit audit --help"),
        ("score", "Missing argument 'PACKAGE'; see memaudit score --help"),
        ("solve p.json --budget", "Option '--budget' requires an argument; see memaudit --help"),
        ("audit frame p --seed x", "valid integer"),
        ("serve . --port 70000", "65535"),
    ],
)
def test_one_line(words: str, line: str) -> None:
    result = run(*words.split())
    assert (result.exit_code, result.stdout) == (1, "")
    (said,) = result.stderr.splitlines()
    assert said.startswith("error: ")
    assert line in said
    assert said.endswith("--help")


@pytest.mark.parametrize("group", [(), ("audit",), ("reproduce",)])
def test_a_group_alone_shows_its_help(group: tuple[str, ...]) -> None:
    result = run(*group)
    assert "Commands:" in result.stdout + result.stderr

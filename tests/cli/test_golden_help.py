"""The help of every command, word for word."""

import pytest

from memaudit.cli.main import COMMANDS
from tests.cli.running import run
from tests.golden_files import check_golden


@pytest.mark.parametrize("command", [*COMMANDS, "dataset subset", "audit judges"])
def test_help(command: str) -> None:
    """What a command takes is written down in tests/golden/help."""
    result = run(*command.split(), "--help")
    assert result.exit_code == 0
    check_golden(f"help/{command.replace(' ', '_')}.txt", result.stdout)


def test_help_of_all() -> None:
    """The list of commands."""
    check_golden("help/memaudit.txt", run("--help").stdout)

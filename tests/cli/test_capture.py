"""`memaudit capture` on the command line, with the notebook as a system."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from memaudit.kernel.io.packages import write_package
from memaudit.kernel.io.store_file import read_store
from memaudit.lab.capture.systems import SYSTEMS
from memaudit.lab.commands.capture import capture
from tests.lab.capture.test_capture import NOTEBOOK, package

APP = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
APP.command()(capture)


@pytest.fixture(autouse=True)
def notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SYSTEMS, "notebook", NOTEBOOK)


def command(tmp_path: Path, *texts: str, more: tuple[str, ...] = ()) -> Result:
    write_package(package("p\x1b[31m", *texts), tmp_path / "p.json")
    arguments = [
        "notebook",
        "--package",
        str(tmp_path / "p.json"),
        "--base-url",
        "http://127.0.0.1:1/v1",
        "--model",
        "m",
        "--out",
        str(tmp_path / "s.json"),
        *more,
    ]
    return CliRunner().invoke(APP, arguments)


def test_says_what_it_did(tmp_path: Path) -> None:
    """Then does nothing the second time. A package's name cannot steer the terminal."""
    first = command(tmp_path, "a", "b", more=("--option", "shout=true"))
    assert first.exit_code == 0, first.output
    assert first.stdout.endswith("2 memories of 1 package (1 fed now, 0 earlier)\n")
    assert first.stderr == "p\\x1b[31m: 2 messages, 2 memories\n"
    assert [memory.text for memory in read_store(tmp_path / "s.json").active] == ["A", "B"]
    again = command(tmp_path, "a", "b", more=("--option", "shout=true"))
    assert again.stdout.endswith("(0 fed now, 1 earlier)\n")


def test_a_broken_example_is_a_failure(tmp_path: Path) -> None:
    result = command(tmp_path, "a", "die now")
    assert result.exit_code == 1
    assert "warning: incomplete: 1 packages are not in this store" in result.stderr
    assert result.stderr.endswith("incomplete; run the same command again to resume\n")

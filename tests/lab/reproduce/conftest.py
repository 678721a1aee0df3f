"""A small reproduction, made once: everything but the sizes is as in the real one."""

import shlex
import shutil
import socket
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.lab.reproduce.guide import MAKE, check_shown, words_of
from tests.once import made_once

OPTIONS = shlex.split(MAKE.command)[3:-2]
"""As the page has them, without the folder."""


def no_network(*_: object, **__: object) -> None:
    """Stands where sockets are made."""
    raise AssertionError("a socket was opened")


def make(folder: Path) -> None:
    """What the guide says, and prints."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("socket", "create_connection", "getaddrinfo", "socketpair"):
            patch.setattr(socket, name, no_network)
        patch.setenv("SOURCE_DATE_EPOCH", "86400")
        result = run(*words_of(MAKE, folder))
    # Three seeds are not the paper's 500, so some numbers differ, and the command says so.
    assert result.exit_code == 1, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    check_shown(MAKE, result.output, folder)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made by the guide's command in a process that cannot open a socket meanwhile."""
    return made_once(tmp_path_factory, "reproduction", make)


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Path:
    """The small reproduction, to be tampered with."""
    shutil.copytree(finished, tmp_path / "all")
    return tmp_path / "all"

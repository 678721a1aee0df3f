"""Things in place of a file that are no file, or a file with a hostile inside."""

import gzip
import io
import os
import socket
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hardening.box import Box
from tests.hardening.targets import Target, all_targets

pytestmark = pytest.mark.slow

MEGABYTE, MEGABYTES = bytes(1 << 20), 300
"""What an archive unpacks to."""


def _archives() -> dict[str, bytes]:
    """A gzip, a zip and a tar of a file that is large and of one that lies elsewhere."""
    packed = gzip.compress(MEGABYTE, mtime=0) * MEGABYTES  # one member after another
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../escaped.json", "{}")
        with archive.open("p.json", "w") as entry:
            for _ in range(MEGABYTES):
                entry.write(MEGABYTE)
    tarred = io.BytesIO()
    with tarfile.open(fileobj=tarred, mode="w:gz") as tar:
        tar.addfile(tarfile.TarInfo("../../escaped.json"), io.BytesIO())
    return {
        "gzip bomb": packed,
        "zip bomb": zipped.getvalue(),
        "tar that climbs": tarred.getvalue(),
    }


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's path must be short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b'{"a": "')
        file.truncate(600 << 20)


def _ring(path: Path) -> None:
    """A folder that contains itself."""
    path.mkdir()
    (path / "again").symlink_to(path)


SPECIAL: dict[str, Callable[[Path], object]] = {
    "named pipe": os.mkfifo,
    "link to itself": lambda path: path.symlink_to(path.name),
    "link to nothing": lambda path: path.symlink_to("gone"),
    "endless device": lambda path: path.symlink_to("/dev/zero"),
    "empty device": lambda path: path.symlink_to("/dev/null"),
    "folder": lambda path: path.mkdir(),
    "folder in itself": _ring,
    "link up": lambda path: path.symlink_to(".."),
    "socket": _socket,
    "600 megabytes": _sparse,
    "no permission": lambda path: path.touch(mode=0),
    **{
        name: (lambda path, data=data: path.write_bytes(data))  # type: ignore[misc]
        for name, data in _archives().items()
    },
}
"""By what it is; each makes one at a path where nothing is."""


@pytest.mark.parametrize("target", all_targets(), ids=lambda target: target.name)
def test_in_place_of_a_file(target: Target, box: Box) -> None:
    for number, (kind, make) in enumerate(SPECIAL.items()):
        name = target.attacked[number % len(target.attacked)]

        def write(folder: Path) -> None:
            target.write(folder)
            (folder / name).unlink()  # noqa: B023
            make(folder / name)  # noqa: B023

        try:
            box.run(write, target.commands)
        except AssertionError as error:
            raise AssertionError(f"{kind} in place of {name}: {error}") from None


PATHS = ("n" * 300, "gone", "gone/deeper", "loop", "loop/deeper", "pipe", "file/deeper", "d" * 4200)


@pytest.mark.parametrize("target", all_targets(), ids=lambda target: target.name)
def test_paths_that_lead_nowhere(target: Target, box: Box) -> None:

    def write(folder: Path) -> None:
        target.write(folder)
        (folder / "loop").symlink_to("loop")
        SPECIAL["named pipe"](folder / "pipe")
        (folder / "file").write_bytes(b"{}")

    command = target.commands[0]
    for place, word in enumerate(command):
        if not word.startswith("{in}"):
            continue
        bent = [(*command[:place], f"{{in}}/{path}", *command[place + 1 :]) for path in PATHS]
        box.run(write, bent)

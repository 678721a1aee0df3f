"""Things in place of a file that are no file, or a file with a hostile inside."""

import gzip
import io
import os
import shutil
import socket
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hardening.box import Box
from tests.hardening.targets import Target, all_targets

pytestmark = pytest.mark.slow

BOMB = 300 << 20
"""Bytes that an archive unpacks to."""


def _zeros(count: int) -> io.BufferedReader:
    class Zeros(io.RawIOBase):
        left = count

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
            size = min(len(buffer), self.left)
            buffer[:size] = bytes(size)
            self.left -= size
            return size

    return io.BufferedReader(Zeros(), 1 << 20)


def _archives() -> dict[str, bytes]:
    """A gzip, a zip and a tar of a file that is large and of one that lies elsewhere."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
        shutil.copyfileobj(_zeros(BOMB), file, 1 << 20)
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../escaped.json", "{}")
        with archive.open("p.json", "w") as entry:
            shutil.copyfileobj(_zeros(BOMB), entry, 1 << 20)
    tarred = io.BytesIO()
    with tarfile.open(fileobj=tarred, mode="w:gz") as tar:
        tar.addfile(tarfile.TarInfo("../../escaped.json"), io.BytesIO())
    return {"gzip bomb": packed.getvalue(), "zip bomb": zipped.getvalue(),
            "tar that climbs": tarred.getvalue()}  # fmt: skip


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
    step = 3 if target.name.startswith("library") else 1  # those take a second each
    for number, (kind, make) in list(enumerate(SPECIAL.items()))[::step]:
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

"""Pipes, devices, loops and archives in place of files: refused, never waited for or unpacked."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hardening.box import Box
from tests.hardening.special import SPECIAL
from tests.hardening.targets import Target, all_targets


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    made = Box(tmp_path_factory.mktemp("special") / "around" / "box")
    yield made
    made.close()


@pytest.mark.parametrize("target", all_targets(), ids=lambda target: target.name)
def test_in_place_of_a_file(target: Target, box: Box) -> None:
    """Each kind in place of one file, of each file in turn."""
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
    """In place of each path on the command line."""

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

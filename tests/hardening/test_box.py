"""The box itself: what it must notice, it notices."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hardening.box import Box, Ended, Hostile, wrong_with

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    made = Box(tmp_path_factory.mktemp("box") / "around" / "box", seconds=5)
    yield made
    made.close()


def write(folder: Path) -> None:
    """A file to be read."""
    (folder / "file").write_bytes(b"x")


@pytest.mark.parametrize(
    ("reader", "noticed"),
    [("traceback", "KeyError"), ("waits", "hangs"), ("dies", "died with -6"),
     ("grows", "ran out of memory"), ("reads-elsewhere", "reads /etc/passwd"),
     ("climbs", "writes .*escaped"), ("runs-code", "os.system"), ("leaves", "files were left")],
)  # fmt: skip
def test_it_notices(box: Box, reader: str, noticed: str) -> None:
    """And works again afterwards."""
    with pytest.raises(Hostile, match=noticed):
        box.run(write, [[f"reader:{reader}", "{in}/file"]])
    (ended,) = box.run(write, [["reader:fine", "{in}/file"]])
    assert ended.err.splitlines() == ["invalid package package: 2 problems", "  wrong", "  worse"]


@pytest.mark.parametrize(
    ("ended", "wrong"),
    [
        (Ended(0, "done", "", "", []), ""),
        (Ended(1, "", "error: x.json: is a folder\n", "", []), ""),
        (Ended(1, "REFUSED  p: no proof\n", "", "", []), ""),
        (Ended(1, "", "", "", []), "without a word"),
        (Ended(2, "", "error: x", "", []), "exit code 2"),
        (Ended(1, "", "error: x\nerror: y\n", "", []), "error: y"),
        (Ended(1, "", "x", "", []), "'x'"),
        (Ended(1, "", "error: \x1b[31m", "", []), "steer a terminal"),
        (Ended(1, "", "error: " + "x" * 2000, "", []), "a line of 2007 letters"),
        (Ended(1, "", "invalid package p: 3 problems\n  one\n", "", []), "3 problems in 1"),
    ],
)
def test_what_is_wrong_with_an_end(ended: Ended, wrong: str) -> None:
    """One line or a counted result, or it is named."""
    found = wrong_with(ended)
    assert wrong in found
    assert bool(found) == bool(wrong)

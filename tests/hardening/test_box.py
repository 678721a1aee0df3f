"""The box itself: what it must notice, it notices."""

from pathlib import Path

import pytest

from tests.hardening.box import Box, Ended, Hostile, wrong_with

pytestmark = pytest.mark.slow


def write(folder: Path) -> None:
    (folder / "file").write_bytes(b"x")


@pytest.mark.parametrize(
    ("reader", "noticed"),
    [
        ("traceback", "KeyError"),
        ("waits", "hangs"),
        ("dies", "died with -6"),
        ("grows", "ran out of memory"),
        ("reads-elsewhere", "reads /etc/passwd"),
        ("climbs", "writes .*escaped"),
        ("runs-code", "os.system"),
        ("leaves", "files were left"),
    ],
)
def test_it_notices(box: Box, reader: str, noticed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And works again afterwards."""
    monkeypatch.setattr(box, "seconds", 5.0)
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

"""A folder that a killed process had begun to replace, and several processes at once."""

import subprocess
import sys
from pathlib import Path

import pytest

from memaudit.kernel.io import atomic
from memaudit.kernel.io.atomic import exchange, write_folder
from tests.hardening.box import ROOT

WRITER = """
import sys
from pathlib import Path
from memaudit.kernel.io.atomic import write_file
place, who = Path(sys.argv[1]), sys.argv[2]
for number in range(60):
    write_file(place / "f", who * 5000)
"""


def test_many_writers_of_one_path(tmp_path: Path) -> None:
    """Each write is whole, none fails, and nothing is left."""
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, tmp_path, who], cwd=ROOT) for who in "xyz"
    ]
    assert [one.wait(60) for one in writers] == [0, 0, 0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f"]
    assert (tmp_path / "f").read_text() in {who * 5000 for who in "xyz"}


def test_two_folders_change_places(tmp_path: Path) -> None:
    """In one step where the system can; a missing one is an error."""
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "is").write_text(name)
    if not exchange(tmp_path / "one", tmp_path / "other"):
        pytest.skip("this system or file system has no such step")
    assert (tmp_path / "one" / "is").read_text() == "other"
    assert (tmp_path / "other" / "is").read_text() == "one"
    with pytest.raises(OSError, match="No such file"):
        exchange(tmp_path / "one", tmp_path / "gone")


def test_killed_between_two_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without that step: the old folder stands beside, and the next write brings it back."""
    monkeypatch.setattr(atomic, "exchange", lambda *_: False)
    old = tmp_path / ".g.old-part"
    old.mkdir()
    (old / "a").write_text("old")
    write_folder(tmp_path / "g", {"a": "new"}, ("a",))
    assert [path.name for path in tmp_path.iterdir()] == ["g"]
    assert (tmp_path / "g" / "a").read_text() == "new"

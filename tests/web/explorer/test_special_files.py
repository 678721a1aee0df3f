"""Pipes and devices in place of files are listed as unreadable, and never waited for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

NAMES = ("run.json", "frame.json", "package.json", "manifest.json")


@pytest.mark.parametrize("sort", ["pipe", "device"])
def test_bundle_ends(tmp_path: Path, sort: str) -> None:
    """In a process of its own: what hangs is killed, and fails."""
    for number, name in enumerate(NAMES):
        folder = tmp_path / "in" / f"thing{number}"
        folder.mkdir(parents=True)
        if sort == "pipe":
            os.mkfifo(folder / name)
        else:
            (folder / name).symlink_to("/dev/zero")
    command = [sys.executable, "-m", "memaudit.cli.main", "bundle", str(tmp_path / "in")]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "site")], capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1)

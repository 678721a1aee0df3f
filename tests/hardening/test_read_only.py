"""Folders that may not be written: one line that says which, exit code 1, and nothing is left."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from memaudit.models.cache import Cache
from tests.cli.running import done, run


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nobody may write to it. Root may write anywhere, except to a read-only mount."""
    if os.geteuid() != 0:
        folder.chmod(0o555)
        try:
            yield
        finally:
            folder.chmod(0o755)
        return
    for how in (["--bind", str(folder)], ["-o", "remount,ro,bind"]):
        made = subprocess.run(["mount", *how, str(folder)], capture_output=True, check=False)
        if made.returncode:
            subprocess.run(["umount", folder], capture_output=True, check=False)
            pytest.skip("root may write anywhere, and cannot mount a folder read-only here")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def refused(*command: object) -> str:
    """The last line of a command that fails, the only one that is an error."""
    result = run(*command)
    assert result.exit_code == 1, result.output
    lines = result.stderr.splitlines()
    assert [line for line in lines if line.startswith("error: ")] == lines[-1:]
    return lines[-1]


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
    }


def test_read_only_folders(tmp_path: Path) -> None:
    """New files and old ones: runs, stores, packages, certificates, frames, caches, sites."""
    place, package = tmp_path / "place", tmp_path / "package.json"
    place.mkdir()
    write_package(short_set()[0], package)
    rows = tmp_path / "rows.jsonl"
    rows.write_text("")
    chat = tmp_path / "chat.jsonl"
    chat.write_text('{"conversation": "c"}\n{"id": "t", "speaker": "Ann", "text": "I moved."}\n')
    export = tmp_path / "export.json"
    export.write_text('{"results": [{"id": "1", "memory": "Ann moved.", "user_id": "u"}]}')
    asks = (
        "build",
        chat,
        "--model m --out",
        tmp_path / "built",
        "--set model.yes=true --set model.base_url=http://127.0.0.1:9/v1 --set",
    )
    running = ("run --packages", package, "--writers gvt --budgets 10 --out")
    done(*running, place / "old")
    Cache(place / "cache").close()
    commands = [
        (*running, place / "new"),
        ("report", place / "old"),
        (*running, place / "new" / "er"),
        ("serve", place / "old", "--out", place / "site"),
        ("import", export, "--out", place / "store.json"),
        ("package", "convert", package, place / "package"),
        ("package", "convert", package, place / "p.json"),
        ("solve", package, "--budget", "10", "--certificate", place / "certificate.json"),
        ("frontier", package, "--max-budget", "3", "--out", place / "frontier.json"),
        ("diagnose", package, "--budget", "10", "--writer", "gvt", "--out", place / "diagnosis"),
        ("label", "frame", package, "--out", place / "frame"),
        ("demo", "--out", place / "demo"),
        (*asks, f"model.cache={place / 'cache'}"),
        (*asks, f"model.cache={place / 'new-cache'}"),
        ("model", "show", "--set", f"model.cache={place / 'cache'}"),
        ("model", "import", rows, "--set", f"model.cache={place / 'cache'}"),
    ]
    before = tree(place)
    with read_only(place):
        for command in commands:
            said = refused(*command)
            assert str(place) in said
            assert "that you may write to" in said
    assert tree(place) == before

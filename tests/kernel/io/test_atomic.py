"""Writes happen as a whole or not at all; paths beside a file."""

import os
from pathlib import Path

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io import atomic
from memaudit.kernel.io.files import beside
from memaudit.kernel.io.packages import read_package, write_package
from memaudit.kernel.package.package import Package


@pytest.mark.parametrize("target", ["p.json", "p"])
def test_a_failed_write_leaves_the_old_package(
    tiny: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """A full disk in the middle of a write changes nothing and leaves nothing behind."""
    write_package(tiny, tmp_path / target)

    def full(descriptor: int) -> None:  # noqa: ARG001
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(MemAuditError, match="No space left on device"):
        write_package(tiny.replace(name="new"), tmp_path / target)
    assert read_package(tmp_path / target) == tiny
    assert [path.name for path in tmp_path.iterdir()] == [target]


def test_a_failed_swap_puts_the_old_folder_back(
    tiny: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no single step can do it: the old folder returns when the new one fails to come."""
    monkeypatch.setattr(atomic, "exchange", lambda *_: False)
    write_package(tiny, tmp_path / "p")
    rename = Path.rename

    def refuse_new(self: Path, target: Path) -> Path:
        if ".new-" in self.name:
            raise OSError(1, "Operation not permitted")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse_new)
    with pytest.raises(MemAuditError, match="not permitted"):
        write_package(tiny.replace(name="new"), tmp_path / "p")
    assert read_package(tmp_path / "p") == tiny
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


def test_foreign_folders_are_not_overwritten(tiny: Package, tmp_path: Path) -> None:
    """A folder with anything else in it is left alone; an empty one is taken."""
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(MemAuditError, match=r"holds 'notes.txt', which is not part of a package"):
        write_package(tiny, tmp_path)
    (tmp_path / "empty").mkdir()
    write_package(tiny, tmp_path / "empty")
    assert read_package(tmp_path / "empty") == tiny


def test_kinds_of_target_are_not_confused(tiny: Package, tmp_path: Path) -> None:
    (tmp_path / "x.json").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(MemAuditError, match="it is a folder, a file was expected"):
        write_package(tiny, tmp_path / "x.json")
    with pytest.raises(MemAuditError, match="it is a file, a folder was expected"):
        write_package(tiny, tmp_path / "file")
    with pytest.raises(MemAuditError, match="No such file or directory"):
        write_package(tiny, tmp_path / "no" / "p.json")


def test_unwritable_attributes_are_one_line(tiny: Package, tmp_path: Path) -> None:
    """What JSON cannot hold is refused before anything is written."""
    package = tiny.model_copy(update={"attributes": {"x": float("nan")}})
    for target in ("p.json", "p"):
        with pytest.raises(MemAuditError, match="which JSON cannot"):
            write_package(package, tmp_path / target)
    assert list(tmp_path.iterdir()) == []


def test_files_have_usual_permissions(tmp_path: Path) -> None:
    umask = os.umask(0o022)
    try:
        atomic.write_file(tmp_path / "x", "x")
    finally:
        os.umask(umask)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("out/x.csv", "out/x.csv-b"),
        ("build", "build-b"),
        (".hidden", ".hidden-b"),
        ("a.tar/x", "a.tar/x-b"),
    ],
)
def test_beside(path: str, expected: str) -> None:
    """After the whole name, or in place of the ending."""
    assert beside(Path(path), "-b") == Path(expected)
    assert beside(Path("out/x.csv"), "-b", stem=True) == Path("out/x-b")


def test_beside_a_folder_without_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "in" / "deep")
    assert beside(Path(), "-b") == tmp_path / "in" / "deep-b"
    assert beside(Path(".."), "-b") == tmp_path / "in-b"

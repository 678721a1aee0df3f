"""Paths of files."""

from pathlib import Path

import pytest

from memaudit.io.files import beside


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
    """The folder one is in has a name as well."""
    (tmp_path / "in" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "in" / "deep")
    assert beside(Path(), "-b") == tmp_path / "in" / "deep-b"
    assert beside(Path(".."), "-b") == tmp_path / "in-b"

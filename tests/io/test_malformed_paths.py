"""Broken one-file packages and paths that hold no package at all."""

import os
from pathlib import Path

import pytest

from memaudit.io import files
from memaudit.io.packages import problems_at

HEAD = '"format": "memaudit-package", "version": 1, "name": "p"'

FILES: list[tuple[str, list[str]]] = [
    ("", ["p.json:1: is not valid JSON: Expecting value at column 1"]),
    ("[1]", ["p.json: is not a package: it holds a list"]),
    ("3", ["p.json: is not a package: it holds a number"]),
    (
        '{"a": 1}',
        [
            'p.json: is not a package: it lacks the line "format": "memaudit-package" '
            "(see memaudit schema)"
        ],
    ),
    (
        f'{{{HEAD}, "experiences": 5, "candidates": []}}',
        [
            "p.json: the table 'experiences' is a number (a list was expected)",
            "p.json: the table 'units' is missing (a list was expected)",
        ],
    ),
    (
        f'{{{HEAD},\n"experiences": [{{"id": "e1"}},\n 7],\n"candidates": [], "units": []}}',
        ["p.json:3: experiences[1] is a number (an object was expected)"],
    ),
    (
        f'{{{HEAD},\n"experiences": [\n  {{\n    "id": "e1"}},\n  {{"id": "e1"}}],\n'
        '"candidates": [], "units": [{"id": "u", "kind": "fact", "weight": -1}]}',
        [
            "p.json:5: 'e1' is a duplicate id, first used in line 3 (ids are unique in a table)",
            "p.json:6: 'u' has a negative weight (weights are 0 or more)",
        ],
    ),
    (
        f'{{{HEAD},\n"budgets": [NaN],\n"experiences": [\n{{"id": "e", "id": "f"}}],'
        '\n"candidates": [], "units": []}',
        [
            "p.json:2: NaN is not a number a package can hold",
            "p.json:4: the key 'id' appears twice in one object",
        ],
    ),
    (
        f'{{{HEAD}, "units": [], "units": []}}',
        ["p.json:1: the key 'units' appears twice in one object"],
    ),
    (f'{{{HEAD}, "experiences": [' + "[" * 99999, ["p.json:1: nests deeper than 64 levels"]),
]


@pytest.mark.parametrize(("text", "expected"), FILES)
def test_one_file_problems_have_lines(tmp_path: Path, text: str, expected: list[str]) -> None:
    """The one-file form points at lines too."""
    (tmp_path / "p.json").write_text(text)
    assert [str(problem) for problem in problems_at(tmp_path / "p.json")] == expected


def lines(path: Path) -> list[str]:
    return [str(problem) for problem in problems_at(path)]


def test_paths_that_hold_no_package(tmp_path: Path) -> None:
    """Missing, empty, foreign and special paths each say what they are."""
    assert lines(tmp_path / "no") == ["no: does not exist (check the path)"]
    (tmp_path / "d").mkdir()
    assert lines(tmp_path / "d") == ["d: is an empty folder (a package was expected)"]
    (tmp_path / "d" / "x.txt").write_text("x")
    assert lines(tmp_path / "d") == [
        "d: is not a package folder "
        "(expected manifest.json, or the files of the published artifact)"
    ]
    (tmp_path / "x" / "manifest.json").mkdir(parents=True)
    assert lines(tmp_path / "x") == ["manifest.json: is a folder (a file was expected)"]
    os.mkfifo(tmp_path / "pipe")
    assert lines(tmp_path / "pipe") == ["pipe: is not a regular file (give a file on disk)"]
    assert lines(tmp_path / ("n" * 300)) == [f"{'n' * 300}: cannot be read: File name too long"]
    (tmp_path / "loop").symlink_to("loop")
    assert lines(tmp_path / "loop")[0].startswith("loop: cannot be read: Too many levels")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_paths(tmp_path: Path) -> None:
    """No permission is a problem, not a traceback."""
    (tmp_path / "p.json").write_text("{}")
    (tmp_path / "p.json").chmod(0)
    assert lines(tmp_path / "p.json") == ["p.json: cannot be read: Permission denied"]


def test_large_files_are_refused(tmp_path: Path) -> None:
    """More than the limit is refused by its size, before reading (the file is sparse)."""
    with (tmp_path / "p.json").open("wb") as file:
        file.truncate(files.MAX_BYTES + 1)
    assert lines(tmp_path / "p.json") == [
        "p.json: is too large: 536870913 bytes, at most 536870912 are read (split the package)"
    ]

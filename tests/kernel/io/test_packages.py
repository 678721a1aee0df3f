"""Every form on disk gives the same package back, number for number."""

import json
import os
import tempfile
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io import files
from memaudit.kernel.io.packages import (
    package_schema,
    problems_at,
    read_package,
    read_packages,
    schema_text,
    write_package,
)
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Package
from tests.published_layout import write_artifact
from tests.strategies import packages


@given(packages())
@settings(max_examples=20)
def test_every_form_round_trips(package: Package) -> None:
    """One file, folder and published layout; writing again over the old one too."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for target in ("p.json", "p"):
            write_package(package, place / target)
            write_package(package, place / target)
            assert read_package(place / target) == package
        other = package.replace(name="other")
        write_artifact([package, other], place / "a")
        found = read_packages(place / "a")
        assert [digest(one) for one in found] == [digest(package), digest(other)]
        assert found == [package, other]
        assert sorted(path.name for path in place.iterdir()) == ["a", "p", "p.json"]


def test_both_weights_are_recorded(tiny: Package, tmp_path: Path) -> None:
    write_package(tiny, tmp_path / "p")
    rows = (tmp_path / "p" / "units.jsonl").read_text().splitlines()
    assert rows == [
        '{"id": "u1", "kind": "fact", "weight": 2, "query_weight": 0}',
        '{"id": "u2", "kind": "current", "query_weight": 1}',
    ]


def test_one_package_expected(tiny: Package, tmp_path: Path) -> None:
    write_artifact([tiny, tiny.replace(name="b")], tmp_path / "a")
    with pytest.raises(MemAuditError, match="holds 2 packages"):
        read_package(tmp_path / "a")


CHECKED_IN = Path(__file__).parents[3] / "schema" / "package.schema.json"
VALIDATOR = jsonschema.Draft202012Validator(package_schema())


def test_schema_is_up_to_date() -> None:
    """`make schema` writes it again."""
    assert CHECKED_IN.read_text() == schema_text()
    jsonschema.Draft202012Validator.check_schema(package_schema())


@given(packages())
@settings(max_examples=25)
def test_written_packages_satisfy_it(package: Package) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_package(package, Path(folder) / "p.json")
        VALIDATOR.validate(json.loads((Path(folder) / "p.json").read_text()))


@pytest.mark.parametrize("change", [{"version": 2}, {"more": 1}, {"group_cap": 0}, {"units": 3}])
def test_it_refuses_what_reading_refuses(
    tiny: Package, tmp_path: Path, change: dict[str, object]
) -> None:
    write_package(tiny, tmp_path / "p.json")
    document = json.loads((tmp_path / "p.json").read_text())
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate({**document, **change})


HEAD = '"format": "memaudit-package", "version": 1, "name": "p"'

FILES: list[tuple[str, list[str]]] = [
    ("", ["p.json:1: is not valid JSON: Expecting value at column 1"]),
    ("[1]", ["p.json: is not a package: it holds a list"]),
    ("3", ["p.json: is not a package: it holds a number"]),
    (
        '{"a": 1}',
        [
            'p.json: is not a package: it lacks the line "format": "memaudit-package" '
            "(a conversation becomes one by memaudit build)"
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
        f'{{{HEAD},\n"attributes": {{"a": [1],\n"b": 2}}, "experiences": [],\n"group_cap" : NaN}}',
        ["p.json:4: NaN is not a number a package can hold"],
    ),
    (
        f'{{{HEAD}, "units": [], "units": []}}',
        ["p.json:1: the key 'units' appears twice in one object"],
    ),
    (f'{{{HEAD}, "experiences": [' + "[" * 99999, ["p.json:1: nests deeper than 64 levels"]),
]


@pytest.mark.parametrize(("text", "expected"), FILES)
def test_one_file_problems_have_lines(tmp_path: Path, text: str, expected: list[str]) -> None:
    (tmp_path / "p.json").write_text(text)
    assert lines(tmp_path / "p.json") == expected


def lines(path: Path) -> list[str]:
    return [str(problem) for problem in problems_at(path)]


def test_paths_that_hold_no_package(tmp_path: Path) -> None:
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
    (tmp_path / "p.json").write_text("{}")
    (tmp_path / "p.json").chmod(0)
    assert lines(tmp_path / "p.json") == ["p.json: cannot be read: Permission denied"]


def test_large_files_are_refused(tmp_path: Path) -> None:
    """More than the limit is refused by its size, before reading (the file is sparse)."""
    with (tmp_path / "p.json").open("wb") as file:
        file.truncate(files.MAX_BYTES + 1)
    assert lines(tmp_path / "p.json") == [
        "p.json: is too large: 536870913 bytes, at most 536870912 are read (split it)"
    ]

"""What cannot be compared is refused in one line; what is not known is left alone."""

from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.score.score_files import read_scores
from tests.show.board.scores import row, write


def refused(folder: Path) -> str:
    with pytest.raises(MemAuditError) as caught:
        read_scores(folder)
    line = str(caught.value)
    assert "\n" not in line
    return line


def test_reads_all(tmp_path: Path) -> None:
    """Every file of the folder; other JSON is counted, other files are not looked at."""
    write(tmp_path, "p", row("a", "1/2"), row("b", "1/4"))
    write(tmp_path, "q", row("a", "3/4"), added_later={"x": 1})
    (tmp_path / "store.json").write_text('{"format": "memaudit-store"}')
    (tmp_path / "page.html").write_text("x")
    found = read_scores(tmp_path)
    assert found.packages == ("p", "q")
    assert [(entry.package, entry.row.store, entry.row.score) for entry in found.entries] == [
        ("p", "a", 0.5),
        ("p", "b", 0.25),
        ("q", "a", 0.75),
    ]
    assert (found.judges, found.is_estimate, found.cost_rule) == (
        ("labels people",),
        False,
        "words",
    )
    assert found.skipped == ("store.json",)


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ({}, {"judge": "lexical", "coverage_is_an_estimate": True}, "the judge 'lexical'"),
        ({}, {"judge": "model other"}, "the judge 'model other'"),
        ({"judge": "model one"}, {"judge": "model two"}, "'model two'"),
        ({}, {"cost_rule": "bytes"}, "the cost rule 'bytes'"),
    ],
)
def test_mixed_files(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], words: str
) -> None:
    """Another judge, another model or another cost rule cannot be compared."""
    write(tmp_path, "p", row("a", "1/2"), **first)
    write(tmp_path, "q", row("a", "1/2"), **second)
    assert words in refused(tmp_path)


def test_a_label_file_a_package(tmp_path: Path) -> None:
    """Labels of each package come from a file of its own: that is one kind of judge."""
    write(tmp_path, "p", row("a", "1/2"), judge="labels one")
    write(tmp_path, "q", row("a", "1/2"), judge="labels two")
    assert read_scores(tmp_path).judges == ("labels one", "labels two")


def test_another_union(tmp_path: Path) -> None:
    """Stores scored apart have other denominators."""
    write(tmp_path, "p", row("a", "1/2"))
    write(tmp_path, "p2", row("b", "1/2"), package="p", digest="package p")
    assert "over different unions" in refused(tmp_path)


def test_same_name_other_package(tmp_path: Path) -> None:
    """Two packages of one name are distinguished by digest."""
    for file, digest in (("one", "1234567890"), ("two", "abcdefghij")):
        write(tmp_path, file, row("a", "1/2"), package="p", digest=digest)
    assert read_scores(tmp_path).packages == ("p (12345678)", "p (abcdefgh)")


def test_twice(tmp_path: Path) -> None:
    """A copy of a file would count a package twice."""
    path = write(tmp_path, "p", row("a", "1/2"))
    (tmp_path / "copy.json").write_text(path.read_text())
    assert "a second score" in refused(tmp_path)


def test_wrong_numbers(tmp_path: Path) -> None:
    """Shares that do not add up, and ratios no store can have."""
    bad = row("a", "1/2")
    bad["diagnosis"]["kept"] = "1/3"
    write(tmp_path, "p", bad)
    assert "do not sum to 1" in refused(tmp_path)
    high = row("a", "1/2")
    high["score"] = 1.2
    write(tmp_path, "p", high)
    assert "score" in refused(tmp_path)


def test_an_earlier_version(tmp_path: Path) -> None:
    """Its numbers were others: score again."""
    write(tmp_path, "p", row("a", "1/2"), version=1)
    assert "score the stores again" in refused(tmp_path)


@pytest.mark.parametrize("text", ["{", '{"scores": 1, "judge": "x"}', "[" * 100_000])
def test_damaged(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.json").write_text(text)
    assert refused(tmp_path).startswith("p.json: ")


def test_nothing_there(tmp_path: Path) -> None:
    assert "contains neither board.json nor scores" in refused(tmp_path)
    assert "not a folder" in refused(tmp_path / "x")

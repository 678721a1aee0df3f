"""`memaudit package inspect` and `subset`: what they print, and how they fail."""

from pathlib import Path

import pytest

from memaudit.conversations.records import REMEDIES
from memaudit.conversations.registry import LOADERS
from memaudit.conversations.subset import read_subset
from memaudit.conversations.transcripts import dataset_hash
from tests.cli.running import done, failure, printed_json, run
from tests.conversations.files import FIXTURES, kinds, load


def test_inspect() -> None:
    """Format, hash, counts, and every kind of irregularity with its number."""
    path = FIXTURES["locomo"]
    result = run("package", "inspect", path)
    assert (result.exit_code, result.stderr) == (0, "")
    first, second, *rest = result.stdout.splitlines()
    assert first == f"{path}  format locomo (guessed from the content)"
    assert second == f"sha256 {dataset_hash(path)}"
    lines = [line.strip() for line in rest]
    for line in (
        "1  conversations",
        "3  sessions",
        "6  turns",
        "17  words",
        "7  questions",
        "2    adversarial",
        "1  abstentions",
        "12  evidence references as listed",
        "6  evidence turns",
        "7  representations",
        "3    observation",
        "23  irregularities",
    ):
        assert line in lines
    for what, number in kinds(load("locomo")).items():
        (line,) = [line for line in lines if line.startswith(f"{number}    {what} (")]
        assert f"({REMEDIES[what]}), first in conv-a, " in line


@pytest.mark.parametrize("format", LOADERS)
def test_inspect_every_format(format: str) -> None:
    data = printed_json("package inspect", FIXTURES[format])
    assert (data["format"], data["sha256"]) == (format, dataset_hash(FIXTURES[format]))
    assert data["irregularity_counts"] == kinds(load(format))
    assert len(data["irregularities"]) == sum(kinds(load(format)).values())
    named = printed_json("package inspect", format, FIXTURES[format])
    assert (data.pop("guessed"), named.pop("guessed")) == (True, False)
    assert named == data


def test_inspect_fails_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('[{"haystack_sessions": [')
    assert failure("package", "inspect", tmp_path / "no.json") == (
        "error: no.json: does not exist (check the path)"
    )
    assert failure("package", "inspect", tmp_path / "x.json") == (
        "error: x.json: the file ends in the middle of a value; it was cut off (at byte 24)"
    )
    assert failure("package", "inspect", "pdf", tmp_path / "x.json") == (
        f"error: pdf: is neither a file nor a format; known formats: {', '.join(LOADERS)}"
    )


def test_subset(tmp_path: Path) -> None:
    """7 questions of 6 kinds: 3 are taken, the same each time."""
    out = tmp_path / "s.json"
    words = ("package", "subset", FIXTURES["locomo"], "--size", 3, "--seed", 4)
    result = done(*words, "--out", out)
    chosen = read_subset(out)
    first, *strata = result.stdout.splitlines()
    assert first == f"wrote 3 questions to {out}  subset {chosen.sha256[:16]}"
    # Shares are 2 * 3/7 for the adversarial pair and 3/7 for the others: ties by name.
    assert [line.strip() for line in strata] == [
        "1 of 2  adversarial",
        "1 of 1  multi-hop",
        "1 of 1  open-domain",
        "0 of 1  single-hop",
        "0 of 1  temporal",
        "0 of 1  unknown",
    ]
    before = out.read_text()
    done(*words, "--out", out, "--by", "kind")
    assert out.read_text() == before
    assert failure("package", "subset", FIXTURES["locomo"], "--size", 9, "--out", out) == (
        "error: cannot take 9 of 7 questions; give a size from 1 to 7"
    )

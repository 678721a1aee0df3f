"""`memaudit audit ratios` on the shipped set: passes, label files of a frame, stores."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from memaudit.building.label_passes import label_passes
from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from tests.cli.running import done, failure, printed_json, run

WRITERS = ("--writer", "gvt", "--writer", "estimated_gvt", "--writer", "recency_raw")
LABELS = {"1": "full", "0.5": "partial", "0": "none"}


@pytest.fixture
def packages(tmp_path: Path) -> list[Path]:
    paths = []
    for package in short_set()[:3]:
        paths.append(tmp_path / f"{package.name}.json")
        write_package(package, paths[-1])
    return paths


def frame_of(packages: list[Path], folder: Path) -> dict[str, str]:
    done("label", "frame", *packages, "--out", folder, "--zero-rate", "0.1", "--skip-exact")
    with (folder / "key.csv").open() as file:
        return {row["cell_id"]: LABELS[row["value"]] for row in csv.DictReader(file)}


def write_labels(path: Path, **annotators: dict[str, str]) -> Path:
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(("cell_id", "annotator_id", "label", "notes"))
        for name, labels in annotators.items():
            table.writerows((cell, name, label, "") for cell, label in labels.items())
    return path


def answered(*words: object) -> dict[str, Any]:
    found: dict[str, Any] = printed_json("audit", "ratios", *words, "--set", "engine.jobs=1")
    return found


def test_two_annotators_of_a_frame(packages: list[Path], tmp_path: Path) -> None:
    """ann agrees with the package but for one cell, bob with ann but for another; one cell bob
    cannot tell. Both are in one file."""
    own = frame_of(packages, tmp_path / "frame")
    covered = sorted(cell for cell, label in own.items() if label == "full")
    first, second, third = covered[:3]
    ann = {**own, first: "none"}
    bob = {**ann, second: "partial", third: "cannot_tell"}
    file = write_labels(tmp_path / "labels.csv", ann=ann, bob=bob)
    words = (
        *packages,
        "--frame",
        tmp_path / "frame",
        "--labels",
        file,
        *WRITERS,
    )
    data = answered(*words, "--budget", "30,60")
    sets = {one["name"]: one for one in data["label_sets"]}
    assert list(sets) == ["ann", "bob", "consensus"]
    assert [one["changed_cells"] for one in sets.values()] == [1, 2, 1]
    assert [one["cannot_tell"] for one in sets.values()] == [0, 1, 0]
    without = sets["consensus"]["without_consensus"]
    assert without == {"missing": 0, "cannot_tell": 1, "disagreed": 1}
    assert data["uncertified_optima"] == 0
    assert data["solved_optima"] == 3 * 2 * 4
    assert [one["budget"] for one in sets["ann"]["shifts"]] == [30, 60, None]
    assert len(data["ratios"]) == 3 * 2
    assert answered(*words, "--budget", "30,60") == data


def test_a_model_beside_annotators(packages: list[Path], tmp_path: Path) -> None:
    own = frame_of(packages, tmp_path / "frame")
    first = min(cell for cell, label in own.items() if label == "full")
    people = write_labels(tmp_path / "people.csv", ann=own, bob=own)
    bot = write_labels(tmp_path / "bot.csv", **{"model:bot": {**own, first: "none"}})
    words = (
        *packages,
        "--frame",
        tmp_path / "frame",
        "--labels",
        bot,
        "--writer",
        "recency_raw",
        "--budget",
        "30",
    )
    data = answered(*words, "--labels", people)
    found = [(one["name"], one["role"], one["changed_cells"]) for one in data["label_sets"]]
    assert found == [
        ("ann", "annotator", 0),
        ("bob", "annotator", 0),
        ("model:bot", "model", 1),
        ("consensus", "consensus", 0),
    ]
    assert [one["name"] for one in answered(*words)["label_sets"]] == ["model:bot"]
    assert "model:bot (model)" in run("audit", "ratios", *words, "--set", "engine.jobs=1").stdout


def test_printed(packages: list[Path]) -> None:
    first, second = (f"pass:{name}" for name in pass_names()[:2])
    how = f"--labels {first} --labels {second} --set engine.jobs=1"
    text = done("audit ratios", *packages, *WRITERS, how).stdout
    assert "3 packages, 3 writers: what they keep" in text
    for word in (first, second, "consensus", "ratio MAD", "preserved", "audit report"):
        assert word in text
    assert "optima not certified: 0 of" in text


def pass_names() -> list[str]:
    """Of the first package of the set."""
    passes = label_passes(short_set()[0])
    assert passes is not None
    return [labels.name for labels in passes.passes]


def test_wrong_input(packages: list[Path], tmp_path: Path) -> None:
    words = ("audit", "ratios", packages[0])
    labels = ("--labels", f"pass:{pass_names()[0]}")
    own = frame_of([packages[1]], tmp_path / "frame")
    other = ("--labels", write_labels(tmp_path / "l.csv", ann=own), "--frame", tmp_path / "frame")
    for options, message in {
        ("--labels", "labels.csv"): "needs its frame; give --frame",
        ("--labels", "pass:z"): "has no label pass 'z'",
        (*labels, *labels): "two label sets are called",
        (*labels, "--writer", "z"): "unknown writer 'z'",
        (): "give --labels",
        (packages[0], *labels): "two packages are called",
        (*labels, "--set", "engine.jobs=0"): "engine.jobs must be at least 1",
        other: "'ann' labelled no cell of these packages",
    }.items():
        assert message in failure(*words, *options)


def test_a_journal_is_resumed(tmp_path: Path) -> None:
    """Cut anywhere, it gives the same numbers; other labels are another run."""
    journal = tmp_path / "ratios.jsonl"
    labels = ("short", "--labels", "pass:blind_a", "--budget", 30)
    words = (*labels, *WRITERS, "--set", f"engine.journal={journal}")
    whole = answered(*words)
    assert whole == answered(*labels, *WRITERS)
    bytes_ = journal.read_bytes()
    for share in (0.3, 0.8):
        journal.write_bytes(bytes_[: int(share * len(bytes_))])
        result = done("audit", "ratios", *words, "--set", "engine.jobs=1", "--json")
        assert json.loads(result.stdout) == whole
        assert f"already existed in {journal}" in result.stderr
        assert journal.read_bytes() == bytes_
    other = [word if word != "pass:blind_a" else "pass:blind_b" for word in words]
    assert "(different: labels)" in failure("audit", "ratios", *other)

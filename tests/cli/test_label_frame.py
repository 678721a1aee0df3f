"""`memaudit label frame`."""

import json
from pathlib import Path

from memaudit.building.annotations import AnnotationRecipe, build_package
from memaudit.kernel.io.packages import write_package
from memaudit.lab.labels.frame_files import read_frame
from tests.building.talks import DIET, load
from tests.cli.running import done, failure
from tests.lab.labels.small_frames import grid


def test_the_shipped_set(tmp_path: Path) -> None:
    out = tmp_path / "f"
    words = ("label", "frame", "short", "--skip-exact", "--out", out)
    result = done(*words, "--seed", 1)
    frame = read_frame(out)
    assert {one.package for one in frame.cells} >= {"film-night", "hotel-rooms"}
    lines = result.stdout.splitlines()
    wrote = f"wrote {len(frame.cells):,} cells of 26 packages"
    assert any(line.startswith(wrote) for line in lines)
    assert lines[-1] == "hide from annotators: key.csv, frame.json"
    assert not any(line.startswith("left out") for line in lines)  # readers judged all its cells
    again = done(*words, "--seed", 1)
    assert "already exists" in again.stdout
    assert "holds another frame" in failure(*words, "--seed", 2)


def test_skipping_what_is_exact(tmp_path: Path) -> None:
    """Of the gold labels' 24 cells, two turns and two sessions state t1 and t3 word for word."""
    package = build_package(load(tmp_path, DIET), AnnotationRecipe("chat")).package
    write_package(package, tmp_path / "diet.json")
    words = ("label", "frame", tmp_path / "diet.json", "--skip-exact", "--zero-rate", 1)
    lines = done(*words, "--out", tmp_path / "f").stdout.splitlines()
    assert "left out: 4 cells exact" in lines
    shown = {(one.candidate, one.unit) for one in read_frame(tmp_path / "f").cells}
    exact = {("t1/raw", "t1"), ("s1/session", "t1"), ("t3/raw", "t3"), ("s2/session", "t3")}
    assert not shown & exact
    assert ("t3/raw", "supersession/q1") in shown


def test_how_it_was_drawn(tmp_path: Path) -> None:
    words = (
        "label",
        "frame",
        "short",
        "--candidate-kind",
        "fact",
        "--zero-rate",
        "1/2",
    )
    done(*words, "--out", tmp_path / "f")
    data = json.loads((tmp_path / "f" / "frame.json").read_text())
    frame = read_frame(tmp_path / "f")
    assert data["cells"] == len(frame.cells)
    assert (data["seed"], data["zero_rate"], data["candidate_kinds"]) == (0, 0.5, ["fact"])
    for one in data["strata"]:
        assert one["drawn"] == -(-one["uncovered"] // 2)
    assert sum(one["covered"] + one["drawn"] for one in data["strata"]) == data["cells"]


def test_paths_and_what_is_wrong(tmp_path: Path) -> None:
    write_package(grid("tenth"), tmp_path / "g.json")
    words = ("label", "frame", tmp_path / "g.json", "--out", tmp_path / "f")
    for options, message in {
        ("--zero-rate", "lots"): "--zero-rate: 'lots' is not a number",
        ("--zero-rate", "1.5"): "is not between 0 and 1",
        ("--candidate-kind", "x"): "of the kind 'x'",
    }.items():
        assert message in failure(*words, *options)
    assert not (tmp_path / "f").exists()


def test_names_cannot_steer_the_terminal(tmp_path: Path) -> None:
    package = grid("tenth", candidates=2, units=2)
    evil = package.candidates[0].model_copy(update={"kind": "\x1b[31m[red]evil"})
    write_package(package.replace(candidates=(evil, package.candidates[1])), tmp_path / "g.json")
    result = done("label", "frame", tmp_path / "g.json", "--out", tmp_path / "f")
    assert "\x1b" not in result.stdout
    assert "[red]evil" in result.stdout

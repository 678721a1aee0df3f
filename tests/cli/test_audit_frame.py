"""`memaudit audit frame`."""

import json
from pathlib import Path

from memaudit.io.packages import write_package
from memaudit.label_audit.frame_files import read_frame, read_label_sets
from tests.cli.running import failure, run
from tests.label_audit.small_frames import grid


def test_the_shipped_set(tmp_path: Path) -> None:
    out = tmp_path / "f"
    words = ("audit", "frame", "natural", "--skip-exact", "--out", out)
    result = run(*words, "--seed", 1)
    assert result.exit_code == 0, result.output
    frame = read_frame(out)
    assert {one.package for one in frame.cells} >= {"film-night", "hotel-rooms"}
    lines = result.stdout.splitlines()
    assert any(
        line.startswith(f"wrote {len(frame.cells):,} cells of 26 packages") for line in lines
    )
    assert lines[-1] == "to hide from labellers: key.csv, frame.json"
    assert any(line.endswith("cells exact, uncovered") for line in lines)
    again = run(*words, "--seed", 1)
    assert again.exit_code == 0
    assert "already exists" in again.stdout
    assert "holds another frame" in failure(*words, "--seed", 2)


def test_json_and_passes(tmp_path: Path) -> None:
    words = (
        "audit",
        "frame",
        "natural",
        "--passes",
        "--candidate-kind",
        "fact",
        "--zero-rate",
        "1/2",
    )
    result = run(*words, "--out", tmp_path / "f", "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    frame = read_frame(tmp_path / "f")
    assert data["cells"] == len(frame.cells)
    assert (data["seed"], data["zero_rate"], data["candidate_kinds"]) == (0, 0.5, ["fact"])
    for one in data["strata"]:
        assert one["drawn"] == -(-one["uncovered"] // 2)
    assert sum(one["covered"] + one["drawn"] for one in data["strata"]) == data["cells"]
    sets = read_label_sets(tmp_path / "f" / "passes.csv", frame)
    assert sets[0].annotator == "pass:coverage"
    assert {len(one.labels) for one in sets} == {data["cells"]}


def test_paths_and_what_is_wrong(tmp_path: Path) -> None:
    write_package(grid("tenth"), tmp_path / "g.json")
    words = ("audit", "frame", tmp_path / "g.json", "--out", tmp_path / "f")
    assert "--zero-rate: 'lots' is not a number" in failure(*words, "--zero-rate", "lots")
    assert "is not between 0 and 1" in failure(*words, "--zero-rate", "1.5")
    assert "of the kind 'x'" in failure(*words, "--candidate-kind", "x")
    assert "120 cells are covered" in failure(*words, "--max-cells", 9)
    assert "has no label passes" in failure(*words, "--passes")
    assert not (tmp_path / "f").exists()
    assert run(*words, "--max-cells", 150).exit_code == 0
    assert len(read_frame(tmp_path / "f").cells) == 150


def test_names_cannot_steer_the_terminal(tmp_path: Path) -> None:
    package = grid("tenth", candidates=2, units=2)
    evil = package.candidates[0].model_copy(update={"kind": "\x1b[31m[red]evil"})
    write_package(package.replace(candidates=(evil, package.candidates[1])), tmp_path / "g.json")
    result = run("audit", "frame", tmp_path / "g.json", "--out", tmp_path / "f")
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.stdout
    assert "[red]evil" in result.stdout

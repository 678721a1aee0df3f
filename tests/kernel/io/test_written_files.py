"""What the commands write is what the models read: every key is known, and rows read back."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.io.score_file import FORMAT, ScoreFile, read_score_run
from memaudit.lab.sweeps.runs.run_files import RunManifest, RunRow
from tests.cli.running import run

NOT_READ = {
    # What a reader does not need: names of the format, and numbers that follow from others.
    "format",
    "version",
    "basis",
    "status",
    "count",
    "kept_between",
    "share_between",
    "store",
    "budget",
    "certified",
    "bound",
    "exact",
}


def unknown(model: type[BaseModel], data: dict[str, Any]) -> set[str]:
    return data.keys() - model.model_fields.keys() - NOT_READ


def test_score_files(tmp_path: Path) -> None:
    package = short_set()[0]
    write_package(package, tmp_path / "p.json")
    (tmp_path / "notes.txt").write_text("Ingrid wants foam pillows.\n")
    assert run("import", tmp_path / "notes.txt", "--out", tmp_path / "s.json").exit_code == 0
    printed = run(
        "score",
        tmp_path / "p.json",
        tmp_path / "s.json",
        "--budget",
        "3,24",
        "--explain",
        "cells",
        "--json",
    )
    assert printed.exit_code == 0, printed.output
    data = json.loads(printed.stdout)
    assert data["format"] == FORMAT
    assert unknown(ScoreFile, data) == set()
    (file,) = read_score_run(data, "scores").packages
    assert [score.budget for score in file.scores] == [3, 24]
    for written, score in zip(data["scores"], file.scores, strict=True):
        assert unknown(type(score), written) == set()
        for part in (
            "optimum",
            "kept",
            "written",
            "package_ratio",
            "union_ratio",
            "best_subset",
            "diagnosis",
        ):
            assert unknown(type(getattr(score, part)), written[part]) == set()
        assert score.score == written["score"]
        assert score.kept.ratio == written["kept"]["ratio"]
        assert set(score.policies) == set(written["policies"])
        assert len(score.lost_units or ()) == len(written["lost_units"])
    assert file.cells.keys() == data["cells"].keys()


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    done = run(
        "run",
        "--packages",
        "base",
        "--seeds",
        "2",
        "--budgets",
        "6,0.5",
        "--writers",
        "opt,recency_raw",
        "--out",
        folder,
    )
    assert done.exit_code == 0, done.output
    return folder


def test_runs(run_folder: Path) -> None:
    """A row that is read and written again is the same."""
    manifest = json.loads((run_folder / "run.json").read_text())
    assert RunManifest.model_validate(manifest).rows == 8
    for line in (run_folder / "rows.jsonl").read_text().splitlines():
        row = json.loads(line)
        assert set(row) <= RunRow.model_fields.keys() | {"crc"}
        again = RunRow.model_validate(row).to_json()
        assert json.loads(json.dumps(again)) == {name: row[name] for name in again}

"""`memaudit study generate` and `memaudit study writers`."""

import json
from dataclasses import fields
from pathlib import Path

import pytest

from memaudit.kernel.io.packages import read_package
from memaudit.kernel.package.digest import digest
from memaudit.lab.sweeps.generators.event_graph import Parameters
from memaudit.lab.sweeps.generators.registry import DISTRIBUTIONS, named_distribution
from memaudit.lab.sweeps.writers.registry import WRITERS
from memaudit.workspace.journal import read_journal
from tests.cli.running import done, failure, printed_json, run


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_every_distribution(name: str, tmp_path: Path) -> None:
    result = done("study", "generate", name, "--seed", "3", "--out", tmp_path / "p.json")
    expected = digest(named_distribution(name).package(3))
    assert digest(read_package(tmp_path / "p.json")) == expected
    assert expected[:16] in result.stdout


def test_names_and_knobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every knob is a parameter of the name; a path without .json is a folder of tables. Without a
    path it is a file of the package's name."""
    monkeypatch.chdir(tmp_path)
    done("study generate base --seed 5")
    assert read_package(tmp_path / "base-5.json").name == "base-5"
    done(
        "study generate",
        "event_graph:experiences=30:update_rate=0.6:chain_length=4:interval_rate=0.1"
        ":redundancy=0:scope_shifts=1:distractors=0",
        "--out",
        tmp_path / "p",
    )
    assert len(read_package(tmp_path / "p").experiences) == 30


def test_wrong_input(tmp_path: Path) -> None:
    assert "no distribution given" in failure("study", "generate")
    assert "takes no parameters" in failure("study", "generate", "base:experiences=9")
    assert "cannot write" in failure("study generate base --out", tmp_path / "no" / "p.json")


def test_lists() -> None:
    """All distributions and all writers, with what they are."""
    listed = run("study", "generate", "--list").stdout
    assert all(f"{name} " in listed for name in DISTRIBUTIONS)
    assert all(f"{parameter.name} " in listed for parameter in fields(Parameters))
    peeks = {writer.name: writer.peeks for writer in WRITERS.values()}
    assert {row["name"]: row["peeks"] for row in printed_json("study", "writers")} == peeks
    assert "texts, costs" in run("study", "writers").stdout


def test_train_and_run(tmp_path: Path) -> None:
    """A model of one's own is a writer, its training is recorded, and it refuses what it saw."""
    trained = ("event_graph:experiences=12:seeds=50-55",)
    model = tmp_path / "model.json"
    done("study", "train-ridge", *trained, "--out", model)
    result = done(
        "run --packages event_graph:experiences=12 --seeds 55-56 --budgets 20",
        f"--writers estimated_gvt_ridge:{model} --out",
        tmp_path / "r",
    )
    assert "1 rows have no store: the writer failed" in result.stdout
    seen, fresh = read_journal(tmp_path / "r" / "rows.jsonl")
    assert "trained on this content" in seen["failed"]
    assert fresh["ratio"] is not None
    recorded = json.loads((tmp_path / "r" / "run.json").read_text())["estimators"]
    (estimator,) = recorded.values()
    assert seen["digest"] in estimator["trained_on"]
    assert fresh["digest"] not in estimator["trained_on"]

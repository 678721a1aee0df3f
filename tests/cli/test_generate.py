"""`memaudit study generate` and `memaudit study writers`."""

from dataclasses import fields
from pathlib import Path

import pytest

from memaudit.kernel.io.packages import read_package
from memaudit.kernel.package.digest import digest
from memaudit.lab.sweeps.generators.event_graph import Parameters
from memaudit.lab.sweeps.generators.registry import DISTRIBUTIONS, named_distribution
from memaudit.lab.sweeps.writers.registry import WRITERS
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

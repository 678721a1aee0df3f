"""`memaudit audit judges`: two judges of a small store, and of the labelled LoCoMo store."""

from pathlib import Path

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from tests.cli.running import done, failure, printed_json, run, write_rows
from tests.conversations.files import real_file


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A package, a store of three of its facts, and labels that know of the first alone."""
    package = short_set()[0]
    write_package(package, tmp_path / "p.json")
    useful = {row.candidate: row.unit for row in package.coverage if row.value == 1}
    facts = [one for one in package.candidates if one.kind == "fact" and one.id in useful][:3]
    rows = [{"id": fact.id, "text": fact.text} for fact in facts]
    done("import", write_rows(tmp_path / "e.jsonl", *rows), "--out", tmp_path / "s.json")
    label = {"memory_id": facts[0].id, "unit_id": useful[facts[0].id], "coverage": 1}
    return tmp_path / "p.json", tmp_path / "s.json", write_rows(tmp_path / "l.jsonl", label)


def test_command(files: tuple[Path, Path, Path]) -> None:
    """Cells and ratios under both judges; the ratios are those of `memaudit gate`."""
    package, store, labels = files
    words = ("audit judges", package, store, f"--judge lexical --against labels:{labels}")
    data = printed_json(*words, "--budget", "10,40")
    assert (data["judge"]["name"], data["judge"]["is_an_estimate"]) == ("lexical", True)
    found = data["agreement"]["any_coverage"]
    assert found["both"] + found["only_against"] == 1
    assert [row["budget"] for row in data["scores"]] == [10, 40]
    assert all(row["uncertified_optima"] == 0 for row in data["scores"])
    for side, name in (("judge", "lexical"), ("against", f"labels:{labels}")):
        ratio = data["scores"][1]["score"][side]
        bar = ("gate", package, store, "--budget 40 --judge", name, "--allow-estimates --min-score")
        done(*bar, ratio - 1e-6)
        assert run(*bar, ratio + 1e-6).exit_code == 1
    text = run(*words, "--budget", "40").stdout
    assert "lexical (an ESTIMATE)" in text
    assert "kappa" in text


def test_wrong_input(files: tuple[Path, Path, Path]) -> None:
    package, store, labels = files
    words = ("audit", "judges", package, store, "--judge", "lexical", "--against")
    assert "unknown judge" in failure(*words, "me")
    assert "labels:FILE only" in failure(*words, "pointer", "--set", f"judge.memories={labels}")
    assert "names a session" in failure(*words, "lexical", "--same-session")


@pytest.mark.slow
def test_labelled_locomo(tmp_path: Path) -> None:
    """The lexical estimate finds nearly all that labels have, and much that they have not.

    Labels were given session by session, so cells are compared within a memory's session.
    """
    dataset = real_file("locomo/locomo10.json")
    labels = real_file("labels/locomo_conv26/coverage_pass_a.jsonl")
    memories = real_file("stores/mem0/locomo_conv26_memories.jsonl")
    units = labels.with_name("units.jsonl")
    done("build", dataset, "--conversation conv-26 --units", units, "--out", tmp_path / "built")
    done("import", memories, "--out", tmp_path / "s.json")
    data = printed_json(
        "audit judges",
        tmp_path / "built" / "conv-26.json",
        tmp_path / "s.json",
        f"--judge lexical --against labels:{labels}",
        f"--set judge.memories={labels.with_name('memories.jsonl')} --same-session",
        "--budget 250",
    )
    found = data["agreement"]["any_coverage"]
    assert found["recall"] > 0.9
    assert 0.3 < found["precision"] < 0.45
    (row,) = data["scores"]
    assert row["uncertified_optima"] == 0
    assert row["score"]["judge"] > 2 * row["score"]["against"] > 0
    assert row["best_subset"]["judge"] > row["best_subset"]["against"]

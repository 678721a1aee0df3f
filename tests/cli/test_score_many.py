"""`memaudit score` on a build folder: rows a package, means with intervals, what is missing."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from memaudit.building.named_packages import short_set
from tests.cli.running import done, failure, import_texts, printed_json, process, run, write_rows
from tests.published_layout import write_artifact

SCORED = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six packages, and two published stores: `all` lacks the last, `half` wrote nothing for the
    first; a run of `all` failed."""
    home = tmp_path_factory.mktemp("many")
    packages = short_set()[:SCORED]
    write_artifact(packages, home / "packages")
    for name, step in (("all", 1), ("half", 2)):
        rows = []
        for place, package in enumerate(packages):
            texts = [
                candidate.text
                for candidate in package.candidates
                if candidate.generator == "labels:memories"
            ]
            kept = [] if (name, place) == ("half", 0) else texts[::step]
            memories = [
                {"memory_id": f"m{n}", "text": text, "memory_index": n}
                for n, text in enumerate(kept)
            ]
            row = {"instance_id": package.name, "memories": memories}
            if (name, place) == ("all", SCORED - 1):
                row = {"instance_id": package.name, "error": "timeout"}
            rows.append(row)
        done("import", write_rows(home / f"{name}.jsonl", *rows), "--out", home / f"{name}.json")
    return home


def words(folder: Path, *more: object) -> tuple[object, ...]:
    stores = (folder / "all.json", folder / "half.json")
    return ("score", folder / "packages", *stores, "--budget", "20", *more)


def sets(**engine: object) -> list[str]:
    """Settings of the engine."""
    return [f"--set=engine.{name}={value}" for name, value in engine.items()]


def test_json(folder: Path) -> None:
    """A file a package as for one alone, and a summary whose means are theirs."""
    data = printed_json(*words(folder))
    assert len(data["packages"]) == SCORED
    assert data["not_scored"] == []
    kept = {
        name: [
            row["score"]
            for one in data["packages"]
            for row in one["scores"]
            if row["store"] == name
        ]
        for name in ("all", "half")
    }
    assert {name: len(ratios) for name, ratios in kept.items()} == {"all": 5, "half": 6}
    assert kept["half"][0] == 0
    for one in data["summary"]["standings"]:
        ratios = kept[one["store"]]
        assert one["score"]["mean"] == pytest.approx(sum(ratios) / len(ratios))
        assert one["score"]["ci_low"] <= one["score"]["mean"] <= one["score"]["ci_high"]
        assert one["memories"] > 0
    standings = {one["store"]: one for one in data["summary"]["standings"]}
    assert (standings["all"]["not_scored"], standings["half"]["not_scored"]) == (1, 0)
    assert standings["all"]["incomplete_stores"] == 5
    (gap,) = data["summary"]["differences"]
    assert gap["n"] == 5
    for one in data["unit_kinds"]:
        total = sum(
            row["unit_kinds"][kind]["value"]
            for file in data["packages"]
            for row in file["scores"]
            if row["store"] == one["store"]
            for kind in row["unit_kinds"]
        )
        assert sum(kind["value"] for kind in one["kinds"].values()) == pytest.approx(total)


def test_one_package_of_it_is_the_same(folder: Path, tmp_path: Path) -> None:
    """The rows of a package do not depend on the others; its file alone makes a board too."""
    whole = printed_json(*words(folder))
    write_artifact([short_set()[1]], tmp_path / "one")
    alone = printed_json("score", tmp_path / "one", *words(folder)[2:])
    assert alone["scores"] == whole["packages"][1]["scores"]
    (tmp_path / "scores.json").write_text(json.dumps(whole))
    assert printed_json("board", tmp_path) == whole["summary"]


def test_printed(folder: Path) -> None:
    """A row per package with its memories, the means, the cells, and what scores do not see."""
    text = done(*words(folder, "--explain", "cells", "--all")).stdout
    for package in short_set()[:SCORED]:
        assert package.name in text
    assert "6 packages; coverage: judge offline, an ESTIMATE" in text
    assert "95% interval" in text
    assert text.count("package ") >= SCORED
    assert "PARTLY READ: 1 row of the export is not in the store" in " ".join(text.split())
    assert "memories of a package, on average: all" in text
    assert "summed over packages" in " ".join(text.split())


def test_wrong_input(folder: Path, tmp_path: Path) -> None:
    """A store of no example, an id of one package, and nothing to score."""
    assert "needs a single package" in failure(*words(folder, "--explain", "u1"))
    plain = import_texts(tmp_path / "a.json", ["Ingrid never wants breakfast booked."])
    row = {"instance_id": "nowhere", "memories": [{"memory_id": "m", "text": "t"}]}
    done("import", write_rows(tmp_path / "b.jsonl", row), "--out", tmp_path / "b.json")
    for store, message in (
        (plain, "does not say which package each memory was written for"),
        (tmp_path / "b.json", "no package could be scored"),
    ):
        assert message in failure("score", folder / "packages", store, "--budget", "20")


def test_shares_and_own_costs(folder: Path) -> None:
    """Other costs in every package, one row of means each: a budget goes by what was asked for. A
    store that wrote nothing has no own budget to be scored at, and is counted."""
    data = printed_json(*words(folder)[:-1], "own,10%")
    costs = {row["budget"] for file in data["packages"] for row in file["scores"]}
    assert len(costs) > 2
    standings = data["summary"]["standings"]
    found = {(one["budget"], one["store"]): one for one in standings}
    assert [one["budget"] for one in standings] == ["10%", "10%", "own", "own"]
    counts = {" ".join(at): one["score"]["n"] for at, one in found.items()}
    assert counts == {"10% all": 5, "10% half": 6, "own all": 5, "own half": 5}
    assert found["own", "half"]["undefined"] == {"optimum is 0": 1}
    assert {one["cut_to_budget"] for one in standings if one["budget"] == "own"} == {0}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_every_engine_prints_the_same(engine: str, folder: Path, tmp_path: Path) -> None:
    if engine != "processes":
        pytest.importorskip("distributed")
    here = done(*words(folder, "--json", *sets(name="serial", journal=tmp_path / "a")))
    there = done(*words(folder, "--json", *sets(name=engine, jobs=2, journal=tmp_path / "b")))
    assert there.stdout == here.stdout
    assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_a_killed_command_resumes(folder: Path, tmp_path: Path) -> None:
    """Killed when half of the packages are in its journal: the same words, on another engine, give
    the same bytes and compute the rest only; other settings are refused."""
    journal = tmp_path / "j.jsonl"
    resumable = words(folder, "--json", *sets(journal=journal))
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(process(*resumable), stdout=nowhere, stderr=nowhere) as running:
        while running.poll() is None:
            if journal.exists() and journal.read_bytes().count(b"\n") > SCORED // 2:
                running.kill()
        assert running.returncode in (0, -signal.SIGKILL)
    kept = journal.read_bytes()
    again = done(*resumable, *sets(name="serial"))
    assert again.stdout == done(*words(folder, "--json")).stdout
    assert "already existed" in again.stderr
    assert journal.read_bytes().startswith(kept[: kept.rindex(b"\n")])
    other = run(*resumable, "--policy", "top")
    assert (other.exit_code, other.stdout) == (1, "")
    assert "is the journal of another run (different: policy)" in other.stderr

"""`memaudit study sensitivity` on two stores from plain exports."""

import json
from pathlib import Path

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from tests.cli.running import done, failure, import_texts, printed_json, write_rows
from tests.published_layout import write_artifact


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A package of the natural set, and stores of four facts and of two raw turns."""
    package = short_set()[0]
    write_package(package, tmp_path / "p.json")
    for name, kind, most in (("facts", "fact", 4), ("turns", "raw", 2)):
        texts = [candidate.text for candidate in package.candidates if candidate.kind == kind]
        import_texts(tmp_path / f"{name}.json", texts[:most])
    return tmp_path / "p.json", tmp_path / "facts.json", tmp_path / "turns.json"


def test_json(files: tuple[Path, Path, Path]) -> None:
    """Every variant at every budget; the base agrees with `memaudit score`; again the same."""
    words = ("study", "sensitivity", *files, "--budget", "20,60")
    data = printed_json(*words)
    assert data["coverage_is_an_estimate"] is True
    rows = data["findings"]
    names = ["base", "cost bytes", "cost tokens:simple", "k = 2", "k = 3"]
    assert [row["variant"] for row in rows] == names * 2
    assert all(row["repetitions"] == 1 for row in rows)
    assert all(row["uncertified_optima"] == 0 for row in rows)
    scores = printed_json("score", *files, "--budget", "20,60")["scores"]
    for row, pair in ((rows[0], scores[:2]), (rows[5], scores[2:])):
        assert row["score_ranking"]["tau_b"] in (1, None)
        for one, score in zip(row["stores"], pair, strict=True):
            assert one["score"]["mean"] == pytest.approx(score["score"])
            assert one["best_subset"]["mean"] == pytest.approx(score["best_subset"]["ratio"])
    assert printed_json(*words) == data


def test_printed(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """The judge, missing proofs, and what is not seen."""
    (tmp_path / "torn.jsonl").write_text('{"text": "Ingrid sneezes"}\n{"text": 5}\n')
    done("import", "plain", tmp_path / "torn.jsonl", "--out", tmp_path / "torn.json")
    words = (
        "study",
        "sensitivity",
        *files,
        tmp_path / "torn.json",
        "--budget",
        "30",
    )
    text = done(*words, "--vary", "cost=", "--vary", "cap=").stdout
    for part in (
        "ESTIMATE",
        "not certified: 0",
        "torn: PARTLY READ: 1 row of the export is not in the store",
    ):
        assert part in text
    assert "cost bytes" not in text


def test_judges(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Another judge is a variant, and the rankings of every two judges are compared.

    By the labels the first turn holds a unit and the first fact nothing.
    """
    named = [
        {"memory_id": f"{path.stem} {memory['id']}", "text": memory["text"]}
        for path in files[1:]
        for memory in json.loads(path.read_text())["memories"]
    ]
    labels = [
        {"memory_id": "turns line-1", "unit_id": "u1", "coverage": 1},
        {"memory_id": "facts line-1", "unit_id": "u1", "coverage": 0},
    ]
    write_rows(tmp_path / "m.jsonl", *named)
    judge = f"labels:{write_rows(tmp_path / 'l.jsonl', *labels)}"
    words = (
        "study",
        "sensitivity",
        *files,
        "--budget",
        "60",
        "--vary",
        "cost=",
        "--vary",
        "cap=",
        "--judge",
        "lexical",
        "--judge",
        judge,
        "--set",
        f"judge.memories={tmp_path / 'm.jsonl'}",
    )
    data = printed_json(*words)
    assert [row["name"] for row in data["judges"]] == ["lexical", "labels l"]
    assert [row["variant"] for row in data["findings"]] == ["base", "judge labels l"]
    labelled = data["findings"][1]
    facts_kept, turns_kept = (store["score"]["mean"] for store in labelled["stores"])
    assert turns_kept > facts_kept == 0
    (pair,) = data["judge_rankings"]
    assert (pair["first"], pair["second"]) == ("lexical", "labels l")
    assert pair["score_tau_b"] == labelled["score_ranking"]["tau_b"]
    assert data["basis"] == "common union"
    text = done(*words).stdout
    assert "another judge: judge labels l, as labelled" in text
    assert "same order" in text


def test_views(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """A file cut otherwise is a variant; the base agrees with it where the view is the same.

    The file costs 1 word more than its line, for the mark, so at 12 the block does not fit.
    """
    text = "Ingrid wants hotel rooms away from the lift, on any high floor."
    (tmp_path / "MEMORY.md").write_text(f"- {text}\n")
    bare = ("--budget", "12", "--vary", "cost=", "--vary", "cap=")
    words = ("study", "sensitivity", files[0], tmp_path / "MEMORY.md", *bare, "--vary")
    base, entries, full = printed_json(*words, "view=entries,full")["findings"]
    assert (entries["variant"], full["variant"]) == ("view entries", "view full")
    assert entries["stores"] == base["stores"]
    assert base["stores"][0]["best_subset"]["mean"] > full["stores"][0]["best_subset"]["mean"]
    assert full["stores"][0]["best_subset"]["mean"] == 0
    assert "--vary view=sideways: no store has this view" in failure(*words, "view=sideways")


def test_wrong_input(files: tuple[Path, Path, Path]) -> None:
    words = ("study", "sensitivity", *files, "--budget", "9")
    for value, message in (
        ("cap=two", "give whole numbers"),
        ("cap=0", "group cap"),
        ("caps=1", "write cost=, cap=, view= and what to try"),
    ):
        assert message in failure(*words, "--vary", value)
    twice = ("--judge", "lexical", "--judge", "lexical")
    assert "two judges are called 'lexical'" in failure(*words, *twice)
    assert "same name" in failure("study", "sensitivity", *files[:2], files[1], "--budget", "9")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Four packages, and two stores, of which neither was written for the last."""
    home = tmp_path_factory.mktemp("many")
    packages = short_set()[:4]
    write_artifact(packages, home / "packages")
    for name, step in (("all", 1), ("half", 2)):
        rows = [
            {"id": f"{place}-{n}", "text": candidate.text, "example": package.name}
            for place, package in enumerate(packages[:3])
            for n, candidate in enumerate(package.candidates[::step])
        ]
        write_rows(home / f"{name}.jsonl", *rows)
        done("import", home / f"{name}.jsonl", "--out", home / f"{name}.json")
    return home / "packages", home / "all.json", home / "half.json"


FEW = ("--budget", "30", "--vary", "cost=bytes", "--vary", "cap=")


def test_many_packages(many: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Each as it is alone, and all together: every package counts alike."""
    data = printed_json("study", "sensitivity", *many, *FEW)
    assert [one["package"] for one in data["packages"]] == [p.name for p in short_set()[:3]]
    last = short_set()[3].name
    assert data["not_scored"] == [{"package": last, "reason": "no store was written for it"}]
    write_package(short_set()[1], tmp_path / "one.json")
    assert (
        printed_json("study", "sensitivity", tmp_path / "one.json", *many[1:], *FEW)
        == data["packages"][1]
    )
    for place, finding in enumerate(data["findings"]):
        own = [one["findings"][place] for one in data["packages"]]
        assert {one["variant"] for one in own} == {finding["variant"]}
        assert finding["repetitions"] == sum(one["repetitions"] for one in own)
        for at, store in enumerate(finding["stores"]):
            means = [one["stores"][at]["score"]["mean"] for one in own]
            assert store["score"]["mean"] == pytest.approx(sum(means) / len(means), abs=1e-6)
        same = sum(one["score_ranking"]["same_order"] for one in own)
        assert finding["score_ranking"]["same_order"] == same
    text = done("study", "sensitivity", *many, *FEW).stdout
    assert "3 packages; square brackets" in text
    assert f"not scored: {last}: no store was written for it" in text


def test_many_packages_resume(many: tuple[Path, Path, Path], tmp_path: Path) -> None:
    journal = tmp_path / "s.jsonl"
    words = ("study", "sensitivity", *many, *FEW, "--json", "--set", f"engine.journal={journal}")
    whole, kept = done(*words).stdout, journal.read_bytes()
    assert whole == done(*words[:-2]).stdout
    journal.write_bytes(kept[: len(kept) // 2])
    result = done(*words)
    assert result.stdout == whole
    assert "already existed" in result.stderr
    assert journal.read_bytes() == kept
    assert "(different: stores_only)" in failure(*words, "--stores-only")


def test_many_packages_without_names(many: tuple[Path, Path, Path], tmp_path: Path) -> None:
    nameless = import_texts(tmp_path / "n.json", ["Ingrid sneezes"])
    assert "does not say which package" in failure("study", "sensitivity", many[0], nameless, *FEW)

"""`memaudit study sensitivity` on two stores from plain exports."""

import json
from pathlib import Path

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from tests.cli.running import done, failure, import_texts, printed_json, write_rows
from tests.published_layout import write_artifact

STUDY = ("study", "sensitivity")
BARE = ("--vary", "cost=", "--vary", "cap=")


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
    words = (*STUDY, *files, "--budget", "20,60")
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
    text = done(*STUDY, *files, tmp_path / "torn.json", "--budget", "30", *BARE).stdout
    for part in (
        "ESTIMATE",
        "not certified: 0",
        "torn: PARTLY READ: 1 row of the export is not in the store",
    ):
        assert part in text
    assert "cost bytes" not in text


def test_judges(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Another judge is a variant, and its ranking is compared with that of the first.

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
    judges = ("--judge", "lexical", "--judge", judge)
    given = ("--set", f"judge.memories={tmp_path / 'm.jsonl'}")
    words = (*STUDY, *files, "--budget", "60", *BARE, *judges, *given)
    data = printed_json(*words)
    assert [row["name"] for row in data["judges"]] == ["lexical", "labels l"]
    assert [row["variant"] for row in data["findings"]] == ["base", "judge labels l"]
    labelled = data["findings"][1]
    facts_kept, turns_kept = (store["score"]["mean"] for store in labelled["stores"])
    assert turns_kept > facts_kept == 0
    assert data["basis"] == "common union"
    text = done(*words).stdout
    assert "another judge: judge labels l, as labelled" in text


def test_wrong_input(files: tuple[Path, Path, Path]) -> None:
    words = (*STUDY, *files, "--budget", "9")
    for value, message in (
        ("cap=two", "give whole numbers"),
        ("cap=0", "group cap"),
        ("caps=1", "write cost=, cap= and what to try"),
    ):
        assert message in failure(*words, "--vary", value)
    twice = ("--judge", "lexical", "--judge", "lexical")
    assert "two judges are called 'lexical'" in failure(*words, *twice)
    assert "same name" in failure(*STUDY, *files[:2], files[1], "--budget", "9")


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


FEW = ("--budget 30 --vary cost=bytes --vary cap=",)


def test_many_packages(many: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Every package counts alike, and one that nothing was written for is named."""
    data = printed_json(*STUDY, *many, *FEW)
    names = [package.name for package in short_set()[:3]]
    assert [row["package"] for row in data["packages"]] == names
    last = short_set()[3].name
    assert data["not_scored"] == [{"package": last, "reason": "no store was written for it"}]
    alone = []
    for package in short_set()[:3]:
        write_package(package, tmp_path / "one.json")
        words = (*STUDY, tmp_path / "one.json", *many[1:], *FEW)
        alone.append(printed_json(*words)["findings"])
    for place, finding in enumerate(data["findings"]):
        own = [rows[place] for rows in alone]
        assert {row["variant"] for row in own} == {finding["variant"]}
        assert finding["repetitions"] == 3
        for at, store in enumerate(finding["stores"]):
            means = [row["stores"][at]["score"]["mean"] for row in own]
            assert store["score"]["mean"] == pytest.approx(sum(means) / len(means), abs=1e-6)
        same = sum(row["score_ranking"]["same_order"] for row in own)
        assert finding["score_ranking"]["same_order"] == same
    text = done(*STUDY, *many, *FEW).stdout
    assert "3 packages; square brackets" in text
    assert f"not scored: {last}: no store was written for it" in text


def test_many_packages_without_names(many: tuple[Path, Path, Path], tmp_path: Path) -> None:
    nameless = import_texts(tmp_path / "n.json", ["Ingrid sneezes"])
    assert "does not say which package" in failure(*STUDY, many[0], nameless, *FEW)

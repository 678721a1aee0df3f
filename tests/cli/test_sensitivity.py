"""`memaudit sensitivity` on two stores from plain exports."""

import json
from pathlib import Path

import pytest

from memaudit.io.packages import write_package
from memaudit.natural.named_packages import natural_set
from tests.cli.running import failure, run
from tests.datasets.files import FIXTURES


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A package of the natural set, and stores of four facts and of two raw turns."""
    package = next(iter(natural_set()))
    write_package(package, tmp_path / "p.json")
    for name, kind, most in (("facts", "fact", 4), ("turns", "raw", 2)):
        texts = [one.text for one in package.candidates if one.kind == kind][:most]
        lines = [json.dumps({"text": text}) + "\n" for text in texts]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
        result = run("import", tmp_path / f"{name}.jsonl", "--out", tmp_path / f"{name}.json")
        assert result.exit_code == 0, result.output
    return tmp_path / "p.json", tmp_path / "facts.json", tmp_path / "turns.json"


def test_json(files: tuple[Path, Path, Path]) -> None:
    """Every variant at every budget; the base agrees with `memaudit score`; a seed repeats it."""
    words = ("sensitivity", *files, "--budget", "20,60", "--repetitions", "3", "--json")
    result = run(*words)
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["coverage_is_an_estimate"] is True
    rows = data["findings"]
    names = ["base", "cost bytes", "cost tokens:simple", "k = 2", "k = 3", "flip 0.1", "move 0.1"]
    assert [row["variant"] for row in rows] == names * 2
    assert [row["repetitions"] for row in rows[:7]] == [1, 1, 1, 1, 1, 3, 3]
    assert all(row["uncertified_optima"] == 0 for row in rows)
    scores = json.loads(run("score", *files, "--budget", "20,60", "--json").stdout)["scores"]
    for row, pair in ((rows[0], scores[:2]), (rows[7], scores[2:])):
        assert row["kept_ranking"]["tau_b"] in (1, None)
        for one, score in zip(row["stores"], pair, strict=True):
            kept = score["common_union_ratio"] if score["feasible"] else score["pruned"]["recency"]
            ratio = kept["value"] if score["feasible"] else kept["common_union_ratio"]
            assert one["kept"]["mean"] == pytest.approx(ratio)
            assert one["upper_pruned"]["mean"] == pytest.approx(
                score["upper_pruned"]["common_union_ratio"]
            )
    assert run(*words).stdout == result.stdout


def test_printed(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Intervals in brackets, draws with the same order, missing proofs, and what is not seen."""
    (tmp_path / "torn.jsonl").write_text('{"text": "Ingrid sneezes"}\n{"text": 5}\n')
    made = run("import", "plain", tmp_path / "torn.jsonl", "--out", tmp_path / "torn.json")
    assert made.exit_code == 0, made.output
    result = run("sensitivity", *files, tmp_path / "torn.json", "--budget", "30", "--noise", "flip",
                 "--repetitions", "2", "--cost-rules", "", "--group-caps", "")  # fmt: skip
    assert result.exit_code == 0, result.output
    for part in ("ESTIMATE", "flip 0.1", "[", "not certified: 0",
                 "torn: PARTLY READ: 1 row of the export is not in the store"):  # fmt: skip
        assert part in result.stdout
    assert "cost bytes" not in result.stdout


def test_judges(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Another judge is a variant, and the rankings of every two judges are compared.

    By the labels the first turn holds a unit and the first fact nothing.
    """
    texts = {path.stem: json.loads(path.read_text())["memories"][0]["text"] for path in files[1:]}
    named = [{"memory_id": name, "text": text} for name, text in texts.items()]
    labels = [{"memory_id": "turns", "unit_id": "u1", "coverage": 1},
              {"memory_id": "facts", "unit_id": "u1", "coverage": 0}]  # fmt: skip
    for name, rows in (("m", named), ("l", labels), ("again", labels)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines)
    words = ("sensitivity", *files, "--budget", "60", "--cost-rules", "", "--group-caps", "",
             "--noise", "", "--judge", "lexical", "--judge", f"labels:{tmp_path / 'l.jsonl'}",
             "--judge", f"labels:{tmp_path / 'again.jsonl'}",
             "--label-memories", tmp_path / "m.jsonl")  # fmt: skip
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert [one["name"] for one in data["judges"]] == ["lexical", "labels l", "labels again"]
    assert [row["variant"] for row in data["findings"]] == [
        "base", "judge labels l", "judge labels again",
    ]  # fmt: skip
    _, labelled, again = data["findings"]
    facts_kept, turns_kept = (one["kept"]["mean"] for one in labelled["stores"])
    assert turns_kept > facts_kept == 0
    assert labelled["stores"] == again["stores"]
    pairs = {(one["first"], one["second"]): one for one in data["judge_rankings"]}
    assert set(pairs) == {
        ("lexical", "labels l"), ("lexical", "labels again"), ("labels l", "labels again"),
    }  # fmt: skip
    assert pairs["labels l", "labels again"]["kept_tau_b"] == 1
    assert pairs["lexical", "labels l"]["kept_tau_b"] == labelled["kept_ranking"]["tau_b"]
    text = run(*words).stdout
    assert "another judge: judge labels l, as labelled" in text
    assert "same order" in text
    assert data["basis"] == "common union"


def test_corrected_evidence(tmp_path: Path) -> None:
    """LoCoMo's corrections are a variant of their own, and what became of them is said.

    Three questions need D1:1, two D2:1. The best 5 words hold the first: 3, of which the store has
    2. Corrected, it is two and three: the store holds the best.
    """
    made = run("build", FIXTURES["locomo"], "--out", tmp_path / "built")
    assert made.exit_code == 0, made.output
    (tmp_path / "e.jsonl").write_text('{"text": "The dog is called Rex."}\n')
    assert run("import", tmp_path / "e.jsonl", "--out", tmp_path / "s.json").exit_code == 0
    row = {"question_id": "locomo_0_qa0", "correct_evidence": ["D2:1"]}
    (tmp_path / "errors.json").write_text(json.dumps([row]))
    package, store = tmp_path / "built" / "conv-a.json", tmp_path / "s.json"
    words = ("sensitivity", package, store, "--budget", "5", "--cost-rules", "", "--group-caps",
             "", "--noise", "", "--json", "--corrections", tmp_path / "errors.json")  # fmt: skip
    result = run(*words, "--conversations", FIXTURES["locomo"])
    assert result.exit_code == 0, result.output
    assert "1 corrected" in result.stderr
    base, better = json.loads(result.stdout)["findings"]
    assert better["variant"] == "corrected evidence"
    assert base["stores"][0]["kept"]["mean"] == pytest.approx(2 / 3)
    assert better["stores"][0]["kept"]["mean"] == pytest.approx(1)
    assert "go together" in failure(*words)


def test_wrong_input(files: tuple[Path, Path, Path]) -> None:
    words = ("sensitivity", *files, "--budget", "9")
    assert "unknown noise 'salt'" in failure(*words, "--noise", "salt")
    assert "not whole numbers" in failure(*words, "--group-caps", "two")
    assert "between 0 and 1" in failure(*words, "--rates", "7")
    assert "noise rates" in failure(*words, "--rates", "x")
    assert "two judges are called 'lexical'" in failure(
        *words, "--judge", "lexical", "--judge", "lexical"
    )
    assert "same name" in failure("sensitivity", *files[:2], files[1], "--budget", "9")

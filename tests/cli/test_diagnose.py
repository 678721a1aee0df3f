"""`memaudit diagnose` on packages, stores and writers, with and without a model."""

import json
from fractions import Fraction
from importlib.resources import as_file
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import pytest

from memaudit.io.packages import write_package
from memaudit.natural.named_packages import named_packages, natural_set
from tests.cli.running import failure, run
from tests.downstream.fake_reader import reads
from tests.models.server import fails, says, serving

WRITERS = ("--writer", "gvt", "--writer", "recency_raw")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A package of the natural set, and a store of four facts about it."""
    package = next(iter(natural_set()))
    write_package(package, tmp_path / "p.json")
    texts = [candidate.text for candidate in package.candidates if candidate.kind == "fact"][:4]
    (tmp_path / "export.jsonl").write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in texts)
    )
    result = run("import", tmp_path / "export.jsonl", "--out", tmp_path / "s.json")
    assert result.exit_code == 0, result.output
    return tmp_path / "p.json", tmp_path / "s.json"


def summary(*words: object) -> dict[str, Any]:
    """The JSON a run prints, with losses that add up."""
    result = run("diagnose", *words, "--json")
    assert result.exit_code == 0, result.output
    data: dict[str, Any] = json.loads(result.stdout)
    for one in data["summaries"]:
        assert sum(map(Fraction, one["losses"].values())) == 1 - Fraction(one["answered"])
        assert sum(one["outcomes"].values()) == one["questions"] == data["questions"]
    return data


def test_the_natural_set(tmp_path: Path) -> None:
    """All 103 questions of 26 conversations, no model; a tight store loses in writing."""
    out = tmp_path / "out"
    data = summary("natural", *WRITERS, "--budget", "60", "--out", out)
    gvt, recent = data["summaries"]
    assert (data["questions"], data["packages"]) == (103, 26)
    assert Fraction(recent["losses"]["write"]) > Fraction(gvt["losses"]["write"]) == 0
    assert json.loads((out / "summary.json").read_text()) == data
    (recall,) = [row for row in data["differences"] if row["measure"] == "evidence_recall"]
    assert recall["mean_difference"] > 0.4
    assert recall["p_holm"] < 0.001


def test_event_graphs_without_mistakes_downstream(tmp_path: Path) -> None:
    """Oracle and evidence-only: what is lost is lost in writing, nothing else."""
    words = ("event_graph:experiences=20:seeds=0-2", *WRITERS, "--budget", "0.1", "--k", "50",
             "--retriever", "oracle", "--reader", "evidence-only", "--out", tmp_path)  # fmt: skip
    for one in summary(*words)["summaries"]:
        losses = {name for name, share in one["losses"].items() if share != "0"}
        assert losses <= {"write", "unsupported"}
        assert one["measures"]["evidence_precision"]["mean"] == 1


def test_a_store_and_a_writer(files: tuple[Path, Path], tmp_path: Path) -> None:
    """An exported store is judged, cut by a policy that is named, and beside a writer."""
    data = summary(*files, "--writer", "opt", "--budget", "12", "--out", tmp_path / "out")
    assert [one["store"] for one in data["summaries"]] == ["export", "opt"]
    assert (data["spec"]["judge"], data["spec"]["coverage_is_an_estimate"]) == ("lexical", True)
    assert data["spec"]["policy"] == "recency"
    assert data["summaries"][0]["outcomes"]["written_but_pruned"] > 0
    assert data["clusters"] == "questions"
    kept = [json.loads(line)["kept"] for line in (tmp_path / "out/memories.jsonl").open()]
    assert False in kept


def test_printed(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Tables that add up, an estimate called one, failures and the chain of one question."""
    words = (*files, "--writer", "opt", "--budget", "12", "--out", tmp_path / "out")
    text = run("diagnose", *words).stdout
    assert "an ESTIMATE" in text
    assert "export: 4 questions = " in text
    assert "export: cut by recency in 1 of 1 package" in text
    assert "evidence recall" in text
    assert "written_but_pruned" in text
    again = run("diagnose", *words, "--failures", "--show", "q1")
    assert "8 rows already existed" in again.stderr
    assert "were not answered right" in again.stdout
    assert "hotel-rooms/q1 at opt" in again.stdout
    assert "  unit u1: " in again.stdout
    unknown = run("diagnose", *words, "--show", "q99")
    assert (unknown.exit_code, unknown.stdout) == (1, "")
    assert "there is no question 'q99'" in unknown.stderr


def test_texts_cannot_steer_the_terminal(tmp_path: Path) -> None:
    """A control character in a memory and a question is written out."""
    package = next(iter(natural_set()))
    query = package.queries[0].model_copy(update={"text": "Which room?\x1b[2J", "answer": "x\x1b"})
    write_package(package.replace(queries=(query,)), tmp_path / "p.json")
    words = (tmp_path / "p.json", "--writer", "opt", "--budget", "9", "--out", tmp_path / "out")
    for more in ((), ("--failures",), ("--show", query.id)):
        assert "\x1b" not in run("diagnose", *words, *more).stdout


def test_a_model_reads(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Asked once for each question, from the cache afterwards; the prompt is in the spec."""
    pytest.importorskip("openai", reason="pip install 'memaudit[models]'")
    words = (files[0], "--writer", "opt", "--budget", "30", "--reader", "model:one", "--cache",
             tmp_path / "cache", "--prompt", "evidence-first")  # fmt: skip
    with serving(reads) as served:
        first = summary(*words, "--out", tmp_path / "a", "--base-url", served.url, "--yes")
        assert len(served.bodies) == 4
        assert first["spec"]["reads"].startswith("one, prompt reader-evidence-first/1 ")
        again = summary(*words, "--out", tmp_path / "b", "--base-url", served.url, "--yes")
        assert len(served.bodies) == 4
    offline = summary(*words, "--out", tmp_path / "c", "--provider", "offline")
    assert first == again == offline
    rows = [(tmp_path / name / "rows.jsonl").read_bytes() for name in "abc"]
    assert rows[0] == rows[1] == rows[2]


@pytest.mark.parametrize(
    ("behaviour", "remark"),
    [
        (says(None, refusal="I cannot"), "refused"),
        (says("no JSON"), "unparseable_reply"),
        (fails(400, "bad"), "no_reply"),
    ],
)  # fmt: skip
def test_a_model_that_does_not_answer(
    files: tuple[Path, Path], tmp_path: Path, behaviour: Any, remark: str
) -> None:
    """Every question keeps its row, and the remark is counted."""
    pytest.importorskip("openai", reason="pip install 'memaudit[models]'")
    with serving(behaviour) as served:
        data = summary(
            files[0], "--writer", "opt", "--budget", "30", "--reader", "model:one", "--cache",
            tmp_path / "cache", "--out", tmp_path / "out", "--base-url", served.url, "--yes",
        )  # fmt: skip
    (one,) = data["summaries"]
    assert one["why"][remark] == 4
    assert one["outcomes"]["answered_right"] == 0


def test_bad_questions_and_stores_keep_their_rows(tmp_path: Path) -> None:
    """No evidence, an empty store, a retriever that finds nothing, no room: a row and a remark."""
    rows = [
        {"conversation": "ann"}, {"session": "s"},
        {"id": "nuts", "speaker": "Ann", "text": "I am allergic to peanuts."},
        {"question": "Which food is dangerous?", "answer": "Peanuts", "evidence": ["nuts"]},
        {"question": "What does Ann's cousin read?", "answer": "a novel"},
        {"question": "Where is Ann's boat?", "kind": "abstention"},
    ]  # fmt: skip
    (tmp_path / "chat.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("build", tmp_path / "chat.jsonl", "--out", tmp_path / "p")
    for name, export in (("empty", []), ("odd", [{"text": "Zzz."}])):
        (tmp_path / f"{name}-in.json").write_text(json.dumps(export))
        run("import", "plain", tmp_path / f"{name}-in.json", "--name", name,
            "--out", tmp_path / f"{name}.json")  # fmt: skip
    stores = (tmp_path / "empty.json", tmp_path / "odd.json")
    package = tmp_path / "p" / "ann.json"
    data = summary(package, *stores, "--budget", "9", "--out", tmp_path / "a")
    empty, odd = data["summaries"]
    assert (empty["why"]["empty_store"], odd["why"]["retriever_returned_nothing"]) == (3, 3)
    for one in (empty, odd):
        assert one["why"]["question_without_evidence"] == one["outcomes"]["uncertain"] == 1
        assert one["outcomes"]["evidence_never_written"] == 1
        assert one["measures"]["evidence_recall"] == {
            "n": 1, "undefined": 2, "mean": 0, "ci_low": None, "ci_high": None,
        }  # fmt: skip
    tight = summary(package, stores[1], "--budget", "0", "--out", tmp_path / "b")["summaries"][0]
    assert tight["why"]["nothing_kept"] == 3
    listed = run("diagnose", package, *stores, "--budget", "9", "--out", tmp_path / "a",
                 "--failures").stdout  # fmt: skip
    assert "4 of 6 were not answered right" in listed


def test_wrong_input(files: tuple[Path, Path], tmp_path: Path) -> None:
    """One line each, and nothing is left behind."""
    package, store = files
    out = ("--out", tmp_path / "out")
    budget = ("--budget", "12")
    wrong = {
        ("diagnose", package, *budget, *out): "give a STORE or a --writer",
        ("diagnose", package, store, "--budget", "1,2", *out): "has one budget",
        ("diagnose", package, store, "--budget", "x", *out): "cannot read the budget",
        ("diagnose", package, store, *budget, "--k", "0", *out): "--k must be at least 1",
        ("diagnose", package, store, *budget, "--retriever", "no", *out): "unknown retriever",
        ("diagnose", package, store, *budget, "--reader", "no", *out): "unknown reader",
        (
            "diagnose",
            package,
            store,
            *budget,
            "--retriever",
            "dense:http://127.0.0.1:9/v1#m",
            "--provider",
            "ofline",
            *out,
        ): "unknown provider 'ofline'",
        ("diagnose", package, store, *budget, "--prompt", "extractive", *out): "has no prompt",
        ("diagnose", package, store, *budget, "--policy", "no", *out): "unknown policy",
        ("diagnose", package, store, *budget, "--judge", "no", *out): "unknown judge",
        ("diagnose", package, store, store, *budget, *out): "two stores have the same name",
        ("diagnose", "nowhere", *WRITERS, *budget, *out): "no packages at 'nowhere'",
        ("diagnose", "natural", store, *budget, *out): "does not say which package",
        ("diagnose", "base", *WRITERS, *budget, *out): "has no question",
        ("diagnose", "event_graph:seeds=x", *WRITERS, *budget, *out): "cannot read seeds",
    }
    for words, message in wrong.items():
        assert message in failure(*words)
    assert not (tmp_path / "out").exists()


def test_packages_by_name(tmp_path: Path) -> None:
    """A file, a build folder of several, the shipped set, and seeds."""
    write_package(natural_set()[0], tmp_path / "one.json")
    assert [one.name for one in named_packages(str(tmp_path / "one.json"))] == ["hotel-rooms"]
    with as_file(resources("memaudit.examples.natural") / "conversations.jsonl") as path:
        result = run("build", path, "--out", tmp_path / "many")
    assert result.exit_code == 0, result.output
    assert len(named_packages(str(tmp_path / "many"))) == 26
    assert [one.name for one in named_packages("event_graph:experiences=7:seeds=4-5")] == [
        "event_graph-4", "event_graph-5",
    ]  # fmt: skip
    assert len(named_packages("natural")) == 26
    assert len(named_packages("event_graph:experiences=7")) == 10

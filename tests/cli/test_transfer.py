"""`memaudit study transfer` on files in the form of LongMemEval, and on real ones."""

from pathlib import Path

import pytest

from tests.cli.running import failure, question_summary, run
from tests.conversations.files import real_file
from tests.lab.downstream.haystacks import written


def test_four_stores(tmp_path: Path) -> None:
    """Tables, the note that it is no ratio, the chain of one question; run again it resumes."""
    words = (written(tmp_path / "f.json"), "--budget", "0.6", "--k", "2", "--out", tmp_path / "out")
    text = run("study", "transfer", *words).stdout
    assert "3 questions of 3 records of f.json, budget 0.6 of the words of a record's own" in text
    assert "never a ratio to an optimum" in " ".join(text.split())
    for name in ("estimated_gvt", "full_raw", "raw_replay", "fifo"):
        assert f"{name}: 3 questions = " in text
    assert "evidence coverage" in text
    again = run("study", "transfer", *words, "--show", "swim", "--show", "failed")
    assert "12 rows already existed" in again.stderr
    assert "swim/swim at fifo: answered_right" in again.stdout
    assert "not needed: the question asks for the current value" in again.stdout
    assert "were not answered correctly" in again.stdout


def test_choices(tmp_path: Path) -> None:
    path = written(tmp_path / "f.json")
    writers = ("--writer", "opt", "--writer", "mem0_style", "--conversation", "cat")
    words = (path, *writers, "--budget", "9", "--out", tmp_path / "out")
    data = question_summary("study", "transfer", *words)
    stores = " ".join(one["store"] for one in data["summaries"])
    assert stores == "opt mem0_style full_raw raw_replay fifo"
    assert (data["packages"], data["spec"]["peeking_writers"]) == (1, ["opt"])
    assert data["spec"]["budget"] == "9"


def test_wrong_input(tmp_path: Path) -> None:
    path = written(tmp_path / "f.json")
    (tmp_path / "broken.json").write_text('[{"question_id": 1')
    for words, message in {
        (path, "--budget", "1,2"): "takes one budget",
        (path, "--budget", "x"): "cannot read the budget",
        (path, "--budget", "9", "--writer", "no"): "unknown writer",
        (path, "--budget", "9", "--conversation", "x"): "no conversation 'x'",
        (tmp_path / "no.json", "--budget", "9"): "does not exist",
        (tmp_path / "broken.json", "--budget", "9"): "broken.json",
    }.items():
        assert message in failure("study", "transfer", *words, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_full_haystack(tmp_path: Path) -> None:
    """A real record of 53 sessions: the full store finds both turns, and the words it takes.

    Its 550 turns have 78,859 words, and a date and a speaker each. One day the user said "more"
    three times, which is one candidate: two times three words are saved.
    """
    path = real_file("longmemeval/longmemeval_s_e47becba.json")
    data = question_summary(
        "study transfer", path, "--budget 0.1 --writer estimated_greedy --out", tmp_path
    )
    full = data["summaries"][1]
    assert full["measures"]["evidence_recall"]["mean"] == 1
    assert full["measures"]["words_kept"]["mean"] == 78859 + 2 * 550 - 6
    assert data["summaries"][3]["measures"]["words_kept"]["mean"] <= 7995

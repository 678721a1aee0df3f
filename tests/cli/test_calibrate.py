"""`memaudit study calibrate` and `memaudit report` of what comes of it."""

import json
from pathlib import Path

from tests.cli.running import done, failure, printed_json, run

SMALL = (
    "event_graph:experiences=8:seeds=0-2",
    "--budget 0.05,0.2 --writer opt --writer mem0_style --writer recency_raw",
)


def test_printed_and_kept(tmp_path: Path) -> None:
    """Correlations with n, where they part, the same numbers in the folder and as JSON."""
    text = run("study", "calibrate", *SMALL, "--out", tmp_path / "out").stdout
    assert "18 stores: packages 3 of event_graph; budgets 0.05, 0.2; 3 writers" in text
    for how in ("pooled", "within", "of means"):
        assert how in text
    assert "the higher ratio has the better evidence recall" in " ".join(text.split())
    printed = printed_json("study", "calibrate", *SMALL)
    assert printed == json.loads((tmp_path / "out" / "summary.json").read_text())
    assert len(printed["correlations"]) == 15


def test_reports(tmp_path: Path) -> None:
    """A page and figures of a calibration and of a diagnosis; a run takes diagnoses in."""
    run("study", "calibrate", *SMALL, "--out", tmp_path / "cal")
    run("diagnose", "short", "--writer", "gvt", "--budget", "40", "--out", tmp_path / "dia")
    run(
        "run --packages base --seeds 2 --budgets 2 --writers opt,recency_raw",
        "--set engine.name=serial --out",
        tmp_path / "run",
    )
    for name, title, files in (("cal", "Does the ratio predict", 3), ("dia", "Who lost", 6)):
        result = done("report", tmp_path / name, "--figures", tmp_path / "figures")
        assert f"{files} figure files" in result.stdout
        assert title in (tmp_path / name / "report.html").read_text()
    done("report", tmp_path / "run", "--diagnose", tmp_path / "dia")
    assert "Retrieval and reading" in (tmp_path / "run" / "report.html").read_text()
    for words, message in {
        ("report", tmp_path / "run", "--diagnose", tmp_path / "cal"): "is a calibration",
        ("report", tmp_path / "run", "--diagnose", tmp_path / "run"): "is not a diagnosis",
        (
            "report",
            tmp_path / "dia",
            "--diagnose",
            tmp_path / "dia",
        ): "needs a folder written by memaudit run",
    }.items():
        assert message in failure(*words)


def test_wrong_input(tmp_path: Path) -> None:
    """Offline is heard by a calibration too: without vectors it fails, and asks nobody."""
    dense = (
        "--retriever dense:http://127.0.0.1:9/v1#m --set model.provider=offline",
        f"--set model.cache={tmp_path / 'c.sqlite'}",
    )
    for words, message in {
        ("--reader", "model:x"): "choose a reader that does not call a model",
        ("short", "--writer", "opt"): "two writers or more",
        ("base",): "no package has a question",
        ("nowhere",): "no packages at 'nowhere'",
        ("short", "--k", "0"): "--k must be at least 1",
        ("short", *dense): "texts have no vector",
    }.items():
        assert message in failure("study", "calibrate", *words)

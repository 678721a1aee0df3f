"""Folders that are made to mislead or to break the program: one line each, never a traceback."""

import math
import os
from pathlib import Path
from typing import Any

import pytest
from memaudit.experiments.artifact.verify import Effort, verify_all

from memaudit.cli import reproduce
from memaudit.reproduce.verify.drawn import Pen
from memaudit.reproduce.verify.other_shapes import SolverRow, VariantRow, misshapen
from memaudit.solvers.registry import SOLVERS
from tests.cli.running import failure, run
from tests.reproduce.tampering import edit_manifest, edit_rows, rehash


def problems(folder: Path) -> list[str]:
    """What verification has to say when no row is made again."""
    return verify_all(folder, Effort(sample=0)).problems


@pytest.mark.slow
def test_numbers_that_break_arithmetic(copied: Path) -> None:
    """A division by zero, and a number of a billion digits."""
    name = "sensitivity/rows.jsonl"
    edit_rows(copied, name, lambda row: row.update(optimum="1/0"), only=0)
    edit_rows(copied, name, lambda row: row.update(optimum="1e999999999"), only=1)
    first, second, *rest = problems(copied)
    assert rest == []
    assert first == f"{name}, line 1: optimum: '1/0' divides by zero"
    assert second.startswith(f"{name}, line 2: optimum: 1e999999999 is out of range")


@pytest.mark.slow
def test_what_lies_about(copied: Path, tmp_path: Path) -> None:
    """Hidden files, links, empty folders and pipes are named; nothing behind a link is read."""
    (copied / "natural" / ".evil.json").write_text("{}")
    (copied / "figures" / ".x").symlink_to("/etc/passwd")
    (copied / "empty").mkdir()
    os.mkfifo(copied / "pipe")
    (copied / ".lock").write_text("a payload")
    assert problems(copied) == [
        ".lock: is not in the manifest",
        "empty: is an empty folder",
        "figures/.x: is a link; a reproduction holds plain files",
        "natural/.evil.json: is not in the manifest",
        "pipe: is not a regular file",
    ]
    (copied / "card.md").rename(tmp_path / "card.md")
    (copied / "card.md").symlink_to(tmp_path / "card.md")
    result = run("reproduce", "verify", copied)
    assert result.exit_code == 1
    assert "DIFFERS  card.md: is a link; a reproduction holds plain files\n" in result.stdout
    assert "nothing was computed again" in result.stdout


@pytest.mark.slow
def test_what_is_only_stated(copied: Path) -> None:
    """Versions and times have a form and are told as such; versions that runs name must agree."""
    told, again = verify_all(copied, Effort(sample=0, seed=7)).notes
    assert told.startswith("stated, not checked: made on 1970-01-02 with platform ")
    assert again.startswith("0 of 724 rows were made again")
    edit_manifest(copied, lambda data: data["versions"].update(numpy="0.0.1", matplotlib="0.1"))
    report = verify_all(copied, Effort(sample=0))
    assert len(report.problems) == 2
    assert report.problems[0].startswith("controlled/sweep/run.json: versions is ")
    for change, where in (
        ({"seconds": {"natural": math.nan}}, "times.seconds.natural"),
        ({"seconds": {"natural": -1}}, "times.seconds.natural"),
        ({"date": "2026-1-1"}, "times.date"),
        ({"date": "\u202e<script>"}, "times.date"),
    ):
        before = (copied / "manifest.json").read_text()
        edit_manifest(copied, lambda data, to=change: data["times"].update(to))
        assert f"manifest.json: {where}: " in failure("reproduce", "verify", copied)
        (copied / "manifest.json").write_text(before)
    edit_manifest(copied, lambda data: data["versions"].update(numpy="1\x1b[2J"))
    assert "manifest.json: versions.numpy: " in failure("reproduce", "verify", copied)


@pytest.mark.slow
def test_a_forged_figure(copied: Path, pen: Pen, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its hash was fixed everywhere; drawing it again tells, unless other libraries drew it."""
    name = "figures/sweep-budget_sweep.svg"
    figure = copied / name
    figure.write_text(figure.read_text().replace("GVT", "XYZ"))
    rehash(copied, name)
    effort = Effort(sample=0, pen=pen)
    assert verify_all(copied, effort).problems == [f"{name}: is not what is drawn from the runs"]
    edit_manifest(copied, lambda data: data["versions"].update(matplotlib="3.0"))
    report = verify_all(copied, effort)
    assert report.problems == []
    assert set(report.unverified) == {name}
    assert report.unverified[name].startswith("by hash only: matplotlib was 3.0, here it is ")
    assert report.verdict.startswith("holds, with 1 file not verified: ")
    monkeypatch.setattr(reproduce, "draw_figures", pen)
    result = run("reproduce", "verify", copied, "--sample", "0", "--jobs", "1")
    assert result.exit_code == 0
    assert f"not verified: {name}: by hash only" in result.stdout


@pytest.mark.slow
def test_forged_answers_to_questions(copied: Path) -> None:
    """The diagnosis of the own set is made again in full."""
    name = "downstream/rows.jsonl"
    edit_rows(copied, name, lambda row: row.update(outcome="stale_answer"), only=4)
    assert problems(copied) == [f"{name}: comes out otherwise when it is computed again"]


@pytest.mark.slow
def test_a_manifest_out_of_shape(copied: Path) -> None:
    """Files in the wrong part, a seed that is no number, a name longer than any file's."""
    before = (copied / "manifest.json").read_text()
    for change, said in (
        (lambda data: data["packages"]["base"].update({"9" * 5000: "a"}), ": packages.base."),
        (lambda data: data["packages"]["base"].update({"\u00b2": "a"}), ": packages.base."),
        (lambda data: data["identity"].update(source="x"), ": identity.source: "),
    ):
        edit_manifest(copied, change)
        assert said in failure("reproduce", "verify", copied)
        (copied / "manifest.json").write_text(before)
    edit_manifest(copied, lambda data: data["documents"].update({"a" * 5000: "a", "b\0": "a"}))
    (line,) = (one for one in problems(copied) if one.startswith("aaa"))
    assert len(line) < 200
    (copied / "manifest.json").write_text(before)

    def moved(data: dict[str, Any]) -> None:
        data["parts"]["labels"]["card.md"] = data["documents"].pop("card.md")

    edit_manifest(copied, moved)
    assert "manifest.json: counts 'card.md' to the part 'labels'" in problems(copied)
    edit_manifest(copied, lambda data: data["parts"].pop("figures"))
    assert "figures/pipeline.svg: is not in the manifest" in problems(copied)


def tally(**changes: Any) -> dict[str, Any]:
    """A backend that found what it should at two budgets."""
    return {"rows": 2, "matches": 2, "max_difference": "0", "certified": 2, "refused": 0,
            "differing": [], **changes}  # fmt: skip


def solver_row(**changes: Any) -> dict[str, Any]:
    """A row of the solver audit, its first backend changed."""
    solvers = {name: tally() for name in SOLVERS} | {next(iter(SOLVERS)): tally(**changes)}
    return {"distribution": "base", "seed": 0, "budgets": [1, 2], "solvers": solvers}


def test_rows_of_solvers_add_up() -> None:
    """Matches and differences are all rows, and the largest difference is one of them."""
    other = {"package": "p", "budget": 1, "solver": "s", "value": "1/3", "expected": "1"}
    assert misshapen(SolverRow, solver_row()) == ""
    assert (
        misshapen(SolverRow, solver_row(matches=1, max_difference="2/3", differing=[other])) == ""
    )
    for changes, said in (
        ({"matches": 1}, "matches and differences are not all rows"),
        ({"matches": 1, "differing": [other]}, "the largest difference is not among"),
        ({"max_difference": "1e999999999"}, "out of range"),
        ({"rows": 1, "matches": 1, "certified": 1}, "budgets that were solved and refused"),
        ({"rows": float("inf")}, "valid integer"),
        ({"certified": 3}, "matches and differences are not all rows"),
    ):
        assert said in misshapen(SolverRow, solver_row(**changes))
    fewer = solver_row()
    fewer["solvers"].popitem()
    assert "the backends are others" in misshapen(SolverRow, fewer)
    assert misshapen(SolverRow, {**solver_row(), "solvers": 5}).startswith("solvers: ")
    assert misshapen(VariantRow, {}).startswith("place: ")

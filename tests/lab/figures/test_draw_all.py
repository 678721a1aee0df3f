"""All figures of real runs, and what is said of those that cannot be drawn."""

import json
from pathlib import Path

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.figures.registry import FIGURES, Skipped, draw_all
from memaudit.lab.sweeps.runs.spec import RunSpec
from memaudit.lab.sweeps.runs.summary import summarise
from memaudit.lab.sweeps.runs.sweep import run
from memaudit.workspace.engines import Serial


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run of two distributions, summarised."""
    folder = tmp_path_factory.mktemp("runs") / "small"
    writers = ("opt", "gvt", "no_tombstone_opt")
    run(RunSpec(("base", "update_chain"), (3, 4), ("2", "6"), writers), folder, Serial())
    summarise(folder)
    return folder


def test_every_figure(folder: Path, tmp_path: Path) -> None:
    """Each in each format, named by its run, and nothing else."""
    out = tmp_path / "new" / "figures"
    drawn = draw_all([folder], out, ("png", "svg"))
    stems = {f"small-{name}" for name, kind in FIGURES.items() if kind.source == "run"}
    stems.add("pipeline")
    wanted = {f"{stem}.{form}" for stem in stems for form in ("png", "svg")}
    assert drawn.skipped == ()
    assert {path.name for path in drawn.files} == wanted
    assert {path.name for path in out.iterdir()} == wanted
    assert all(path.parent == out for path in drawn.files)


def test_run_without_summary(folder: Path, tmp_path: Path) -> None:
    """What needs only the run is drawn; the rest is counted with its reason."""
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("run.json", "rows.jsonl"):
        (bare / name).write_bytes((folder / name).read_bytes())
    drawn = draw_all([bare], tmp_path / "out", ("svg",))
    assert {path.name for path in drawn.files} == {
        "pipeline.svg",
        "bare-validity_timeline.svg",
    }
    reason = f"{bare} has no summary.json; summarise the run first"
    assert drawn.skipped == tuple(
        Skipped(name, bare, reason) for name in ("budget_sweep", "stress_heatmap", "frontier_gap")
    )


def test_summary_of_another_run(folder: Path, tmp_path: Path) -> None:
    """An old summary beside a new run is not drawn."""
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    (mixed / "run.json").write_bytes((folder / "run.json").read_bytes())
    summary = json.loads((folder / "summary.json").read_text())
    (mixed / "summary.json").write_text(json.dumps({**summary, "spec_digest": "0"}))
    drawn = draw_all([mixed], tmp_path / "out", ("svg",))
    reasons = {skip.figure: skip.reason for skip in drawn.skipped}
    assert reasons["budget_sweep"] == (f"the summary in {mixed} is of another run; summarise again")


def test_no_runs(tmp_path: Path) -> None:
    (file,) = draw_all([], tmp_path, ("pdf",)).files
    assert file.name == "pipeline.pdf"


def test_refusals(folder: Path, tmp_path: Path) -> None:
    """A folder that is no run, two of one name, a bad format: one line, nothing drawn."""
    with pytest.raises(MemAuditError, match=r"^cannot read .*run\.json"):
        draw_all([tmp_path], tmp_path / "out")
    with pytest.raises(MemAuditError, match="two run folders are called 'small'"):
        draw_all([folder, folder / ".." / "small"], tmp_path / "out")
    with pytest.raises(MemAuditError, match="cannot draw 'gif'"):
        draw_all([folder], tmp_path / "out", ("gif",))
    assert not (tmp_path / "out").exists()

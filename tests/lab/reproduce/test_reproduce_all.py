"""`memaudit reproduce all`: what it leaves behind, and how it goes on."""

import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from memaudit.building.named_packages import natural_set
from memaudit.kernel.package.digest import digest
from memaudit.kernel.solvers.solve import solve
from memaudit.lab.sweeps.generators.registry import named_distribution
from memaudit.lab.sweeps.runs.sweep import certificate_hash
from memaudit.models.prompts import PROMPTS, pass_prompt
from memaudit.workspace.run_folder import files_in
from tests.cli.running import failure, run
from tests.lab.reproduce.conftest import OPTIONS

pytestmark = pytest.mark.slow


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file but the manifest, which holds times."""
    return {
        name: (folder / name).read_bytes() for name in files_in(folder) if name != "manifest.json"
    }


def manifest_of(folder: Path) -> dict[str, Any]:
    """The manifest, without fields that it declares as those of one machine and moment."""
    data: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    assert {"times", "identity.source"} <= set(data["declared"])
    del data["times"], data["identity"]["source"]
    return data


def test_what_is_there(finished: Path) -> None:
    """A folder for each part, documents on top, and nothing unfinished."""
    top = {path.name for path in finished.iterdir()}
    assert top == {
        "controlled",
        "solvers",
        "natural",
        "sensitivity",
        "labels",
        "stores",
        "downstream",
        "figures",
        "tables",
        "manifest.json",
        "packages.jsonl",
        "scoreboard.json",
        "scoreboard.md",
        "card.md",
        "croissant.json",
        "LICENCES.md",
    }
    listed = manifest_of(finished)
    named = {name for part in listed["parts"].values() for name in part} | set(listed["documents"])
    assert named == set(files_in(finished)) - {"manifest.json"}
    figures = {Path(name).stem for name in listed["parts"]["figures"]}
    board = json.loads((finished / "scoreboard.json").read_text())
    for figure in board["figures"]:
        assert {Path(name).name for name in figure["files"]} <= figures
    for path in board["own_set"].values():
        assert (finished / path).is_file()


def test_the_manifest_names_what_was_computed(finished: Path) -> None:
    """Digests, certificates and prompts, each found again by other means."""
    listed = manifest_of(finished)
    base = named_distribution("base").package(2)
    assert listed["packages"]["base"]["2"] == digest(base)
    assert set(listed["packages"]["base"]) == {"0", "1", "2"}
    assert listed["packages"]["natural"]["1"] == digest(natural_set()[1])
    assert len(set(listed["packages"]["update_chain"].values())) == 1
    proofs = listed["certificates"][digest(base)]
    assert set(proofs) == {"1", "2", "4", "8", "16", "6"}
    best = solve(base, Fraction(4)).certificate
    assert best is not None
    assert proofs["4"] == certificate_hash(best)
    two = solve(natural_set()[0], 60, group_cap=2).certificate
    assert two is not None
    assert listed["certificates"][digest(natural_set()[0])]["60, k = 2"] == certificate_hash(two)
    for name in PROMPTS:
        assert listed["prompts"][f"models/prompts/{name}.md"] == pass_prompt(name).sha256
    assert listed["seeds"]["sweep"] == listed["seeds"]["stress"] == "0-2"
    assert {"python", "numpy", "numba", "highspy", "memaudit"} <= listed["versions"].keys()
    assert listed["command_lines"]["all"].endswith("--seeds 3 --rows 24 --packages 3")
    assert "lab/sweeps/generators/tables/base.toml" in listed["data"]


def test_nothing_tells_where_it_was_made(finished: Path) -> None:
    """No path of this machine is in any text."""
    for name in files_in(finished):
        if not name.endswith((".png", ".pdf")):
            text = (finished / name).read_text()
            assert str(finished.parent) not in text, name
            assert str(Path.home()) + "/" not in text, name


def test_a_broken_part_is_made_again_and_others_are_kept(finished: Path, copied: Path) -> None:
    """Rows that were forged in a finished part are not gone on with."""
    rows = copied / "sensitivity" / "rows.jsonl"
    lines = rows.read_bytes().splitlines(keepends=True)
    rows.write_bytes(b"".join(reversed(lines)))
    result = run("reproduce", "all", "--out", copied, *OPTIONS)
    assert "sensitivity: computing" in result.stderr
    assert result.stderr.count("already done, files intact") == 7
    assert bytes_of(copied) == bytes_of(finished)
    assert manifest_of(copied) == manifest_of(finished)


def test_a_killed_run_goes_on(finished: Path, copied: Path) -> None:
    """Two parts are not done, one of them has a half-written row; all ends the same."""
    manifest = json.loads((copied / "manifest.json").read_text())
    progress = {
        "format": manifest["format"],
        "version": 1,
        "identity": manifest["identity"],
        "times": {"date": manifest["times"]["date"]},
        "parts": {
            name: {"files": files, "seconds": 1.0}
            for name, files in manifest["parts"].items()
            if name not in ("natural", "solvers")
        },
    }
    (copied / "progress.json").write_text(json.dumps(progress))
    (copied / "manifest.json").unlink()
    rows = copied / "natural" / "rows.jsonl"
    rows.write_bytes(rows.read_bytes()[:100_000])
    (copied / "natural" / "summary.json").unlink()
    (copied / ".card.md.new-0123abcd").write_text("half")
    shutil.rmtree(copied / "solvers")
    result = run("reproduce", "all", "--out", copied, *OPTIONS)
    assert "natural: computing" in result.stderr
    assert "solvers: computing" in result.stderr
    assert result.stderr.count("already done, files intact") == 6
    assert bytes_of(copied) == bytes_of(finished)
    assert not list(copied.glob(".*.new-*"))


def test_a_folder_holds_one_reproduction(copied: Path, tmp_path: Path) -> None:
    """Other settings and other things in the folder are refused, and nothing is touched."""
    before = (copied / "manifest.json").read_bytes()
    line = failure("reproduce", "all", "--out", copied, "--seeds", "4", *OPTIONS[2:])
    assert line.endswith("holds another reproduction (different: settings); choose another folder")
    assert (copied / "manifest.json").read_bytes() == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("dear diary")
    line = failure("reproduce", "all", "--out", tmp_path / "mine", *OPTIONS)
    assert "holds diary.txt, which is not part of a reproduction" in line
    assert "the natural set has 64" in failure("reproduce", "all", "--packages", "65")
    too_many = failure("reproduce", "all", "--out", tmp_path / "new", "--rows", str(10**40))
    assert too_many.endswith("--rows must be at most 1,000,000")
    (tmp_path / "hers").mkdir()
    (tmp_path / "hers" / "away").symlink_to(tmp_path)
    line = failure("reproduce", "all", "--out", tmp_path / "hers", *OPTIONS)
    assert line.endswith(
        "is a link; only plain files can be vouched for; remove it or choose another folder"
    )


def test_a_finished_folder_is_shown_again(
    finished: Path, copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is computed, and the day it was made stays."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "999999999")
    result = run("reproduce", "all", "--out", copied, *OPTIONS)
    assert result.stderr.count("already done, files intact") == 8
    assert (copied / "scoreboard.json").read_bytes() == (finished / "scoreboard.json").read_bytes()
    assert (copied / "manifest.json").read_bytes() == (finished / "manifest.json").read_bytes()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "tomorrow")
    message = failure("reproduce", "all", "--out", copied)
    assert "is not a number of seconds; correct or unset it" in message


def test_command_lines_can_be_typed(finished: Path) -> None:
    """Every one names a command there is, with options that it has."""
    for line in manifest_of(finished)["command_lines"].values():
        program, *words = line.split()
        assert program == "memaudit"
        shown = run(*words[:2], "--help")
        assert shown.exit_code == 0
        assert [word for word in words if word.startswith("--") and word not in shown.stdout] == []

"""`memaudit reproduce verify`: what is sound passes, and every kind of tampering is found."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from memaudit.experiments.artifact.verify import Effort, verify_all

from memaudit.cli import reproduce
from memaudit.experiments.engines.local import Serial
from memaudit.io.journal import read_journal
from memaudit.reproduce.settings import Settings
from memaudit.reproduce.verify.compare import check_again
from memaudit.reproduce.verify.drawn import Pen
from memaudit.reproduce.verify.report import Report
from memaudit.reproduce.verify.rows import run_specs
from tests.cli.running import failure, run
from tests.reproduce.guide import VERIFY, check_shown, words_of
from tests.reproduce.tampering import edit_json, edit_manifest, edit_rows, rehash

pytestmark = pytest.mark.slow
SWEEP = "controlled/sweep/rows.jsonl"


def problems(folder: Path) -> list[str]:
    """What verification has to say when no row is made again."""
    return verify_all(folder, Effort(sample=0)).problems


def made_again(folder: Path, part: str) -> list[str]:
    """What it has to say about the rows of one part, every one of them made again."""
    report, settings = Report(), Settings(3, 24, 3)
    rows = {part: list(read_journal(folder / part / "rows.jsonl"))}
    check_again(rows, settings, run_specs(settings), None, 0, Serial(), report)
    return report.problems


def test_a_sound_folder_passes_in_full(finished: Path) -> None:
    """Other processes with another hash seed make every row, table and figure to the byte."""
    command = [sys.executable, "-m", "memaudit.cli.main", *words_of(VERIFY, finished)]
    result = subprocess.run(
        [*command, "--json", "--jobs", "2"], env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True, check=False,
    )  # fmt: skip
    data = json.loads(result.stdout)
    assert data["problems"] == []
    assert result.returncode == 0
    # 3 seeds x 5 budgets x 10 writers; 8 distributions x 3 x 10; 3 packages x 5 budgets x 19
    # writers; 3 packages x 3 variants x 5 budgets; 4 packages of six budgets in the solver audit.
    assert data["checked"]["rows"] == 150 + 240 + 285 + 45 + 4
    assert data["checked"]["rows made again"] == data["checked"]["rows"]
    assert data["checked"]["packages"] == 8 * 3 + 3
    figures = json.loads((finished / "manifest.json").read_text())["parts"]["figures"]
    assert data["checked"]["figures"] == len(figures) == 3 * 12
    assert (data["headline"], data["not_verified"]) == ("OK", {})


def test_a_sample_has_a_row_of_every_mean(
    finished: Path, pen: Pen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text output says how much was looked at, and with which seed to look again."""
    monkeypatch.setattr(reproduce, "draw_figures", pen)
    first = run("reproduce", "verify", finished, "--sample", "10", "--jobs", "1")
    assert first.exit_code == 0
    # 5 budgets and 8 distributions of 10 writers, 2 x 2 more parts in full or one a distribution.
    assert f"{50 + 80 + 285 + 45 + 4} of 724 rows were made again" in first.stdout
    (seed,) = re.findall(r"drawn with --seed ([0-9]+)$", first.stdout, re.MULTILINE)
    again = verify_all(finished, Effort(10, int(seed)))
    assert again.notes[-1] in first.stdout.splitlines()
    check_shown(VERIFY, first.stdout, finished)


def test_files(copied: Path) -> None:
    """A changed, a missing and an added file are one line each, and the command fails."""
    with (copied / "figures" / "pipeline.svg").open("a") as file:
        file.write(" ")
    (copied / "extra.txt").write_text("")
    assert problems(copied) == [
        "extra.txt: is not in the manifest",
        "figures/pipeline.svg: its SHA-256 is not the manifest's",
    ]
    (copied / "card.md").unlink()
    result = run("reproduce", "verify", copied)
    assert result.exit_code == 1
    assert "DIFFERS  card.md: is missing\n" in result.stdout
    assert "3 problems: " in result.stdout


def test_a_forged_number_in_a_row(copied: Path) -> None:
    """Value and ratio are changed together; the summary gives it away without any sample."""

    def better(row: dict[str, Any]) -> None:
        row["value"], row["ratio"] = row["optimum"], 1.0

    edit_rows(copied, SWEEP, better, only=13)
    assert problems(copied) == ["controlled/sweep/summary.json: does not follow from the rows"]
    _, value = made_again(copied, "controlled/sweep")
    assert value.startswith(f"{SWEEP}, line 14: value is")


def test_a_forged_store_in_a_row(copied: Path) -> None:
    """No number changes, so only writing it again tells."""
    edit_rows(copied, "natural/rows.jsonl", lambda row: row.update(store=["m1"]), only=7)
    assert problems(copied) == []
    (line,) = made_again(copied, "natural")
    assert line.startswith("natural/rows.jsonl, line 8: store is ['m1'], computed again [")


def test_rows_that_contradict_themselves(copied: Path) -> None:
    """A ratio that is no quotient, a row in another's place, a row of the wrong shape."""
    edit_rows(copied, SWEEP, lambda row: row.update(ratio=0.5), only=1)
    edit_rows(copied, SWEEP, lambda row: row.update(writer="gvt"), only=2)
    edit_rows(copied, SWEEP, lambda row: row.pop("cost"), only=3)
    found = problems(copied)
    assert f"{SWEEP}, line 2: the ratio is not value / optimum" in found
    assert any(one.startswith(f"{SWEEP}, line 3: what the row is about is") for one in found)
    assert any(one.startswith(f"{SWEEP}, line 4: cost: ") for one in found)


def test_a_damaged_row_is_named(copied: Path) -> None:
    """A row without its checksum cannot be read."""
    path = copied / "solvers" / "rows.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"matches":6', b'"matches":5', 1))
    rehash(copied, "solvers/rows.jsonl")
    assert any("line 1: the row is damaged or cut off" in one for one in problems(copied))


def test_a_forged_solver_row(copied: Path) -> None:
    """A count in a row does not fit the table; with the table forged too, solving again tells."""

    def fewer(row: dict[str, Any]) -> None:
        row["solvers"]["highs"]["certified"] += 1

    edit_rows(copied, "solvers/rows.jsonl", fewer, only=1)
    assert "solvers/summary.json: does not follow from the rows" in problems(copied)

    def total(summary: dict[str, Any]) -> None:
        summary["solvers"]["highs"]["certified"] += 1

    edit_json(copied / "solvers" / "summary.json", total)
    rehash(copied, "solvers/summary.json")
    found = problems(copied)
    assert "tables/solvers.md: does not follow from the files of the parts" in found
    (line,) = made_again(copied, "solvers")
    assert line.startswith("solvers/rows.jsonl, line 2: solvers is")


def test_a_forged_digest(copied: Path) -> None:
    """In the manifest alone, and in rows and manifest alike."""
    fake = "0" * 64
    edit_manifest(copied, lambda data: data["packages"]["base"].update({"1": fake}))
    assert any(
        one.startswith(f"package base, 1: its digest in the manifest is '{fake}'")
        for one in problems(copied)
    )

    def change(row: dict[str, Any]) -> None:
        if row["seed"] == 1:
            row["digest"] = fake

    edit_rows(copied, SWEEP, change)
    assert any(one.startswith(f"{SWEEP}, line 51: the digest is") for one in problems(copied))


def test_a_forged_certificate_hash(copied: Path) -> None:
    """In the manifest alone; and in rows and manifest alike, which solving again tells."""
    fake = "f" * 64
    row = json.loads((copied / SWEEP).read_text().splitlines()[0])
    proofs = {str(row["budget"]): fake}
    edit_manifest(copied, lambda data: data["certificates"][row["digest"]].update(proofs))
    (line,) = problems(copied)
    assert line.startswith(f"manifest.json, certificates of {row['digest'][:16]}: the hash is")

    def change(one: dict[str, Any]) -> None:
        if (one["digest"], one["budget"]) == (row["digest"], row["budget"]):
            one["certificate"] = fake

    edit_rows(copied, SWEEP, change)
    assert problems(copied) == []
    found = made_again(copied, "controlled/sweep")
    assert len(found) == 10  # every writer's row at this budget
    assert found[0].startswith(f"{SWEEP}, line 1: certificate is '{fake[:20]}")


def test_a_forged_scoreboard(copied: Path) -> None:
    """The line is named, though the file's hash was fixed."""

    def change(board: dict[str, Any]) -> None:
        line = next(one for one in board["lines"] if one["verdict"] == "differ")
        line["ours"], line["verdict"] = line["published"], "agree"

    edit_json(copied / "scoreboard.json", change)
    rehash(copied, "scoreboard.json")
    where = "scoreboard.json: table 1, branch and bound against MILP, rows"
    ours, verdict = (one for one in problems(copied) if one.startswith(where))
    assert ours == f"{where}: ours is '1200', computed again '24'"
    assert verdict == f"{where}: verdict is 'agree', computed again 'differ'"


def test_forged_documents(copied: Path) -> None:
    """Everything that follows from something else is derived again, though hashes were fixed."""
    names = ("card.md", "tables/stress.md", "controlled/scoreboard.json", "LICENCES.md",
             "packages.jsonl", "croissant.json")  # fmt: skip
    for name in names:
        (copied / name).write_text((copied / name).read_text() + "\n")
        rehash(copied, name)
    found = problems(copied)
    for name in names:
        assert any(one.startswith(f"{name}: does not follow from") for one in found)


def test_a_forged_label_audit(copied: Path) -> None:
    """It is computed again; what rests on it is not judged."""

    def change(audit: dict[str, Any]) -> None:
        audit["pairs"][0]["scales"]["covered"]["as_drawn"]["kappa"]["value"] = 0.831

    edit_json(copied / "labels" / "agreement.json", change)
    rehash(copied, "labels/agreement.json")
    assert problems(copied) == [
        "labels/agreement.json: comes out otherwise when it is computed again"
    ]


def test_a_package_on_disk(copied: Path) -> None:
    """A natural package that is another one, or cannot be read."""
    name, other = (
        copied / "natural" / "packages" / f"{one}.json" for one in ("film-night", "hotel-rooms")
    )
    place = "natural/packages/film-night.json"
    name.write_bytes(other.read_bytes())
    rehash(copied, place)
    (line,) = problems(copied)
    assert line.startswith(f"{place}: the digest of the package is")
    name.write_text("{")
    rehash(copied, place)
    (line,) = problems(copied)
    assert line.startswith(f"{place}: film-night.json")


def test_another_program_is_a_note(copied: Path, pen: Pen) -> None:
    """Results are checked all the same; prompts and data of another program are not."""

    def change(data: dict[str, Any]) -> None:
        data["identity"]["source"] = "0" * 64
        data["prompts"] = {}

    edit_manifest(copied, change)
    report = verify_all(copied, Effort(sample=0, pen=pen))
    assert report.problems == []
    assert any(note.startswith("made by another program: memaudit ") for note in report.notes)
    assert set(report.unverified) == {"manifest.json"}
    assert report.headline == "holds, with 1 file not verified"


def test_sizes_that_do_not_fit_stop_it(copied: Path) -> None:
    """A manifest that claims more seeds than it lists does not keep anyone busy."""
    edit_manifest(copied, lambda data: data["identity"]["settings"].update(seeds=10**5))
    assert problems(copied) == ["manifest.json: lists 3 packages of base for 100000 seeds"]
    for name in ("seeds", "rows"):
        sizes = {"seeds": 3, "rows": 24, name: 10**40}
        edit_manifest(copied, lambda data, to=sizes: data["identity"]["settings"].update(to))
        line = failure("reproduce", "verify", copied)
        assert f"has impossible settings: --{name} asks for too many; use " in line
    edit_manifest(copied, lambda data: data["identity"]["settings"].update(seeds=3, rows=10**6))
    assert "solvers/rows.jsonl: its rows are not the ones that were asked for" in problems(copied)


def test_what_cannot_be_checked(copied: Path, tmp_path: Path) -> None:
    """One line each: no manifest, an unfinished folder, a path that leads out, no JSON."""
    assert "has no manifest.json; give the folder" in failure("reproduce", "verify", tmp_path)
    edit_manifest(copied, lambda data: data["documents"].update({"../card.md": "0"}))
    assert "names a file outside its folder: '../card.md'" in failure("reproduce", "verify", copied)
    edit_manifest(copied, lambda data: data.pop("parts"))
    assert "parts: field required" in failure("reproduce", "verify", copied)
    (copied / "manifest.json").write_text("{")
    assert "invalid JSON" in failure("reproduce", "verify", copied)
    (copied / "manifest.json").rename(copied / "progress.json")
    assert "has no manifest.json; it is not finished" in failure("reproduce", "verify", copied)

"""`memaudit reproduce verify`: sound folders pass, every kind of tampering is one clear line."""

import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memaudit.lab.reproduce.manifest import Manifest
from memaudit.lab.reproduce.reproduce_all import MakeAgain, VerifyReport, verify_reproduction
from tests.cli.running import failure, run
from tests.lab.reproduce.guide import VERIFY, words_of
from tests.lab.reproduce.tampering import Change, edit_json, edit_manifest, edit_rows, rehash

SWEEP, NATURAL = "controlled/sweep/rows.jsonl", "natural/rows.jsonl"
SENSITIVITY, SOLVERS = "sensitivity/rows.jsonl", "solvers/rows.jsonl"
FAKE = "f" * 64

slow = pytest.mark.slow


@pytest.fixture
def again(finished: Path) -> MakeAgain:
    """Gives the sound folder; that making it again gives the same is tested once, in full."""

    def copy(folder: Path, manifest: Manifest, archive: object) -> None:  # noqa: ARG001
        shutil.copytree(finished, folder)

    return copy


def verified(folder: Path, again: MakeAgain | None = None) -> VerifyReport:
    return verify_reproduction(folder, again)


@slow
def test_a_sound_folder_passes_in_full(finished: Path) -> None:
    """Other processes with another hash seed make every row, table and figure to the byte."""
    command = [sys.executable, "-m", "memaudit.cli.main", *words_of(VERIFY, finished)]
    result = subprocess.run(
        [*command, "--json"],
        env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True,
        check=False,
    )
    data = json.loads(result.stdout)
    assert data["problems"] == []
    assert result.returncode == 0
    assert data["checked"]["files"] == data["checked"]["files made again"]
    assert (data["headline"], data["not_verified"]) == ("OK", {})


@slow
def test_files(copied: Path) -> None:
    """A changed, a missing and an added file are one line each, and the command fails."""
    with (copied / "figures" / "pipeline.svg").open("a") as file:
        file.write(" ")
    (copied / "extra.txt").write_text("")
    assert verified(copied).problems == [
        "extra.txt: is not in the manifest",
        "figures/pipeline.svg: its SHA-256 is not the manifest's",
    ]
    (copied / "card.md").unlink()
    result = run("reproduce", "verify", copied, "--hashes")
    assert result.exit_code == 1
    assert "DIFFERS  card.md: is missing\n" in result.stdout
    assert "3 problems: " in result.stdout


@slow
def test_entries_that_are_no_plain_files(copied: Path, tmp_path: Path) -> None:
    """Hidden files, links, empty folders and pipes are named; nothing behind a link is read."""
    (copied / "natural" / ".evil.json").write_text("{}")
    (copied / "figures" / ".x").symlink_to("/etc/passwd")
    (copied / "empty").mkdir()
    os.mkfifo(copied / "pipe")
    (copied / ".lock").write_text("a payload")
    assert verified(copied).problems == [
        ".lock: is not in the manifest",
        "empty: is an empty folder",
        "figures/.x: is a link; only plain files can be vouched for",
        "natural/.evil.json: is not in the manifest",
        "pipe: is not a regular file",
    ]
    (copied / "card.md").rename(tmp_path / "card.md")
    (copied / "card.md").symlink_to(tmp_path / "card.md")
    result = run("reproduce", "verify", copied, "--hashes")
    assert result.exit_code == 1
    assert "DIFFERS  card.md: is a link; only plain files can be vouched for\n" in result.stdout
    assert "nothing was recomputed" in result.stdout


def better(row: dict[str, Any]) -> None:
    row["value"], row["ratio"] = row["optimum"], 1.0


@slow
@pytest.mark.parametrize(
    ("name", "place", "change", "difference"),
    [
        (SWEEP, 13, better, "ratio "),
        (NATURAL, 7, lambda row: row.update(store=["m1"]), 'store ["m1"], recomputed ['),
        (NATURAL, 3, lambda row: row.update(budget_as_given="ten"), 'budget_as_given "ten", '),
        (SWEEP, 0, lambda row: row.update(certificate=FAKE), f'certificate "{FAKE}", recomputed '),
        (SWEEP, 60, lambda row: row.update(digest=FAKE), f'digest "{FAKE}", recomputed '),
        (SENSITIVITY, 4, lambda row: row.update(optimum="9"), 'optimum "9", recomputed "'),
        (SOLVERS, 1, lambda row: row["solvers"]["highs"].update(certified=7), "solvers {"),
    ],
)
def test_a_forged_row(
    copied: Path, again: MakeAgain, name: str, place: int, change: Change, difference: str
) -> None:
    """Its checksum and its file's hash were fixed; recomputing finds it."""
    edit_rows(copied, name, change, only=place)
    (problem,) = (line for line in verified(copied, again).problems if line.startswith(name))
    assert problem.startswith(f"{name}: line {place + 1} has {difference}")


@slow
def test_rows_damaged_missing_or_added(copied: Path, again: MakeAgain) -> None:
    path = copied / SOLVERS
    path.write_bytes(b"{" * 9 + path.read_bytes())
    (copied / SENSITIVITY).write_text("")
    with (copied / NATURAL).open("a") as file:
        file.write("{}\n")
    for name in (SOLVERS, SENSITIVITY, NATURAL):
        rehash(copied, name)
    problems = verified(copied, again).problems
    assert f"{SOLVERS}: line 1 is damaged or cut off" in problems
    assert f"{SENSITIVITY}: line 1 is damaged or cut off" in problems
    rows = len((copied / NATURAL).read_text().splitlines()) - 1
    assert f"{NATURAL}: has more than {rows} rows" in problems


@slow
@pytest.mark.parametrize(
    "name",
    [
        "card.md",
        "tables/stress.md",
        "controlled/scoreboard.json",
        "LICENCES.md",
        "stores/denominators.json",
        "labels/agreement.json",
        "downstream/summary.json",
        "natural/packages/father-home-care.json",
        "figures/sweep-budget_sweep.svg",
    ],
)
def test_a_forged_file(copied: Path, again: MakeAgain, name: str) -> None:
    """Everything is made again, though hashes were fixed; other libraries may draw otherwise."""
    text = (copied / name).read_text()
    forged = text.replace("1", "2", 1) if name.endswith(".json") else f"{text}\n"
    (copied / name).write_text(forged)
    rehash(copied, name)
    assert f"{name}: differs from what is recomputed" in verified(copied, again).problems
    edit_manifest(copied, lambda data: data["versions"].update(matplotlib="3.0"))
    report = verified(copied, again)
    if name.startswith("figures/"):
        assert report.problems == []
        assert report.unverified[name].startswith("by hash only: matplotlib was 3.0, here it is ")
        assert report.headline.startswith("holds, with ")


@slow
def test_forged_fields_of_the_manifest(copied: Path, again: MakeAgain) -> None:
    """Certificates, seeds, packages, versions and files in the wrong part."""
    before = (copied / "manifest.json").read_text()
    digest = json.loads((copied / SWEEP).read_text().splitlines()[0])["digest"]

    def moved(data: dict[str, Any]) -> None:
        data["parts"]["labels"]["card.md"] = data["documents"].pop("card.md")

    for change, problem in (
        (
            lambda data: data["certificates"][digest].update({"4": FAKE}),
            "manifest.json: its certificates do not follow from the files",
        ),
        (
            lambda data: data["seeds"].update(sweep="0-3"),
            "manifest.json: its seeds do not follow from the files",
        ),
        (
            lambda data: data["packages"]["base"].update({"1": FAKE}),
            "manifest.json: its packages do not follow from the files",
        ),
        (
            lambda data: data["identity"].update(memaudit="9.9"),
            "manifest.json: names version 9.9, which did not make this",
        ),
        (moved, "manifest.json: lists 'card.md' in the part 'labels'"),
        (lambda data: data["parts"].pop("figures"), "figures/pipeline.svg: is not in the manifest"),
    ):
        edit_manifest(copied, change)
        assert problem in verified(copied, again).problems
        (copied / "manifest.json").write_text(before)


@slow
def test_another_program_is_a_note(copied: Path, again: MakeAgain) -> None:
    """Results are checked all the same; versions in files, prompts and data are not."""

    def later(data: dict[str, Any]) -> None:
        data["identity"].update(memaudit="9.9", source="0" * 64)
        data["versions"]["memaudit"] = "9.9"
        data["prompts"] = {}

    edit_rows(copied, NATURAL, lambda row: row.update(version="9.9"))
    edit_json(
        copied / "controlled/sweep/run.json", lambda data: data["versions"].update(memaudit="9.9")
    )
    rehash(copied, "controlled/sweep/run.json")
    edit_manifest(copied, later)
    report = verified(copied, again)
    assert report.problems == []
    assert any(note.startswith("made by another program: memaudit 9.9") for note in report.notes)
    assert {"manifest.json", NATURAL} <= set(report.unverified)
    edit_rows(copied, NATURAL, lambda row: row.update(budget_as_given="ten"), only=3)
    assert any(line.startswith(f"{NATURAL}: line 4") for line in verified(copied, again).problems)


@slow
def test_what_is_only_stated(copied: Path) -> None:
    """Versions and times have a form, and are shown as not checked."""
    stated, hashes = verified(copied).notes
    assert stated.startswith("stated, not checked: made on 1970-01-02 with platform ")
    assert hashes == "checked by hash only: nothing was recomputed"


@slow
def test_a_manifest_that_cannot_be_read(copied: Path, tmp_path: Path) -> None:
    """One line each: no manifest, an unfinished folder, bad values, a path that leads out."""
    path = copied / "manifest.json"
    before = path.read_text()
    changes: list[tuple[Callable[[Any], object], str]] = [
        (lambda data: data["times"]["seconds"].update(natural=math.nan), "times.seconds.natural: "),
        (lambda data: data["times"]["seconds"].update(natural=-1), "times.seconds.natural: "),
        (lambda data: data["times"].update(date="2026-1-1"), "times.date: "),
        (lambda data: data["times"].update(date="\u202e<script>"), "times.date: "),
        (lambda data: data["versions"].update(numpy="1\x1b[2J"), "versions.numpy: "),
        (lambda data: data["packages"]["base"].update({"9" * 5000: "a"}), "packages.base."),
        (lambda data: data["packages"]["base"].update({"\u00b2": "a"}), "packages.base."),
        (lambda data: data["identity"].update(source="x"), "identity.source: "),
        (
            lambda data: data["documents"].update({"../card.md": "0"}),
            "names a file outside its folder: '../card.md'",
        ),
        (lambda data: data["identity"]["settings"].update(seeds=10**40), "--seeds must be at most"),
        (lambda data: data["identity"]["settings"].update(rows=10**40), "--rows must be at most"),
        (lambda data: data.pop("parts"), "parts: field required"),
    ]
    for change, message in changes:
        edit_manifest(copied, change)
        assert message in failure("reproduce", "verify", copied)
        path.write_text(before)
    edit_manifest(copied, lambda data: data["documents"].update({"a" * 5000: "a", "b\0": "a"}))
    (line,) = (line for line in verified(copied).problems if line.startswith("aaa"))
    assert len(line) < 200
    path.write_text("{")
    assert "invalid JSON" in failure("reproduce", "verify", copied)
    path.rename(copied / "progress.json")
    assert "has no manifest.json; it is incomplete" in failure("reproduce", "verify", copied)
    assert "has no manifest.json; give a folder" in failure("reproduce", "verify", tmp_path)


@slow
def test_sizes_that_do_not_fit_stop_it(copied: Path, again: MakeAgain) -> None:
    """A manifest that claims more seeds or rows than it has does not keep anyone busy."""
    edit_manifest(copied, lambda data: data["identity"]["settings"].update(seeds=10**5))
    assert verified(copied, again).problems == [
        "manifest.json: lists 3 packages of base for 100000 seeds"
    ]
    edit_manifest(copied, lambda data: data["identity"]["settings"].update(seeds=3, rows=10**6))
    assert verified(copied, again).problems == [
        f"{SOLVERS}: has 4 rows, the settings ask for 166667"
    ]

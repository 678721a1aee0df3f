"""`memaudit reproduce verify`: sound folders pass, every kind of tampering is one clear line."""

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.cli import reproduce
from memaudit.experiments.engines import Serial
from memaudit.io.journal import read_journal
from memaudit.reproduce.settings import Settings
from memaudit.reproduce.verify import Draw, Effort, VerifyReport, verify_reproduction
from memaudit.reproduce.verify_rows import (
    RowPart,
    check_rows,
    draw_packages,
    row_parts,
    sample_packages,
)
from tests.cli.running import failure, run
from tests.reproduce.guide import VERIFY, check_shown, words_of
from tests.reproduce.tampering import Change, edit_json, edit_manifest, edit_rows, rebuild, rehash

SWEEP, NATURAL = "controlled/sweep/rows.jsonl", "natural/rows.jsonl"
SENSITIVITY, SOLVERS = "sensitivity/rows.jsonl", "solvers/rows.jsonl"
FAKE = "f" * 64

slow = pytest.mark.slow


def verified(folder: Path, **effort: Any) -> VerifyReport:
    """Without recomputing rows unless a sample is given."""
    return verify_reproduction(folder, Effort(**{"sample": 0, **effort}))


def recomputed(folder: Path, part: str) -> list[str]:
    """The problems of one part when all of its rows are recomputed."""
    parts = row_parts(Settings(3, 24, 3), None, 0)
    rows = {part: list(read_journal(folder / part / "rows.jsonl"))}
    check = check_rows(parts, rows, None, 0, Serial())
    return [f"{where}: {what}" for where, what in check.problems]


@slow
def test_a_sound_folder_passes_in_full(finished: Path) -> None:
    """Other processes with another hash seed make every row, table and figure to the byte."""
    command = [sys.executable, "-m", "memaudit.cli.main", *words_of(VERIFY, finished)]
    result = subprocess.run(
        [*command, "--json", "--set", "engine.jobs=2"],
        env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True,
        check=False,
    )
    data = json.loads(result.stdout)
    assert data["problems"] == []
    assert result.returncode == 0
    # 3 seeds x 5 budgets x 10 writers; 8 distributions x 3 x 10; 3 packages x 3 budgets x 19
    # writers; 3 packages x 3 variants x 3 budgets; 4 packages of six budgets in the solver audit.
    assert data["checked"]["rows"] == 150 + 240 + 171 + 27 + 4
    assert data["checked"]["rows made again"] == data["checked"]["rows"]
    assert data["checked"]["packages"] == 8 * 3 + 3
    figures = json.loads((finished / "manifest.json").read_text())["parts"]["figures"]
    assert data["checked"]["figures"] == len(figures) == 3 * 14
    assert (data["headline"], data["not_verified"]) == ("OK", {})


@slow
def test_a_sample_has_a_row_of_every_mean(
    finished: Path, draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text output says how much was recomputed, and which seed repeats it."""
    monkeypatch.setattr(reproduce, "draw_figures", draw)
    first = run("reproduce", "verify", finished, "--sample", "10", "--set", "engine.jobs=1")
    assert first.exit_code == 0
    # 5 budgets and 8 distributions of 10 writers, 2 x 2 more parts in full or one a distribution.
    assert f"{50 + 80 + 171 + 27 + 4} of 592 rows were recomputed" in first.stdout
    (seed,) = re.findall(r"drawn with --seed ([0-9]+)$", first.stdout, re.MULTILINE)
    again = verified(finished, sample=10, seed=int(seed))
    assert again.notes[-1] in first.stdout.splitlines()
    check_shown(VERIFY, first.stdout, finished)


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=40),
    st.integers(0, 60),
    st.integers(0, 5),
)
def test_no_distribution_goes_without_a_package(names: list[str], share: int, seed: int) -> None:
    """A draw has as many packages as asked for, more where a distribution needs one."""
    places = draw_packages(f"{seed}", names, share)
    assert places == sorted(set(places)) == draw_packages(f"{seed}", names, share)
    assert {names[place] for place in places} == set(names)
    assert len(places) == min(len(names), max(share, len(set(names))))


def test_seeds_choose_and_small_parts_are_recomputed_in_full() -> None:
    """The natural set is never sampled, unless nothing is recomputed."""
    part = RowPart(5000, lambda *_: True, ["base"] * 1000, lambda _: [], lambda _: "")
    first, second = (sample_packages("controlled/sweep", part, 100, 2, seed) for seed in (0, 1))
    assert len(first) == len(second) == 10
    assert first != second
    assert len(sample_packages("natural", part, 100, 2, 0)) == 1000
    assert len(sample_packages("controlled/sweep", part, None, 2, 0)) == 1000
    assert len(sample_packages("natural", part, 0, 2, 0)) == 0


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
    result = run("reproduce", "verify", copied)
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
        "figures/.x: is a link; a reproduction holds plain files",
        "natural/.evil.json: is not in the manifest",
        "pipe: is not a regular file",
    ]
    (copied / "card.md").rename(tmp_path / "card.md")
    (copied / "card.md").symlink_to(tmp_path / "card.md")
    result = run("reproduce", "verify", copied)
    assert result.exit_code == 1
    assert "DIFFERS  card.md: is a link; a reproduction holds plain files\n" in result.stdout
    assert "nothing was recomputed" in result.stdout


def better(row: dict[str, Any]) -> None:
    row["value"], row["ratio"] = row["optimum"], 1.0


@slow
@pytest.mark.parametrize(
    ("name", "place", "change", "found"),
    [
        (SWEEP, 13, better, "ratio is"),
        (NATURAL, 7, lambda row: row.update(store=["m1"]), 'store is ["m1"], recomputed ['),
        (
            NATURAL,
            3,
            lambda row: row.update(budget_as_given="ten"),
            'budget_as_given is "ten", recomputed None',
        ),
        (SWEEP, 0, lambda row: row.update(certificate=FAKE), f'certificate is "{FAKE}", '),
        (SWEEP, 60, lambda row: row.update(digest=FAKE), f'digest is "{FAKE}", '),
        (SENSITIVITY, 4, lambda row: row.update(optimum="9"), 'optimum is "9", recomputed "'),
        (SOLVERS, 1, lambda row: row["solvers"]["highs"].update(certified=7), "solvers is {"),
    ],
)
def test_a_forged_row(copied: Path, name: str, place: int, change: Change, found: str) -> None:
    """Its checksum and its file's hash were fixed; recomputing finds it."""
    edit_rows(copied, name, change, only=place)
    line = recomputed(copied, name.removesuffix("/rows.jsonl"))[0]
    assert line.startswith(f"{name}, line {place + 1}: {found}")


@slow
def test_a_row_forged_throughout(copied: Path) -> None:
    """Summary, tables, card, scoreboard, metadata and manifest say it too; a sample finds it."""

    def best(row: dict[str, Any]) -> None:
        if row["writer"] == "estimated_gvt" and row["budget"] == 100 and row["ratio"]:
            better(row)

    edit_rows(copied, NATURAL, best)
    rebuild(copied)
    table = (copied / "tables" / "writers-own-set.md").read_text()
    (line,) = (line for line in table.splitlines() if line.startswith("| estimated_gvt |"))
    assert line.endswith("| 1.000 [1.000, 1.000] |")
    assert verified(copied).problems == []
    problems = verified(copied, sample=1, seed=1).problems
    assert problems
    assert all(line.startswith(f"{NATURAL}, line ") for line in problems)


@slow
def test_a_forged_summary(copied: Path) -> None:
    """It does not follow from the rows. A row that was changed alone does not fit it either."""
    edit_rows(copied, SWEEP, better, only=13)

    def total(summary: dict[str, Any]) -> None:
        summary["solvers"]["highs"]["certified"] += 1

    edit_json(copied / "solvers" / "summary.json", total)
    rehash(copied, "solvers/summary.json")
    report = verified(copied)
    assert report.problems == [
        f"{name}/summary.json: does not follow from the rows"
        for name in ("controlled/sweep", "solvers")
    ]
    assert report.notes[-1].startswith("documents and figures were not checked")


@slow
@pytest.mark.parametrize(
    ("name", "place", "change", "problem"),
    [
        (SWEEP, 2, lambda row: row.update(writer="gvt"), ", line 3: is not the row that is due"),
        (SWEEP, 3, lambda row: row.pop("cost"), ": is malformed (KeyError: 'cost')"),
        (SWEEP, 3, lambda row: row.update(ratio="1/0"), ": is malformed (ValueError: '1/0' div"),
        (SENSITIVITY, 0, lambda row: row.update(optimum="1/0"), ": is malformed (ValueError: "),
        (SENSITIVITY, 1, lambda row: row.update(optimum="1e999999999"), ": is malformed (ValueE"),
        (SOLVERS, 0, lambda row: row.update(solvers=5), ": is malformed (AttributeError: "),
        (SOLVERS, 0, lambda row: row["solvers"]["highs"].update(rows=[]), ": is malformed (Type"),
    ],
)
def test_a_row_of_the_wrong_form(
    copied: Path, name: str, place: int, change: Change, problem: str
) -> None:
    """A row in another's place, without a field, or with a number that breaks arithmetic."""
    edit_rows(copied, name, change, only=place)
    (line,) = verified(copied).problems
    assert line.startswith(f"{name}{problem}")


@slow
def test_rows_damaged_or_missing(copied: Path) -> None:
    path = copied / SOLVERS
    path.write_bytes(path.read_bytes().replace(b'"matches":6', b'"matches":5', 1))
    rehash(copied, SOLVERS)
    (copied / SENSITIVITY).write_text("")
    rehash(copied, SENSITIVITY)
    damaged, short = verified(copied).problems
    assert "line 1: the row is damaged or cut off" in damaged
    assert short == f"{SENSITIVITY}: has 0 rows, the settings ask for 27"


@slow
def test_forged_scores_of_stores(copied: Path) -> None:
    """Tables 4 and 6 of the own set are computed again from the shipped stores."""
    path = copied / "stores" / "denominators.json"
    data = json.loads(path.read_text())
    data["rows"][0]["value"]["mean"] += 1
    path.write_text(json.dumps(data, indent=1) + "\n")
    rehash(copied, "stores/denominators.json")
    first = verified(copied).problems[0]
    assert first == "stores/denominators.json: differs from what is recomputed"


@slow
def test_a_forged_package(copied: Path) -> None:
    """A digest in the manifest, a natural package that is another one, one that is not JSON."""
    edit_manifest(copied, lambda data: data["packages"]["base"].update({"1": FAKE}))
    digest, packages = verified(copied).problems
    assert digest.startswith(f"package base, 1: its digest in the manifest is {FAKE}, recomputed ")
    assert packages == "manifest.json: its packages do not follow from the files"
    name, other = (
        copied / "natural" / "packages" / f"{package}.json"
        for package in ("father-home-care", "greyhound-knee")
    )
    place = "natural/packages/father-home-care.json"
    for content, problem in (
        (other.read_text(), "is not the package father-home-care"),
        ("{", "is not"),
    ):
        name.write_text(content)
        rehash(copied, place)
        assert verified(copied).problems[1].startswith(f"{place}: {problem}")


@slow
def test_forged_documents(copied: Path) -> None:
    """Everything that follows from something else is derived again, though hashes were fixed."""
    names = (
        "card.md",
        "tables/stress.md",
        "controlled/scoreboard.json",
        "LICENCES.md",
        "packages.jsonl",
        "croissant.json",
        "scoreboard.json",
    )
    for name in names:
        (copied / name).write_text((copied / name).read_text() + "\n")
        rehash(copied, name)
    problems = verified(copied).problems
    assert {f"{name}: does not follow from the results" for name in names} <= set(problems)


@slow
@pytest.mark.parametrize("name", ["labels/agreement.json", "downstream/summary.json"])
def test_forged_labels_and_questions(copied: Path, name: str) -> None:
    """They are recomputed in full, and nothing that rests on them is judged."""
    edit_json(copied / name, lambda data: data.update(more=1))
    rehash(copied, name)
    assert verified(copied).problems == [f"{name}: differs from what is recomputed"]


@slow
def test_forged_answers_to_questions(copied: Path) -> None:
    name = "downstream/rows.jsonl"
    edit_rows(copied, name, lambda row: row.update(outcome="stale_answer"), only=4)
    assert verified(copied).problems == [f"{name}: differs from what is recomputed"]


@slow
def test_a_forged_figure(copied: Path, draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its hash was fixed everywhere; drawing it again shows it, unless other libraries drew it."""
    name = "figures/sweep-budget_sweep.svg"
    figure = copied / name
    figure.write_text(figure.read_text().replace("GVT", "XYZ"))
    rehash(copied, name)
    assert verified(copied, draw=draw).problems == [f"{name}: is not what is drawn from the runs"]
    edit_manifest(copied, lambda data: data["versions"].update(matplotlib="3.0"))
    report = verified(copied, draw=draw)
    assert report.problems == []
    assert set(report.unverified) == {name}
    assert report.unverified[name].startswith("by hash only: matplotlib was 3.0, here it is ")
    assert report.verdict.startswith("holds, with 1 file not verified: ")
    monkeypatch.setattr(reproduce, "draw_figures", draw)
    result = run("reproduce", "verify", copied, "--sample", "0", "--set", "engine.jobs=1")
    assert result.exit_code == 0
    assert f"not verified: {name}: by hash only" in result.stdout


@slow
def test_forged_fields_of_the_manifest(copied: Path) -> None:
    """Certificates, seeds, versions and files in the wrong part."""
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
            lambda data: data["versions"].update(numpy="0.0.1"),
            "controlled/sweep/run.json: versions does not follow from the manifest",
        ),
        (
            lambda data: data["versions"].update(memaudit="9.9"),
            "controlled/sweep/run.json: versions does not follow from the manifest",
        ),
        (moved, "manifest.json: lists 'card.md' in the part 'labels'"),
        (lambda data: data["parts"].pop("figures"), "figures/pipeline.svg: is not in the manifest"),
    ):
        edit_manifest(copied, change)
        assert problem in verified(copied).problems
        (copied / "manifest.json").write_text(before)


@slow
def test_another_program_is_a_note(copied: Path, draw: Draw) -> None:
    """Results are checked all the same; prompts and data of another program are not."""

    def change(data: dict[str, Any]) -> None:
        data["identity"]["source"] = "0" * 64
        data["prompts"] = {}

    edit_manifest(copied, change)
    report = verified(copied, draw=draw)
    assert report.problems == []
    assert any(note.startswith("made by another program: memaudit ") for note in report.notes)
    assert set(report.unverified) == {"manifest.json"}
    assert report.headline == "holds, with 1 file not verified"


@slow
def test_another_version(copied: Path) -> None:
    """Rows name the version too. With all of them changed, what it may word otherwise is listed."""

    def later(data: dict[str, Any]) -> None:
        data["identity"].update(memaudit="9.9", source="0" * 64)
        data["versions"]["memaudit"] = "9.9"

    edit_manifest(copied, later)
    problem = f"{NATURAL}: is not of the version that the manifest names"
    assert problem in verified(copied).problems
    for folder in ("controlled/sweep", "controlled/stress", "natural"):
        edit_rows(copied, f"{folder}/rows.jsonl", lambda row: row.update(version="9.9"))
        if folder != "natural":
            path = copied / folder / "run.json"
            edit_json(path, lambda data: data["versions"].update(memaudit="9.9"))
            rehash(copied, f"{folder}/run.json")
    rebuild(copied)
    edit_manifest(copied, later)
    report = verified(copied)
    assert report.problems == []
    assert "card.md" not in report.unverified  # derived with the version that is stated
    card = copied / "card.md"
    card.write_text(card.read_text().replace("0 not certified", "0 not certified, as people saw"))
    rehash(copied, "card.md")
    report = verified(copied)
    assert report.problems == []
    assert report.unverified["card.md"].startswith("made by memaudit 9.9, which ")
    assert report.headline.startswith("holds, with ")


@slow
def test_what_is_only_stated(copied: Path) -> None:
    """Versions and times have a form, and are shown as not checked."""
    stated, again = verified(copied, seed=7).notes
    assert stated.startswith("stated, not checked: made on 1970-01-02 with platform ")
    assert again.startswith("0 of 592 rows were recomputed")


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
def test_sizes_that_do_not_fit_stop_it(copied: Path) -> None:
    """A manifest that claims more seeds or rows than it has does not keep anyone busy."""
    edit_manifest(copied, lambda data: data["identity"]["settings"].update(seeds=10**5))
    assert verified(copied).problems == ["manifest.json: lists 3 packages of base for 100000 seeds"]
    edit_manifest(copied, lambda data: data["identity"]["settings"].update(seeds=3, rows=10**6))
    problem = f"{SOLVERS}: has 4 rows, the settings ask for 166667"
    assert problem in verified(copied).problems

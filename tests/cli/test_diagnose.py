"""`memaudit diagnose` on packages, stores and writers, with and without a model."""

import json
from fractions import Fraction
from importlib.resources import as_file
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.unit_parts import part_units
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.site import Site
from memaudit.lab.sweeps.runs.spec import named_packages
from tests.cli.running import done, failure, question_summary, run
from tests.kernel.package.test_unit_parts import MOVED, PARTS, package_of
from tests.lab.downstream.fake_reader import reads
from tests.lab.explorer.site_pages import page
from tests.models.server import Served, serving
from tests.show.html_tree import Tree

WRITERS = ("--writer", "gvt", "--writer", "recency_raw")


Files = tuple[Path, Path]


def summary(*words: object) -> dict[str, Any]:
    return question_summary("diagnose", *words)


def test_the_short_set(tmp_path: Path) -> None:
    """All 103 questions of 26 conversations, no model; a tight store loses in writing.

    gvt has no room for what states guest-count u7, night-trains u2 (two questions) and puppy-name
    u1; it keeps memories that state half of the first two.
    """
    out = tmp_path / "out"
    data = summary("short", *WRITERS, "--budget", "60", "--out", out)
    gvt, recent = data["summaries"]
    assert (data["questions"], data["packages"]) == (103, 26)
    assert Fraction(gvt["losses"]["write"]) == Fraction(4, 103)
    assert Fraction(recent["losses"]["write"]) > Fraction(1, 2)
    assert json.loads((out / "summary.json").read_text()) == data
    (recall,) = [row for row in data["differences"] if row["measure"] == "evidence_recall"]
    assert recall["mean_difference"] > 0.4
    assert recall["p_holm"] < 0.001


def test_a_store_and_a_writer(hotel_files: Files, tmp_path: Path) -> None:
    """An exported store is judged, cut by a policy that is named, and beside a writer."""
    words = (*hotel_files, "--writer", "opt", "--budget", "12")
    data = summary(*words, "--out", tmp_path / "out")
    assert [one["store"] for one in data["summaries"]] == ["export", "opt"]
    assert (data["spec"]["judge"], data["spec"]["coverage_is_an_estimate"]) == ("offline", True)
    assert data["spec"]["policy"] == "recency"
    assert data["spec"]["kept_by"]["export"] == {"cut by recency": 1}
    given = summary(*words, "--policy", "recency", "--out", tmp_path / "given")
    assert given["spec"]["policy"] == "recency"
    assert given["summaries"] == data["summaries"]
    assert data["summaries"][0]["outcomes"]["written_but_pruned"] > 0
    assert data["clusters"] == "questions"
    kept = [json.loads(line)["kept"] for line in (tmp_path / "out/memories.jsonl").open()]
    assert False in kept


def test_printed(hotel_files: Files, tmp_path: Path) -> None:
    """Tables that add up, an estimate called one, failures and the chain of one question."""
    words = (*hotel_files, "--writer", "opt", "--budget", "12", "--out", tmp_path / "out")
    text = done("diagnose", *words).stdout
    for part in (
        "an ESTIMATE",
        "export: 4 questions = ",
        "evidence recall",
        "written_but_pruned",
        "export: cut by recency in 1 of 1 package",
    ):
        assert part in text
    again = done("diagnose", *words, "--show", "failed", "--show", "q1")
    assert "8 rows already existed" in again.stderr
    for part in ("were not answered correctly", "hotel-rooms/q1 at opt", "  unit u1: "):
        assert part in again.stdout
    unknown = run("diagnose", *words, "--show", "q99")
    assert (unknown.exit_code, unknown.stdout) == (1, "")
    assert "no question 'q99'" in unknown.stderr


OPT = ("--writer", "opt", "--budget", "30")
READS = ("--reader", "model:one")
OFFLINE = ("--set", "model.provider=offline")


def cached_in(folder: Path) -> tuple[str, str]:
    return "--set", f"model.cache={folder / 'cache'}"


def asks(served: Served) -> tuple[str, ...]:
    return "--set", f"model.base_url={served.url}", "--set", "model.yes=true"


def test_a_model_reads(hotel_files: Files, tmp_path: Path) -> None:
    """Asked once for each question, from the cache afterwards; the prompt is in the spec."""
    words = (hotel_files[0], *OPT, *READS, *cached_in(tmp_path))
    with serving(reads) as served:
        first = summary(*words, "--out", tmp_path / "a", *asks(served))
        assert len(served.bodies) == 4
        assert first["spec"]["reads"].startswith("one, prompt reader-answer-if-supported/1 ")
        again = summary(*words, "--out", tmp_path / "b", *asks(served))
        assert len(served.bodies) == 4
    assert first == again == summary(*words, "--out", tmp_path / "c", *OFFLINE)
    rows = [(tmp_path / name / "rows.jsonl").read_bytes() for name in "abc"]
    assert rows[0] == rows[1] == rows[2]


def test_wrong_input(hotel_files: Files, tmp_path: Path) -> None:
    package, store = hotel_files
    budget, jobs = ("--budget", "12"), ("--set", "engine.jobs=2")
    dask = ("--set", "engine.name=dask")
    for words, message in {
        (package, *budget): "give a STORE or a --writer",
        (package, store, "--budget", "1,2"): "takes one budget",
        (package, store, "--budget", "x"): "cannot read the budget",
        (package, store, *budget, "--k", "0"): "--k must be at least 1",
        (package, store, *budget, "--retriever", "no"): "unknown retriever",
        (package, store, *budget, "--reader", "no"): "unknown reader",
        (package, store, *budget, "--policy", "no"): "unknown policy",
        (package, store, *budget, "--judge", "no"): "unknown judge",
        (package, store, store, *budget): "two stores have the same name",
        ("nowhere", *WRITERS, *budget): "no packages at 'nowhere'",
        ("short", store, *budget): "does not say which package",
        ("base", *WRITERS, *budget): "has no question",
        ("event_graph:seeds=x", *WRITERS, *budget): "cannot read seeds",
        (package, store, *budget, "--judge", "model:m", *jobs): "--judge model:m runs in one",
        (package, *WRITERS, *budget, *READS, *dask): "runs in one proc",
    }.items():
        assert message in failure("diagnose", *words, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_packages_by_name(tmp_path: Path) -> None:
    """A file, a build folder of several, the shipped set, and seeds."""
    write_package(short_set()[0], tmp_path / "one.json")
    with as_file(resources("memaudit.examples.short") / "conversations.jsonl") as path:
        done("build", path, "--out", tmp_path / "many")
    graphs = "event_graph:experiences=7"
    names = (tmp_path / "one.json", tmp_path / "many", "short", f"{graphs}:seeds=4-5", graphs)
    found = [named_packages(str(name)) for name in names]
    assert list(map(len, found)) == [1, 26, 26, 2, 10]
    assert [one.name for one in found[3]] == ["event_graph-4", "event_graph-5"]


def test_a_statement_is_one_row(tmp_path: Path) -> None:
    """The budget has room for one of two memories: the terminal, the report and the explorer name
    the parts that are left, and those that are lost."""
    kept = {"m1": ["u7#what", "u7#who"], "m2": ["u7#what", "u7#when"]}
    package = package_of(part_units(MOVED, PARTS), kept, ["u7"])
    texts = {"m1": "Ana moved to Lisbon", "m2": "moved to Lisbon in May 2023"}
    named = [one.model_copy(update={"text": texts[one.id]}) for one in package.candidates]
    query = package.queries[0].model_copy(update={"text": "When did Ana move?", "answer": "May"})
    write_package(package.replace(candidates=named, queries=(query,)), tmp_path / "p.json")
    out = tmp_path / "out"
    words = ("diagnose", tmp_path / "p.json", "--writer", "opt", "--budget", "1", "--out", out)
    text = done(*words, "--show", "q").stdout
    assert "unit u7: retrieved (what, who), never_written (when); of 3 parts written 2" in text
    assert "says: Ana moved to Lisbon in May 2023\n" in text
    assert "what, who by m1, rank 1: Ana moved to Lisbon\n" in text
    assert text.count("  unit ") == 1
    done("report", out)
    site = Site(Library([tmp_path]))
    (entry,) = site.library.of("diagnosis")
    (slug,) = site.library.diagnosis(entry).questions
    question = page(site, f"diagnosis/{entry.slug}/question/{slug}.html")
    for tree in (Tree((out / "report.html").read_text()), question):
        shown = " ".join(tree.text.split())
        assert "retrieved: what, who" in shown
        assert "never written: when" in shown
        assert shown.count(MOVED.text) == 1

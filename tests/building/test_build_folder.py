"""Datasets built into folders: the same bytes each time, resumable, nothing half-written."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.building.build_folder import BuildJob, build_into, file_name, packages_at
from memaudit.building.coverage_rules import INCLUSION
from memaudit.judges.label_files import read_labels
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.packages import examine, read_package
from memaudit.kernel.package.digest import digest
from memaudit.workspace.engines import named_engine
from tests.building.talks import DIET, Row, write_rows
from tests.cli.running import done, failure, run
from tests.conversations.files import FIXTURES
from tests.stopped import Stopped, stop_after


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("format", sorted(FIXTURES))
def test_builds_are_valid_and_the_same_each_time(format: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        build_into(BuildJob(FIXTURES[format]), tmp_path / name)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text())
    for row in manifest["packages"]:
        (package,), problems = examine(tmp_path / "one" / row["file"])
        assert problems == []
        assert digest(package) == row["digest"]
    assert len(packages_at(tmp_path / "one")) == manifest["counts"]["packages"] > 0


def test_the_manifest(tmp_path: Path) -> None:
    """What went in, by which rules, what came out, and everything that was irregular.

    Two questions have no unit: one cites nothing, one a turn whose id is there twice.
    """
    manifest = build_into(BuildJob(FIXTURES["locomo"]), tmp_path / "out")
    assert manifest["dataset"]["format"] == "locomo"
    assert manifest["counts"]["queries_without_units"] == 2
    assert len(manifest["irregularities"]) == 23
    assert manifest["dropped"]["representations_without_a_session"] == [
        "conv-a: session_7_summary",
    ]
    exact = {name: row["exact"] for name, row in manifest["coverage_by_provenance"].items()}
    assert exact == {
        "dataset:pointer-v2": False,
        "exact:statement": True,
        "heuristic:lexical-v2": False,
    }
    assert manifest["adjudication"] is None


def test_a_build_resumes(tmp_path: Path) -> None:
    """Unchanged files stay untouched; damaged ones are written again."""
    out = tmp_path / "out"
    build_into(BuildJob(FIXTURES["chat"]), out)
    before = contents(out)
    first, second, *_ = sorted(path for path in out.iterdir() if path.name != "manifest.json")
    stamp = first.stat().st_ino
    second.write_text(second.read_text()[:100])
    (out / "manifest.json").unlink()
    assert build_into(BuildJob(FIXTURES["chat"]), out)["kept"] == len(before) - 2
    assert contents(out) == before
    assert first.stat().st_ino == stamp


def test_a_stopped_build_resumes(tmp_path: Path) -> None:
    """What is there is not built again, unless somebody removed it; the end is the same."""
    job, out = BuildJob(FIXTURES["chat"]), tmp_path / "out"
    whole = build_into(job, tmp_path / "whole")
    names = [row["file"] for row in whole["packages"]]
    with pytest.raises(Stopped):
        build_into(job, out, run=stop_after(len(names) - 1))
    assert not (out / "manifest.json").exists()
    seen: list[int] = []
    with pytest.raises(Stopped):
        build_into(job, out, progress=seen.append, run=stop_after(0))
    assert seen == list(range(1, len(names)))
    (out / names[1]).unlink()
    assert build_into(job, out)["kept"] == len(names) - 2
    assert contents(out) == contents(tmp_path / "whole")


def test_another_build_after_a_stopped_one(tmp_path: Path) -> None:
    """A corrected dataset is another one. What is left is checked package by package."""
    out = tmp_path / "out"
    with pytest.raises(Stopped):
        build_into(BuildJob(FIXTURES["chat"]), out, run=stop_after(2))
    manifest = build_into(BuildJob(FIXTURES["chat"], cost_rule="bytes"), out)
    assert manifest["kept"] == 0
    assert [package.cost_rule for package in packages_at(out)][:1] == ["bytes"]


@pytest.mark.slow
def test_processes_build_the_same(tmp_path: Path) -> None:
    for name in ("serial", "processes"):
        run = named_engine(name, 2).map
        build_into(BuildJob(FIXTURES["chat"]), tmp_path / name, run=run)
    assert contents(tmp_path / "serial") == contents(tmp_path / "processes")


def test_a_package_that_is_not_the_manifests_is_refused(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "talk.jsonl", DIET)
    build_into(BuildJob(path), tmp_path / "words")
    build_into(BuildJob(path, cost_rule="bytes"), tmp_path / "bytes")
    (tmp_path / "bytes" / "diet.json").rename(tmp_path / "words" / "diet.json")
    with pytest.raises(MemAuditError, match="not the package that the manifest names"):
        packages_at(tmp_path / "words")


def test_file_names() -> None:
    """Plain ids are kept; anything else is made harmless and stays apart from its neighbours."""
    assert file_name("conv-26") == "conv-26.json"
    names = {file_name(name) for name in ("manifest", "../x", ".._x", "a/b", "a_b", "ü")}
    assert len(names) == 6
    for name in names:
        assert "/" not in name
        assert not name.startswith(".")
    assert "manifest.json" not in names


def test_nothing_to_build(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text("[]")
    build = ("build", "longmemeval", tmp_path / "none.json", "--out")
    assert failure(*build, tmp_path / "out").endswith("contains no conversation; nothing was built")
    assert not (tmp_path / "out").exists()
    (tmp_path / "old").mkdir()
    manifest = {"format": "memaudit-build", "version": 1, "packages": []}
    (tmp_path / "old" / "manifest.json").write_text(json.dumps(manifest))
    for command in ("show", "recost"):
        more = [] if command == "show" else [tmp_path / "x.json", "--rule", "bytes"]
        assert "lists no package" in failure("package", command, tmp_path / "old", *more)


def test_the_command(tmp_path: Path) -> None:
    path, chosen, out = write_rows(tmp_path / "talk.jsonl", DIET), tmp_path / "s", tmp_path / "out"
    assert run("package", "subset", path, "--size", 2, "--out", chosen).exit_code == 0
    result = run("build", path, "--out", out, "--subset", chosen)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"1 package in {out}\n")
    assert len(read_package(out / "diet.json").queries) == 2
    again = json.loads(run("build", path, "--out", out, "--subset", chosen, "--json").stdout)
    assert (again["kept"], again["counts"]["packages"]) == (1, 1)
    (row,) = json.loads(run("audit", "built", out, "--json").stdout)
    assert row["verdicts"] is None
    assert row["packages"] == 1
    assert row["coverage_rows"] == again["counts"]["coverage"]
    shown = run("audit", "built", out, out).stdout
    assert shown.count("n/a    accepted") == 2


def test_verdicts_come_from_the_manifest(tmp_path: Path) -> None:
    out = tmp_path / "out"
    build_into(BuildJob(write_rows(tmp_path / "talk.jsonl", DIET)), out)
    manifest = json.loads((out / "manifest.json").read_text())
    manifest |= {"adjudication": {"model": "m"}, "statuses": {"accepted": 1}}
    (out / "manifest.json").write_text(json.dumps(manifest))
    (row,) = json.loads(run("audit", "built", out, "--json").stdout)
    assert row["verdicts"] == {"accepted": 1, "corrected": 0, "ambiguous": 0, "rejected": 0}


def test_failures_are_one_line(tmp_path: Path) -> None:
    """Two files; an unknown conversation; labels that name no conversation among several."""
    path, out = FIXTURES["chat"], tmp_path / "out"
    assert "give one dataset file, not 2" in failure("build", path, path, "--out", out)
    assert "has no conversation 'x'" in failure("build", path, "--out", out, "--conversation", "x")
    for more in (("--set", "engine.name=processes"), ("--set", "engine.jobs=2")):
        line = failure("build", path, "--out", out, "--model", "m", *more)
        assert "build --model runs in one process" in line
    units = write_rows(tmp_path / "u.jsonl", [{"unit_id": "u", "text": "t", "turns": ["fish"]}])
    assert "u.jsonl:1: names no conversation" in failure(
        "build", path, "--out", out, "--units", units
    )
    one = BuildJob(path, conversations=("lunch",), labels=read_labels(units))
    assert build_into(one, tmp_path / "one")["counts"]["units"] == 1


CHAT = """{"conversation": "books"}
{"session": "one", "time": "2025-01-06 12:30"}
{"id": "ask", "speaker": "Ann", "text": "Which book did you love as a child?"}
{"id": "say", "speaker": "Bob", "text": "I loved Charlotte's Web as a child."}
{"question": "Bob's favourite book?", "answer": "Charlotte's Web", "evidence": ["say"]}
"""
UNIT = {
    "conversation": "books",
    "unit_id": "u1",
    "kind": "fact",
    "turns": ["ask", "say"],
    "text": "Bob loved Charlotte's Web as a child.",
    "quote": "I loved Charlotte's Web",
    "questions": [0],
}


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    (tmp_path / "chat.jsonl").write_text(CHAT)
    (tmp_path / "units.jsonl").write_text(json.dumps(UNIT) + "\n")
    return tmp_path


def test_a_cited_turn_without_the_quote_is_a_part(dataset: Path) -> None:
    """The question is cited beside the answer; only the answer and the session state the unit."""
    result = run(
        "build", dataset / "chat.jsonl", "--units", dataset / "units.jsonl", "--out", dataset / "d"
    )
    assert result.exit_code == 0, result.output
    (package,) = packages_at(dataset / "d")
    assert {row.provenance for row in package.coverage} == {INCLUSION}
    assert {row.candidate: (row.value, row.rationale) for row in package.coverage} == {
        "s1:1/raw": (Fraction(1, 2), "without the quote"),
        "s1:2/raw": (Fraction(1), "5 of 5 terms"),
        "s1/session": (Fraction(1), "5 of 5 terms"),
    }


def test_another_build_in_the_folder(dataset: Path) -> None:
    assert run("build", dataset / "chat.jsonl", "--out", dataset / "d").exit_code == 0
    before = contents(dataset / "d")
    line = failure("build", dataset / "chat.jsonl", "--out", dataset / "d", "--cost-rule", "bytes")
    assert "holds another build (different: cost rule)" in line
    assert contents(dataset / "d") == before


def test_a_build_folder_validates(dataset: Path) -> None:
    assert run("build", dataset / "chat.jsonl", "--out", dataset / "d").exit_code == 0
    assert run("package", "validate", dataset / "d").exit_code == 0
    assert run("solve", dataset / "d", "--budget", "10").exit_code == 0
    manifest = json.loads((dataset / "d" / "manifest.json").read_text())
    manifest["packages"][0]["file"] = "../p.json"
    (dataset / "d" / "manifest.json").write_text(json.dumps(manifest))
    assert run("package", "validate", dataset / "d").exit_code == 1


def test_a_build_that_fails_half_way_says_what_is_there(dataset: Path) -> None:
    """Packages before the fault stay for the next run, and the line says so."""
    text = CHAT + CHAT.replace("books", "more") + "{not json\n"
    (dataset / "cut.jsonl").write_text(text)
    line = failure("build", dataset / "cut.jsonl", "--out", dataset / "d")
    assert "packages are in" in line or not (dataset / "d").exists()


def test_every_status_is_shown(tmp_path: Path) -> None:
    """Statuses other than the four verdicts too, so that the rows add up to the examples."""
    out = tmp_path / "out"
    build_into(BuildJob(write_rows(tmp_path / "talk.jsonl", DIET)), out)
    manifest = json.loads((out / "manifest.json").read_text())
    manifest |= {"adjudication": {"model": "m"}, "statuses": {"unsupported": 1, "accepted": 5}}
    (out / "manifest.json").write_text(json.dumps(manifest))
    shown = run("audit", "built", out).stdout
    assert "        5    accepted\n" in shown
    assert "        1    unsupported\n" in shown


def test_what_updates_replaced_is_said(tmp_path: Path) -> None:
    """With the turn that replaced it; an update of one turn replaces nothing, and says so."""
    single: Row = {"question": "And now?", "kind": "update", "evidence": ["t3"]}
    path = write_rows(tmp_path / "talk.jsonl", [*DIET, single])
    text = done("build", path, "--out", tmp_path / "out").stdout
    assert "replaced by an update, so without weight unless another question asks for it:" in text
    assert "  diet q1: t1 replaced by t3" in text
    assert "updates that cite one turn, so that nothing is replaced: diet q4" in text
    assert "NOTHING COUNTS" not in text

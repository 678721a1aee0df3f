"""A dataset built into a folder: the same bytes each time, resumable, nothing half-written."""

import json
from pathlib import Path

import pytest

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.io.packages import examine, read_package
from memaudit.natural.build_folder import build_into, packages_at
from memaudit.natural.build_plan import Job, file_name
from memaudit.natural.label_files import read_labels
from tests.cli.running import failure, run
from tests.datasets.files import FIXTURES
from tests.natural.talks import DIET, write_rows


def contents(folder: Path) -> dict[str, bytes]:
    """Every file under a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("format", sorted(FIXTURES))
@pytest.mark.parametrize("form", ["json", "folder"])
def test_builds_are_valid_and_the_same_each_time(format: str, form: str, tmp_path: Path) -> None:
    """Every format, with everything irregular in it."""
    for name in ("one", "two"):
        build_into(Job(FIXTURES[format]), tmp_path / name, form)
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
    manifest = build_into(Job(FIXTURES["locomo"]), tmp_path / "out")
    assert manifest["dataset"]["format"] == "locomo"
    assert manifest["counts"]["queries_without_units"] == 2
    assert len(manifest["irregularities"]) == 25
    assert manifest["dropped"]["representations_without_a_session"] == [
        "conv-a: session_7_summary",
    ]  # fmt: skip
    exact = {name: row["exact"] for name, row in manifest["coverage_by_provenance"].items()}
    assert exact == {
        "dataset:pointer": False, "exact:inclusion": True,
        "heuristic:containment-v1": False, "heuristic:lexical-v2": False,
    }  # fmt: skip
    assert manifest["adjudication"] is None


def test_a_build_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """What is there and the same stays untouched; what is damaged is written anew."""
    out = tmp_path / "out"
    build_into(Job(FIXTURES["chat"]), out)
    before = contents(out)
    first, second, *_ = sorted(path for path in out.iterdir() if path.name != "manifest.json")
    stamp = first.stat().st_ino
    second.write_text(second.read_text()[:100])
    (out / "manifest.json").unlink()
    assert build_into(Job(FIXTURES["chat"]), out)["kept"] == len(before) - 2
    assert contents(out) == before
    assert first.stat().st_ino == stamp


def test_a_package_that_is_not_the_manifests_is_refused(tmp_path: Path) -> None:
    """A build under other rules that was stopped half-way, say."""
    path = write_rows(tmp_path / "talk.jsonl", DIET)
    build_into(Job(path), tmp_path / "words")
    build_into(Job(path, cost_rule="bytes"), tmp_path / "bytes")
    (tmp_path / "bytes" / "diet.json").rename(tmp_path / "words" / "diet.json")
    with pytest.raises(MemAuditError, match="not the package that the manifest names"):
        packages_at(tmp_path / "words")


def test_file_names() -> None:
    """Plain ids are kept; anything else is made harmless and stays apart from its neighbours."""
    assert file_name("conv-26", "json") == "conv-26.json"
    names = {file_name(name, "json") for name in ("manifest", "../x", ".._x", "a/b", "a_b", "ü")}
    assert len(names) == 6
    for name in names:
        assert "/" not in name
        assert not name.startswith(".")
    assert "manifest.json" not in names
    # A folder's name must not be that of a file, least of all of the build's own.
    for name in ("manifest.json", "failures.jsonl", "a.JSON"):
        assert file_name(name, "folder").startswith(f"{name}-")


def test_a_conversation_called_like_the_manifest(tmp_path: Path) -> None:
    """Both are there in the end."""
    rows = [{**DIET[0], "conversation": "manifest.json"}, *DIET[1:]]
    build_into(Job(write_rows(tmp_path / "chat.jsonl", rows)), tmp_path / "out", "folder")
    assert [one.name for one in packages_at(tmp_path / "out")] == ["manifest.json"]


def test_nothing_to_build(tmp_path: Path) -> None:
    """One line, and nothing is left behind; a folder that such a build made is told as well."""
    (tmp_path / "none.json").write_text("[]")
    build = ("build", tmp_path / "none.json", "--format", "longmemeval", "--out")
    assert failure(*build, tmp_path / "out").endswith("holds no conversation; nothing was built")
    assert not (tmp_path / "out").exists()
    (tmp_path / "old").mkdir()
    manifest = {"format": "memaudit-build", "version": 1, "packages": []}
    (tmp_path / "old" / "manifest.json").write_text(json.dumps(manifest))
    for command in ("show", "recost"):
        more = [] if command == "show" else [tmp_path / "x.json", "--rule", "bytes"]
        assert "lists no package" in failure(command, tmp_path / "old", *more)


def test_the_command(tmp_path: Path) -> None:
    """Builds a subset, then says how reliable it is."""
    path, chosen, out = write_rows(tmp_path / "talk.jsonl", DIET), tmp_path / "s", tmp_path / "out"
    assert run("dataset", "subset", path, "--size", 2, "--out", chosen).exit_code == 0
    result = run("build", path, "--out", out, "--subset", chosen, "--method", "annotations")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"1 package in {out}\n")
    assert len(read_package(out / "diet.json").queries) == 2
    again = json.loads(run("build", path, "--out", out, "--subset", chosen, "--json").stdout)
    assert (again["kept"], again["counts"]["packages"]) == (1, 1)
    (row,) = json.loads(run("reliability", out, "--json").stdout)
    assert row["adjudication"] is None
    assert row["packages"] == 1
    assert row["coverage_rows"] == again["counts"]["coverage"]
    shown = run("reliability", out, out).stdout
    assert shown.count("n/a    accepted") == 2


def test_verdicts_come_from_the_manifest(tmp_path: Path) -> None:
    """Where somebody adjudicated; a status that none has is 0."""
    out = tmp_path / "out"
    build_into(Job(write_rows(tmp_path / "talk.jsonl", DIET)), out)
    manifest = json.loads((out / "manifest.json").read_text())
    manifest |= {"adjudication": {"model": "m"}, "statuses": {"accepted": 1}}
    (out / "manifest.json").write_text(json.dumps(manifest))
    (row,) = json.loads(run("reliability", out, "--json").stdout)
    assert row["adjudication"] == {"accepted": 1, "corrected": 0, "ambiguous": 0, "rejected": 0}


def test_failures_are_one_line(tmp_path: Path) -> None:
    """Unknown method, form, conversation; labels that name no conversation among several."""
    path, out = FIXTURES["chat"], tmp_path / "out"
    assert "choose annotations" in failure("build", path, "--out", out, "--method", "magic")
    assert "choose json or folder" in failure("build", path, "--out", out, "--as", "xml")
    assert "has no conversation 'x'" in failure("build", path, "--out", out, "--conversation", "x")
    units = write_rows(tmp_path / "u.jsonl", [{"unit_id": "u", "text": "t", "turns": ["fish"]}])
    assert "u.jsonl:1: names no conversation" in failure(
        "build", path, "--out", out, "--units", units
    )
    one = Job(path, conversations=("lunch",), labels=read_labels(units))
    assert build_into(one, tmp_path / "one")["counts"]["units"] == 1

"""What attacks found, one test each; what needs a large file or a kill is tested beside this."""

import json
import os
import zlib
from pathlib import Path
from typing import Any

import pytest

from memaudit.building.build_folder import BuildJob, build_into, packages_at
from memaudit.cli.errors import HEAD, TAIL, report
from memaudit.kernel.errors import MemAuditError, MissingTool
from memaudit.kernel.exact import common_denominator, exact
from memaudit.kernel.io.files import is_file_name, read_bytes
from memaudit.kernel.io.packages import problems_at
from memaudit.kernel.package.cost import cost_rule
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.response import MOST_POINTS, Piecewise
from memaudit.lab.sweeps.runs.sweep import read_run
from memaudit.workspace.journal import Journal, read_journal
from tests.cli.running import failure, run
from tests.conversations.files import FIXTURES


def test_long_texts_are_shortened_in_errors(capsys: pytest.CaptureFixture[str]) -> None:
    """Where and what stay at the front, what to do at the end."""
    report(MemAuditError(f"x.json: has the id {'y' * 5000} (rename it)"))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: x.json: has the id yyy")
    assert line.endswith("yyy (rename it)")
    assert "characters ..." in line
    assert len(line) < HEAD + TAIL + 60


def test_no_memory_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:

    def greedy(path: Path) -> None:  # noqa: ARG001
        raise MemoryError

    monkeypatch.setattr("memaudit.kernel.io.packages.examine", greedy)
    assert failure("package", "validate", tmp_path).startswith("error: not enough memory")


def test_paths_that_the_system_refuses(tmp_path: Path) -> None:
    long = tmp_path / ("n" * 300)
    commands = (
        "audit built {}",
        "report {}",
        "label frame {} --out {}",
        "label annotate {} --annotator ann",
        "model show --set model.cache={}",
        "run --seeds 1 --out {}",
        "package inspect {}",
    )
    for command in commands:
        line = failure(command.replace("{}", str(long)))
        assert "name too long" in line or "does not exist" in line


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "../p.json", "/etc/passwd", "a\\b", "a\0b", "n" * 300, 5, None]
)
def test_names_that_lead_out_of_a_folder(name: Any) -> None:
    """A file name of an input is a name, and nothing else."""
    assert not is_file_name(name)
    assert is_file_name("p.json")
    assert is_file_name("..p")


def build_with(folder: Path, **parts: object) -> Path:
    """A build whose manifest somebody changed."""
    build_into(BuildJob(FIXTURES["chat"]), folder / "b")
    manifest = folder / "b" / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), **parts}))
    return folder / "b"


@pytest.mark.parametrize(
    "packages",
    [
        *(None, "p", [5], [{}], [{"file": "p.json"}] * 2),
        *([{"file": name}] for name in ("..", "../x.json", "a\0b.json", "/etc/passwd")),
    ],
)
def test_build_manifests_that_list_something_else(tmp_path: Path, packages: Any) -> None:
    built = build_with(tmp_path, packages=packages)
    (problem,) = problems_at(built)
    assert str(problem).startswith("manifest.json: ")
    with pytest.raises(MemAuditError, match=r"manifest\.json"):
        packages_at(built)


@pytest.mark.parametrize("part", [{"dataset": "x"}, {"labels": [1]}, {"dataset": 5}])
def test_building_beside_a_damaged_manifest(tmp_path: Path, part: dict[str, Any]) -> None:
    """It is another build, whatever it says; statuses that are no counts are told."""
    result = run("build", FIXTURES["chat"], "--out", build_with(tmp_path, **part))
    assert (result.exit_code, result.exception.__class__) in ((0, type(None)), (1, SystemExit))
    built = build_with(tmp_path / "counts", adjudication="x", statuses={"accepted": "many"})
    assert "its statuses are not counts" in failure("audit", "built", built)


def test_tokenizers_that_are_none(tmp_path: Path) -> None:
    """A package may name any path: a file that is no tokenizer, a device, a name too long."""
    (tmp_path / "t.json").write_text("{}")
    with pytest.raises(MissingTool, match="is not a tokenizer"):
        cost_rule(f"tokens:hf/{tmp_path / 't.json'}")
    for path in ("/dev/zero", "n" * 5000, str(tmp_path), "a\0b"):
        with pytest.raises(MissingTool, match="no tokenizer file"):
            cost_rule(f"tokens:hf/{path}")


def test_rows_with_a_right_checksum_of_something_else(tmp_path: Path) -> None:
    """A checksum proves that a line is whole, not that it is ours."""
    path = tmp_path / "rows.jsonl"
    for body in (b"[1", b'{"a":' * 2000, b"\xff", b'{"crc":1,"x":[', b"{" + b"9" * 5000):
        path.write_bytes(body + b',"crc":"%08x"}\n' % zlib.crc32(body))
        with pytest.raises(MemAuditError, match="line 1: the row is damaged"):
            list(read_journal(path))
        if body.startswith(b"{"):
            with Journal(path) as journal:
                assert journal.rows == 0
            continue
        with pytest.raises(MemAuditError, match="is no journal of rows"), Journal(path):
            pass
        assert path.read_bytes().startswith(body)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(MemAuditError, match="not a regular file"):
        list(read_journal(tmp_path / "pipe"))


@pytest.mark.parametrize("part", ["spec", "spec_digest", "budgets", "rows", "versions"])
def test_manifests_of_runs_without_a_part(tmp_path: Path, part: str) -> None:
    """Named; a pipe in its place is not waited for."""
    run(
        "run --packages base --seeds 1 --budgets 2 --writers gvt",
        "--set engine.name=serial --out",
        tmp_path / "r",
    )
    manifest = tmp_path / "r" / "run.json"
    data = json.loads(manifest.read_text())
    for wrong in ({k: v for k, v in data.items() if k != part}, {**data, part: None}):
        manifest.write_text(json.dumps(wrong))
        with pytest.raises(MemAuditError, match=f"see its part '{part}'"):
            read_run(tmp_path / "r")
    manifest.unlink()
    os.mkfifo(manifest)
    with pytest.raises(MemAuditError, match="not a regular file"):
        read_run(tmp_path / "r")


def test_numbers_that_share_a_denominator() -> None:
    """Hand-worked: 1/2, 1/3 and 5/12 are whole in twelfths; long odd ones in nothing
    sensible, and a package whose weights are such numbers is refused when it is made."""
    assert common_denominator(map(exact, ("1/2", "1/3", "5/12"))) == 12
    assert common_denominator([]) == 1
    assert common_denominator(exact(f"1/{10**55 + place}") for place in range(300)) is None
    units = [{"id": f"u{n}", "kind": "fact", "weight": f"1/{10**55 + n}"} for n in range(300)]
    with pytest.raises(MemAuditError, match="the weights and importances have no common denom"):
        Package.model_validate({"name": "p", "experiences": [], "candidates": [], "units": units})
    many = [[place + 1, place + 1] for place in range(MOST_POINTS + 1)]
    with pytest.raises(ValueError, match=f"at most {MOST_POINTS} points"):
        Piecewise.model_validate({"points": many})


def test_a_file_that_grows_while_it_is_read(tmp_path: Path) -> None:
    """Its size said otherwise: at most the limit is read."""
    path = tmp_path / "x"
    path.write_bytes(b"x" * 20)
    with pytest.raises(MemAuditError, match="is too large: 20 bytes, at most 10 are read"):
        read_bytes(path, 10)
    with pytest.raises(MemAuditError, match="more than 10 bytes"):
        read_bytes(Path("/proc/self/status"), 10)  # a regular file of size 0

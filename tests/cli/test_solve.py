"""`memaudit solve`: what it prints and writes, and how it fails."""

import json
from pathlib import Path

import pytest

from memaudit.cli.terminal import status_of
from memaudit.kernel.exact import exact
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.registry import SOLVERS
from tests.cli.running import done, failure, printed_json, run
from tests.published_layout import write_artifact


def test_json_fields(tiny: Package, tiny_file: Path) -> None:
    """One object a budget, in the order given, exact text next to the floats; the table
    says the same."""
    large, small = printed_json("solve", tiny_file, "--budget", "3,1/3")
    assert large["package"] == "tiny"
    assert large["digest"] == digest(tiny)
    assert (large["budget"], large["group_cap"], large["cost"]) == (3, 1, "7/3")
    assert (large["value"], large["value_exact"], large["store"]) == (3.0, "3", ["m1", "m3"])
    assert (large["certified"], large["status"], large["gap"]) == (True, "certified", 0.0)
    assert large["solver"] == "auto"
    assert (small["budget"], small["value"], small["store"]) == ("1/3", 1.0, ["m3"])
    (both,) = printed_json("solve", tiny_file, "--budget 9 --set score.group_cap=2")
    assert both["group_cap"] == 2
    result = done("solve", tiny_file, "--budget", "3")
    (row,) = [line.split() for line in result.stdout.splitlines() if line.startswith(" tiny")]
    assert row[:-2] == ["tiny", "3", "3", "7/3", "~2.333333", "m1,", "m3", "certified", "auto"]
    assert row[-1] == "s"


def test_declared_budgets(tiny: Package, tiny_file: Path, tmp_path: Path) -> None:
    """Without --budget the package's own are used, if it has any."""
    write_package(tiny.replace(budgets=("1", "0.5")), tmp_path / "p.json")
    printed = printed_json("solve", tmp_path / "p.json")
    assert [one["budget"] for one in printed] == [1, 0.5]
    assert failure("solve", tiny_file) == (
        "error: package 'tiny' declares no budgets; write budgets as --budget 30 or "
        "--budget 10,20,40"
    )


def test_all_packages_of_a_folder(tiny: Package, tmp_path: Path) -> None:
    """The published layout holds many; every one is solved, and all certificates verify."""
    write_artifact([tiny, tiny.replace(name="other")], tmp_path / "a")
    certificate = tmp_path / "c.json"
    result = run("solve", tmp_path / "a", "--budget", "1,3", "--json", "--certificate", certificate)
    solved = [(one["package"], one["budget"]) for one in json.loads(result.stdout)]
    assert solved == [("tiny", 1), ("tiny", 3), ("other", 1), ("other", 3)]
    assert len(json.loads(certificate.read_text())) == 4
    checked = done("verify", tmp_path / "a", certificate)
    assert checked.stdout.count("VALID") == 4


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_every_solver_runs(tiny_file: Path, solver: str) -> None:
    """The value is the same; only some of them prove it, and the status says so."""
    (one,) = printed_json("solve", tiny_file, "--budget", 3, "--solver", solver)
    assert one["value"] == 3
    assert one["certified"] == (solver not in ("brute", "highs"))
    assert one["note"] == ("" if one["certified"] else f"{solver} gives no certificate")


def test_no_certificate_is_said(tiny_file: Path, tmp_path: Path) -> None:
    target = tmp_path / "c.json"
    result = done("solve", tiny_file, "--budget", 3, "--solver", "brute", "--certificate", target)
    assert "bound, gap 0, brute gives no certificate" in " ".join(result.stdout.split())
    assert result.stderr == "no certificate for 'tiny' at budget 3: brute gives no certificate\n"
    assert not target.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--budget 1,,2", "error: budgets '1,,2' have an empty entry"),
        ("--budget -1", "error: budget -1 is negative; budgets are 0 or more"),
        ("--budget \x1b[2J", r"error: budget '\x1b[2J': '\x1b[2J' is not a number"),
        ("--budget 1 --solver guess", "error: unknown solver 'guess'; known solvers: "),
        (
            "--budget 1 --set solver.seconds=0",
            "error: --set: solver.seconds must be above 0, not 0",
        ),
        ("--budget 1 --certificate no/where/c.json", "error: cannot write no/where/"),
    ],
)
def test_bad_options(tiny_file: Path, options: str, message: str) -> None:
    assert failure("solve", tiny_file, options).startswith(message)


def test_invalid_package_is_refused(tiny_file: Path, tmp_path: Path) -> None:
    """As `validate` would: every problem listed."""
    missing = run("solve", tmp_path / "no.json", "--budget", 1)
    assert missing.exit_code == 1
    assert missing.stderr.endswith("no.json: does not exist (check the path)\n")
    tiny_file.write_text(tiny_file.read_text().replace('"value": 1}', '"value": 2}'))
    broken = run("solve", tiny_file, "--budget", 1, "--json")
    assert (broken.exit_code, broken.stdout) == (1, "")
    assert "has coverage 2" in broken.stderr


def test_status_of_a_refused_certificate() -> None:
    """It is a bound, whatever the solver said."""
    zero = exact(0)
    note = "certificate refused: leaf 3: the bound does not exclude a better store"
    one = Optimum("p", "d", zero, 1, zero, (), zero, zero, "bound", "auto", note=note)
    assert status_of(one) == "bound, gap 0, certificate refused"

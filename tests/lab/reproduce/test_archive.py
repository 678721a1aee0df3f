"""The natural scoreboard on an archive of our own in the published layout."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.building.named_packages import natural_set
from memaudit.kernel.io.packages import read_packages
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.solve import solve
from memaudit.lab.reproduce.archive import measure_archive
from tests.cli.running import run
from tests.published_layout import write_artifact


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three packages of the natural set, one folder."""
    folder = tmp_path_factory.mktemp("archive") / "artifact"
    write_artifact(list(natural_set())[:3], folder)
    return folder


def test_numbers_are_means_over_examples(archive: Path) -> None:
    """Optima, k = 2, bytes and ratios, again one by one."""
    packages: list[Package] = read_packages(archive)
    found = measure_archive(packages)
    assert found.uncertified == 0
    for budget in (30, 60, 100):
        ones = [solve(package, budget).value for package in packages]
        twos = [solve(package, budget, group_cap=2).value for package in packages]
        bytes_ = [solve(package.recost("bytes"), budget).value for package in packages]
        for metric, values in (("opt", ones), ("opt_two", twos), ("opt_bytes", bytes_)):
            mean = found.mean(budget, metric)
            assert mean is not None
            assert mean[0] == pytest.approx(float(sum(values) / Fraction(len(values))))
        shares = [two / one for one, two in zip(ones, twos, strict=True) if one]
        mean = found.mean(budget, "two_over_one")
        assert mean is not None
        assert mean[0] == pytest.approx(float(sum(shares) / len(shares)))


def test_command(archive: Path, tmp_path: Path) -> None:
    """Published numbers beside ours; without an archive, how to get it."""
    printed = run("reproduce", "natural", "--artifact", archive)
    assert printed.exit_code == 0, printed.output
    assert "published numbers agree, 3 examples" in printed.stdout
    data = json.loads(run("reproduce", "natural", "--artifact", archive, "--json").stdout)
    assert data["examples"] == 3
    assert data["lines"][0]["published"] == "0.931"
    assert len(data["writers"]) == 9
    assert all(0 <= row["ci_low"] <= row["mean_ratio"] <= row["ci_high"] for row in data["writers"])
    assert "gvt / OPT at B = 30" in printed.stdout
    assert "over 87 examples, so these are not comparable" in printed.stdout
    missing = run("reproduce", "natural", "--artifact", tmp_path / "no")
    assert missing.exit_code == 0
    assert "no archive found at" in missing.stdout

"""The package told in full: its store, its losses, its proof."""

import base64
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.kernel.checker import verify
from memaudit.kernel.io.certificates import read_certificates
from memaudit.kernel.io.packages import read_package
from memaudit.kernel.package.objective import value
from memaudit.kernel.package.package import Package
from memaudit.lab.sweeps.runs.report import package_story, remade_packages
from memaudit.lab.sweeps.runs.report.package_story import (
    MOST_COLUMNS,
    MOST_ROWS,
    MatrixCell,
    PackageStory,
    build_story,
    choose_story,
    coverage_matrix,
)
from memaudit.lab.sweeps.runs.report.remade_packages import remake
from memaudit.lab.sweeps.runs.report.run_grids import open_run


@pytest.fixture(scope="module")
def told(plain_run: Path) -> PackageStory:
    run = open_run(plain_run)
    choice = choose_story(run)
    assert choice is not None
    (one,) = remake(run, [(choice.distribution, choice.seed)])
    return build_story(one, choice, list(run.members.values()))


def test_losses_and_gains_explain_the_whole_gap(told: PackageStory) -> None:
    assert len(told.stores) == 5
    for store in told.stores:
        found = store.comparison
        assert found is not None
        assert found.value == told.optimum.value - found.total_lost + found.total_gained
        assert len(found.both) + len(found.missed) == len(told.optimum.store)
        kept = {item.id for item in (*found.both, *found.instead)}
        assert value(told.package, kept).low == found.value
        assert not {item.id for item in found.missed} & kept


def test_the_certificate_is_the_one_of_the_rows_and_holds(told: PackageStory) -> None:
    assert told.proof.status == "certified"
    assert told.proof.valid
    assert told.proof.same_as_recorded
    assert told.proof.leaves >= 1


def test_the_files_in_the_page_can_be_checked_elsewhere(told: PackageStory, tmp_path: Path) -> None:
    certificate = told.proof.certificate_file
    assert certificate is not None
    for file in (told.proof.package_file, certificate):
        head, code = file.address.split(",")
        assert head == "data:application/json;base64"
        (tmp_path / file.name).write_bytes(base64.b64decode(code))
        assert (tmp_path / file.name).stat().st_size == file.bytes
    package = read_package(tmp_path / "package.json")
    (read,) = read_certificates(tmp_path / "certificate.json")
    assert verify(package, read).valid
    assert read.value == told.optimum.value


def test_a_long_file_stays_out_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remade_packages, "MOST_BYTES", 10)
    file = remade_packages._attached("package.json", "x" * 11)
    assert (file.address, file.bytes) == ("", 11)


def test_the_matrix_by_hand(tiny: Package) -> None:
    found = coverage_matrix(tiny, {"m3"}, set())
    assert [column.unit.id for column in found.columns] == ["u1", "u2"]
    assert [column.weight for column in found.columns] == [2, 1]
    assert [(row.candidate.id, row.by_opt) for row in found.rows] == [
        ("m1", False),
        ("m2", False),
        ("m3", True),
    ]
    shades = [[cell.shade for cell in row.cells] for row in found.rows]
    assert shades == [[5, 0], [3, 0], [0, 5]]


@given(st.fractions(0, 1))
def test_only_nothing_has_no_shade(value: Fraction) -> None:
    shade = MatrixCell(value).shade
    assert 0 <= shade <= 5
    assert (shade == 0) == (value == 0)
    assert 5 * value <= shade < 5 * value + 1


def long_package(length: int) -> Package:
    rows = range(length)
    return Package.model_validate(
        {
            "name": "long",
            "experiences": [{"id": f"e{i}", "text": "x" * 1000} for i in rows],
            "candidates": [
                {"id": f"c{i}", "experience": f"e{i}", "kind": "raw", "cost": 1} for i in rows
            ],
            "units": [{"id": f"u{i}", "kind": "fact", "weight": i} for i in rows],
            "coverage": [{"candidate": f"c{i}", "unit": f"u{i}", "value": 1} for i in rows],
        }
    )


def test_a_long_package_is_cut_and_counted() -> None:
    package = long_package(200)
    found = coverage_matrix(package, {"c150"}, {"c199": 1})
    assert (len(found.rows), found.hidden_candidates) == (MOST_ROWS, 200 - MOST_ROWS)
    assert (len(found.columns), found.hidden_units) == (MOST_COLUMNS, 200 - MOST_COLUMNS)
    assert {"c150", "c199"} <= {row.candidate.id for row in found.rows}
    assert found.columns[0].unit.id == "u199"  # the weightiest that a shown candidate covers
    steps = package_story._steps(package, {"c150"}, {"c199": 1})
    assert len(steps) == package_story.MOST_EXPERIENCES
    assert [step.number for step in steps][-2:] == [151, 200]
    assert [step.number for step in steps] == sorted(step.number for step in steps)

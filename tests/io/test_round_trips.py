"""Every form on disk gives the same package back, number for number."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.io.packages import read_package, read_packages, write_package
from memaudit.io.published_folder import write_artifact
from tests.strategies import packages


@given(packages())
@settings(max_examples=30)
def test_every_form_round_trips(package: Package) -> None:
    """One file, folder and published layout; writing again over the old one too."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for target in ("p.json", "p"):
            write_package(package, place / target)
            write_package(package, place / target)
            assert read_package(place / target) == package
        other = package.replace(name="other")
        write_artifact([package, other], place / "a")
        found = read_packages(place / "a")
        assert [digest(one) for one in found] == [digest(package), digest(other)]
        assert found == [package, other]
        write_artifact(found, place / "a")
        assert read_packages(place / "a") == found
        assert sorted(path.name for path in place.iterdir()) == ["a", "p", "p.json"]


def test_exact_numbers_survive(tiny: Package, tmp_path: Path) -> None:
    """Numbers floats cannot hold stay what they were."""
    numbers = ["0.1", "1/3", "123456789.123456789123456789", "1e-30", "7/1000003"]
    candidates = [
        tiny.candidates[0].model_copy(update={"id": f"n{i}"}).model_dump() | {"cost": number}
        for i, number in enumerate(numbers)
    ]
    package = tiny.replace(candidates=candidates, coverage=())
    write_package(package, tmp_path / "p.json")
    assert read_package(tmp_path / "p.json") == package


def test_both_weights_are_recorded(tiny: Package, tmp_path: Path) -> None:
    """A unit row shows the queries' weight next to the explicit one."""
    write_package(tiny, tmp_path / "p")
    rows = (tmp_path / "p" / "units.jsonl").read_text().splitlines()
    assert rows == [
        '{"id": "u1", "kind": "fact", "weight": 2, "query_weight": 0}',
        '{"id": "u2", "kind": "current", "query_weight": 1}',
    ]


def test_one_package_expected(tiny: Package, tmp_path: Path) -> None:
    """Reading one package from a folder of two says so."""
    write_artifact([tiny, tiny.replace(name="b")], tmp_path / "a")
    with pytest.raises(MemAuditError, match="holds 2 packages"):
        read_package(tmp_path / "a")


@pytest.mark.parametrize("names", [("a", "a"), ("a", "a!", "a::b")])
def test_names_that_would_mix_are_refused(
    tiny: Package, tmp_path: Path, names: tuple[str, ...]
) -> None:
    """Examples are told apart by prefix, so one name may not start another."""
    with pytest.raises(MemAuditError, match="cannot share a folder"):
        write_artifact([tiny.replace(name=name) for name in names], tmp_path / "a")

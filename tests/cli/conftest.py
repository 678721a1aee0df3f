"""Packages and a store on disk."""

from pathlib import Path

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.package import Package
from tests.cli.running import import_texts


@pytest.fixture
def tiny_file(tiny: Package, tmp_path: Path) -> Path:
    """The tiny package in one file; it declares no budgets."""
    write_package(tiny, tmp_path / "tiny.json")
    return tmp_path / "tiny.json"


@pytest.fixture
def hotel_files(tmp_path: Path) -> tuple[Path, Path]:
    """The package hotel-rooms of the natural set, and the store `export` of four of its facts."""
    package = short_set()[0]
    write_package(package, tmp_path / "p.json")
    texts = [candidate.text for candidate in package.candidates if candidate.kind == "fact"][:4]
    return tmp_path / "p.json", import_texts(tmp_path / "export.json", texts)

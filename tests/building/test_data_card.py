"""Card, Croissant and provenance for a folder of packages."""

import hashlib
import json
from pathlib import Path

import pytest

from memaudit.building.build_folder import packages_at
from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.digest import digest
from tests.cli.running import done, failure

mlcroissant = pytest.importorskip("mlcroissant")


def folder_of_packages(folder: Path) -> Path:
    folder.mkdir()
    for package in short_set()[:2]:
        write_package(package, folder / f"{package.name}.json")
    return folder


def check(folder: Path, items: int) -> dict[str, object]:
    """mlcroissant reads the items, and every file is there with its hash."""
    card = folder.with_name(f"{folder.name}-card")
    dataset = mlcroissant.Dataset(jsonld=card / "croissant.json")
    assert not dataset.metadata.issues.errors
    assert len(list(dataset.records(record_set="items"))) == items
    files: dict[str, object] = json.loads((card / "provenance.json").read_text())
    listed = json.loads((card / "croissant.json").read_text())["distribution"]
    for entry in listed:
        data = (card / entry["contentUrl"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == entry["sha256"]
    return files


def test_packages(tmp_path: Path) -> None:
    """Counts, kinds, provenance of cells and digests; a second run describes the same."""
    folder = folder_of_packages(tmp_path / "set")
    text = done("package", "card", folder, "--title", "Two talks", "--licence", "MIT").stdout
    assert text.startswith("2 packages with ")
    facts = check(folder, 2)
    assert facts["packages"] == {one.name: digest(one) for one in short_set()[:2]}
    card = (tmp_path / "set-card" / "card.md").read_text()
    assert card.startswith("# Two talks\n")
    assert "| pass:coverage |" in card
    before = (tmp_path / "set-card" / "croissant.json").read_text()
    done("package", "card", folder, "--title", "Two talks", "--licence", "MIT")
    assert (tmp_path / "set-card" / "croissant.json").read_text() == before
    assert len(packages_at(folder)) == 2


def test_nothing_to_describe(tmp_path: Path) -> None:
    assert "folder" in failure("package", "card", tmp_path)
    assert "not a folder" in failure("package", "card", tmp_path / "no")

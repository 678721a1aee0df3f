"""Packages by name, one at a time: what a worker reads is what reading all of them gives."""

import json
import pickle
from pathlib import Path

import pytest

from memaudit.building.build_folder import MANIFEST, BuildJob, build_into
from memaudit.building.named_packages import contents_of, short_set
from memaudit.kernel.io.packages import read_package, read_packages, write_package
from memaudit.lab.sweeps.runs.spec import named_places
from tests.conversations.files import FIXTURES
from tests.published_layout import write_artifact


def build_of_folders(out: Path) -> None:
    """A build as memaudit 0.1 could write it, with a folder for every package."""
    build_into(BuildJob(FIXTURES["chat"]), out)
    for file in sorted(out.glob("*.json")):
        if file.name != MANIFEST:
            write_package(read_package(file), file.with_suffix(""))
            file.unlink()
    manifest = json.loads((out / MANIFEST).read_text())
    for row in manifest["packages"]:
        row["file"] = row["file"].removesuffix(".json")
    (out / MANIFEST).write_text(json.dumps(manifest))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A build, a file, a folder of tables and the published layout."""
    build_of_folders(tmp_path / "build")
    write_package(short_set()[0], tmp_path / "one.json")
    write_package(short_set()[1], tmp_path / "tables")
    write_artifact(short_set()[:3], tmp_path / "published")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "count"), [("build", 3), ("one.json", 1), ("tables", 1), ("published", 3)]
)
def test_one_at_a_time(name: str, count: int, folder: Path) -> None:
    places = named_places(str(folder / name))
    assert len(places) == count
    again = pickle.loads(pickle.dumps(places))
    assert [place.read() for place in again] == read_packages(folder / name)


def test_names() -> None:
    assert [place.read() for place in named_places("short")] == list(short_set())
    four, five = named_places("event_graph:experiences=7:seeds=4-5")
    assert four.read() == four.read() != five.read()


def test_contents(folder: Path) -> None:
    """They differ between packages, and change with a file."""
    names = ("build", "one.json", "tables", "published")
    places = [place for name in names for place in named_places(str(folder / name))]
    places += [*named_places("short"), *named_places("event_graph:seeds=1-2")]
    before = contents_of(places)
    assert len(set(before)) == len(places)
    write_package(short_set()[2], folder / "one.json")
    write_artifact(short_set()[3:6], folder / "published")
    after = contents_of(places)
    changed = {
        place for place, (old, new) in enumerate(zip(before, after, strict=True)) if old != new
    }
    assert changed == {3, 5, 6, 7}
    assert places[5].read() == short_set()[3]

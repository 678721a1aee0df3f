"""The library finds everything there is, and nothing unreadable stops it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.packages import write_package
from memaudit.lab.explorer.addresses import PATTERN, anchor, slug
from memaudit.lab.explorer.library.entries import Kind
from memaudit.lab.explorer.library.folders import WRITTEN
from memaudit.lab.explorer.library.library import Library, NotInLibrary
from memaudit.lab.explorer.pages import PAGES
from memaudit.lab.explorer.site import Site, show
from memaudit.lab.sweeps.runs.spec import RunSpec
from memaudit.lab.sweeps.runs.sweep import run
from memaudit.workspace.engines import Serial
from memaudit.workspace.run_folder import ROWS
from tests.lab.explorer.libraries import CORPUS, hostile_package


def test_everything_is_found(plain: Path) -> None:
    library = Library([plain])
    kinds: tuple[Kind, ...] = ("package", "run", "store", "certificate")
    names = {kind: sorted(entry.name for entry in library.of(kind)) for kind in kinds}
    assert names == {
        "package": ["base-1", "cv-gaps", "hotel-rooms", "new-knee", "puppy-name", "w"],
        "run": ["a-run"],
        "store": ["notes"],
        "certificate": ["proofs"],
    }
    (proofs,) = library.of("certificate")
    assert proofs.count("certificates") == 2
    assert all(entry.place.startswith("library/") for entry in library.items)


def test_what_is_found_can_be_opened(plain: Path) -> None:
    library = Library([plain])
    for found in library.of("package"):
        if found.name == "w":
            continue
        indexed = library.package(found)
        assert indexed.package.name == found.name
        counts = {table: found.count(table) for table in ("experiences", "candidates", "units")}
        for table, count in counts.items():
            assert count in (None, len(getattr(indexed.package, table)))
    assert len(library.run(library.of("run")[0]).members) == 5
    assert len(library.store(library.of("store")[0]).memories) == 2
    assert len(library.certificates(library.of("certificate")[0])) == 2


def test_packages_of_a_run_are_made_again(plain: Path) -> None:
    library = Library([plain])
    (run,) = library.of("run")
    packages = library.packages_of(run)
    assert len(packages) == 6
    found = library.named("package", packages[1].slug)
    assert library.package(found).package.name == "base-1"
    # The same package as the file beside the run: rows are found for both.
    (file,) = [entry for entry in library.of("package") if entry.name == "base-1"]
    assert library.package(file).digest == library.package(found).digest


def test_the_unreadable_is_listed_with_a_line(plain: Path) -> None:
    library = Library([plain])
    assert {entry.place for entry in library.unreadable} == {
        "library/broken.json",
        "library/deep.json",
    }
    (wrong,) = [entry for entry in library.of("package") if entry.name == "w"]
    with pytest.raises(MemAuditError):
        library.package(wrong)
    reasons = {entry.place: entry.reason for entry in library.unreadable}
    assert "'experiences' is missing" in reasons["library/wrong.json"]
    assert all("\n" not in reason and str(plain) not in reason for reason in reasons.values())


def test_odd_entries_are_passed_by(tmp_path: Path) -> None:
    """A pipe, a link in a circle, a folder without rights: none is waited for or followed."""
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "circle").symlink_to(tmp_path)
    (tmp_path / "nowhere.json").symlink_to(tmp_path / "gone")
    (tmp_path / ".hidden").mkdir()
    write_package(hostile_package("a", 1), tmp_path / ".hidden" / "one.json")
    for name in ("run.json", "manifest.json", "spec.json"):
        (tmp_path / name).write_text("[]")
    library = Library([tmp_path])
    assert library.items == ()
    assert [entry.place for entry in library.unreadable] == [f"{tmp_path.name}/nowhere.json"]


def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    """A file, and a part of what a folder is; links within the folder are files."""
    given, private = tmp_path / "given", tmp_path / "private"
    (given / "tables").mkdir(parents=True)
    private.mkdir()
    for folder in (given, private):
        write_package(hostile_package("a", 1), folder / "one.json")
    write_package(hostile_package("b", 2), given / "tables")
    (given / "tables" / "units.jsonl").rename(private / "units.jsonl")
    (given / "tables" / "units.jsonl").symlink_to(private / "units.jsonl")
    (given / "out.json").symlink_to("../private/one.json")
    (given / "run.json").symlink_to(private / "one.json")
    (given / "within.json").symlink_to("one.json")
    (given / "folder").symlink_to(private)
    (tmp_path / "link").symlink_to(given)
    for root in ("given", "link"):
        library = Library([tmp_path / root])
        assert [entry.place for entry in library.items] == [
            f"{root}/one.json",
            f"{root}/within.json",
        ]
        assert {entry.place: entry.reason for entry in library.unreadable} == {
            f"{root}/out.json": "is a link that leads out of the folder",
            f"{root}/run.json": "is a link that leads out of the folder",
            f"{root}/tables": "units.jsonl is a link that leads out of the folder",
        }
    assert len(Library([given / "out.json"]).items) == 1  # given itself


def test_a_run_in_progress(tmp_path: Path) -> None:
    """It is listed with its rows so far, and is finished once they are all there."""
    spec = RunSpec(("base",), (0, 1), ("2",), ("opt", "recency_raw"))
    run(spec, tmp_path / "a", Serial())
    rows = (tmp_path / "a" / ROWS).read_bytes()
    library = Library([tmp_path])
    assert library.of("run")[0].count(WRITTEN) is None
    for kept, written in (
        (b"", 0),
        (b"".join(rows.splitlines(keepends=True)[:2]), 2),
        (rows[:-3], 3),
    ):
        (tmp_path / "a" / ROWS).write_bytes(kept)
        library.refresh()
        assert library.of("run")[0].count(WRITTEN) == written
    site = Site(library)
    address = f"run/{library.of('run')[0].slug}/index.html"
    assert "In progress: 3 of 4 rows." in show(site, PAGES, address, {})[1]
    (tmp_path / "a" / ROWS).write_bytes(rows)  # before anybody looked again
    assert "Ranking" in show(site, PAGES, address, {})[1]


def test_two_folders_of_one_name(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / str(number) / "x").mkdir(parents=True)
        write_package(hostile_package("a", number), tmp_path / str(number) / "x" / "p.json")
    library = Library([tmp_path / "1" / "x", tmp_path / "2" / "x"])
    assert [entry.place for entry in library.items] == ["x (2)/p.json", "x/p.json"]
    assert len({entry.slug for entry in library.items}) == 2


def test_no_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MemAuditError, match="does not exist"):
        Library([tmp_path / "gone"])
    with pytest.raises(MemAuditError, match="no folder was given"):
        Library([])


def test_an_unknown_name_is_not_here(plain: Path) -> None:
    with pytest.raises(NotInLibrary):
        Library([plain]).named("package", "nobody-0123456789")


@pytest.mark.parametrize("text", [*CORPUS, "", "Ünïcode", "A" * 500, "con", ".", ".."])
def test_slugs_are_harmless(text: str) -> None:
    made = slug(text, "key")
    assert re.fullmatch(PATTERN, made)
    assert len(made) <= 51
    assert made != slug(text, "another key")
    assert re.fullmatch(r"c-[0-9a-f]{10}", anchor("candidates", text))


NAMES = ("run.json", "spec.json", "package.json", "manifest.json")


@pytest.mark.slow
@pytest.mark.parametrize("sort", ["pipe", "device"])
def test_bundle_ends(tmp_path: Path, sort: str) -> None:
    """In a process of its own: what hangs is killed, and fails."""
    for number, name in enumerate(NAMES):
        folder = tmp_path / "in" / f"thing{number}"
        folder.mkdir(parents=True)
        if sort == "pipe":
            os.mkfifo(folder / name)
        else:
            (folder / name).symlink_to("/dev/zero")
    command = [sys.executable, "-m", "memaudit.cli.main", "serve", str(tmp_path / "in")]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "site")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1)

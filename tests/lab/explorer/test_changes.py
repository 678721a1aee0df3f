"""Files that change while they are served: nothing on a page is about what was there before."""

import json
import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.io.certificates import write_certificates
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.io.store_file import ExportedStore, Memory, Origin, write_store
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.solve import solve
from memaudit.lab.explorer.library import library as libraries
from memaudit.lab.explorer.library.entries import Kind
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.pages import PAGES
from memaudit.lab.explorer.site import Site, show
from memaudit.lab.sweeps.generators.registry import named_distribution
from memaudit.lab.sweeps.runs.spec import RunSpec
from memaudit.lab.sweeps.runs.sweep import run
from memaudit.workspace.engines import Serial
from memaudit.workspace.run_folder import ROWS
from tests.lab.explorer.libraries import hostile_package
from tests.lab.explorer.serving import exploring
from tests.lab.labels.annotate.small_frames import Served


@pytest.fixture
def hotel() -> Package:
    (package,) = [package for package in short_set() if package.name == "hotel-rooms"]
    return package


def dearer(package: Package, importance: int = 10) -> Package:
    """The first query counts for more than 1; OPT at 24 meets it and three others."""
    first, *others = package.queries
    first = first.model_copy(update={"importance": Fraction(importance)})
    return package.replace(queries=(first, *others))


def named(folder: Path, kind: Kind) -> str:
    (found,) = Library([folder]).of(kind)
    return found.slug


@pytest.fixture
def folder(tmp_path: Path, hotel: Package) -> Path:
    write_package(hotel, tmp_path / "hotel.json")
    certificate = solve(hotel, 24).certificate
    assert certificate is not None
    write_certificates([certificate], tmp_path / "proofs.json")
    return tmp_path


@pytest.fixture
def server(folder: Path) -> Iterator[Served]:
    with exploring(folder) as found:
        yield found


def opt_at(server: Served, slug: str, budget: str) -> str:
    status, _, body = server.get(f"/package/{slug}/certificate/{budget}.json")
    assert status == 200, body
    return str(json.loads(body)["value"])


def page(server: Served, address: str) -> tuple[int, str]:
    status, _, body = server.get(f"/{address}")
    return status, body.decode()


def test_pages_and_verdicts_follow_the_file(server: Served, folder: Path, hotel: Package) -> None:
    package, proofs = named(folder, "package"), named(folder, "certificate")
    assert opt_at(server, package, "24") == "4"
    assert server.post("/verify", {"certificate": proofs})["valid"]
    write_package(dearer(hotel), folder / "hotel.json")
    assert opt_at(server, package, "24") == "13"
    assert "worth 13 of 14" in page(server, f"package/{package}/stores.html?budget=24")[1]
    assert server.post("/verify", {"package": package, "budget": "24"})["value"] == "13"
    found = server.post("/verify", {"certificate": proofs})
    assert (found["valid"], found["reason"]) == (False, "its package is not in the library")


def test_an_edited_file_is_refused_at_once(server: Served, folder: Path) -> None:
    """As `memaudit verify` does: the file is no longer what its digest says."""
    package, proofs = named(folder, "package"), named(folder, "certificate")
    assert opt_at(server, package, "24") == "4"
    assert server.post("/verify", {"certificate": proofs})["valid"]
    text = (folder / "hotel.json").read_text()
    (folder / "hotel.json").write_text(text.replace("away from the lift", "beside the lift", 1))
    assert page(server, f"package/{package}/index.html")[0] == 422
    assert not server.post("/verify", {"certificate": proofs})["valid"]


def test_a_file_that_is_gone_is_not_here(server: Served, folder: Path) -> None:
    package = named(folder, "package")
    assert page(server, f"package/{package}/index.html")[0] == 200
    (folder / "hotel.json").unlink()
    assert page(server, f"package/{package}/index.html")[0] == 404
    assert page(server, f"package/{package}/frontier.json")[0] == 404


def test_search_reads_what_is_there(server: Served, folder: Path, hotel: Package) -> None:
    assert "Nothing contains" in page(server, "search.html?q=zeppelin")[1]
    memory = Memory(id="m", text="She came by zeppelin.", example=hotel.name)
    store = ExportedStore(name="s", origin=Origin(system="s", format="plain"), memories=(memory,))
    write_store(store, folder / "store.json")
    assert "zeppelin" in page(server, "search.html?q=zeppelin")[1].partition("<main")[2]
    assert "Nothing contains" not in page(server, "search.html?q=zeppelin")[1]


def value(site: Site, slug: str) -> str:
    status, text = show(site, PAGES, f"package/{slug}/certificate/24.json", {})
    assert status == 200, text
    return str(json.loads(text)["value"])


def test_what_went_out_of_memory_is_not_mixed_with_what_stayed(
    folder: Path, hotel: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read again, a package has no optimum of what it was, whatever its size and time say."""
    path = folder / "hotel.json"
    write_package(dearer(hotel, 3), path)
    before = path.stat()
    site, slug = Site(Library([folder])), named(folder, "package")
    assert value(site, slug) == "6"
    write_package(dearer(hotel, 5), path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    monkeypatch.setattr(libraries, "MOST_CACHED", 1)
    site.library.certificates(site.library.of("certificate")[0])  # the package makes room
    assert value(site, slug) == "8"


def test_a_folder_of_tables_that_changes(tmp_path: Path, hotel: Package) -> None:
    write_package(hotel, tmp_path / "tables")
    site, slug = Site(Library([tmp_path])), named(tmp_path, "package")
    assert value(site, slug) == "4"
    write_package(dearer(hotel), tmp_path / "tables")
    assert value(site, slug) == "13"


def test_rows_of_a_run_that_goes_on(tmp_path: Path) -> None:
    """A package beside a run shows what the run says now."""
    spec = RunSpec(("base",), (1,), ("2", "4"), ("opt", "greedy"))
    run(spec, tmp_path / "run", Serial())
    write_package(named_distribution("base").package(1), tmp_path / "base-1.json")
    rows = (tmp_path / "run" / ROWS).read_text().splitlines(keepends=True)
    (tmp_path / "run" / ROWS).write_text("".join(rows[:2]))
    site = Site(Library([tmp_path]))
    indexed = site.package(named(tmp_path, "package"))
    assert [(row.budget, row.member.name) for row in site.rows(indexed)] == [
        (2, "opt"),
        (2, "greedy"),
    ]
    (tmp_path / "run" / ROWS).write_text("".join(rows))
    assert [row.budget for row in site.rows(indexed)] == [2, 2, 4, 4]
    assert site.budgets(indexed) == (2, 4)


def test_nothing_is_read_again_that_did_not_change(tmp_path: Path) -> None:
    for number in range(3):
        write_package(hostile_package("a", number), tmp_path / f"{number}.json")
    library = Library([tmp_path])
    indexed = [library.package(entry) for entry in library.of("package")]
    os.utime(tmp_path / "1.json", ns=(1, 1))
    again = [library.package(entry) for entry in library.of("package")]
    assert [one is two for one, two in zip(indexed, again, strict=True)] == [True, False, True]

"""Files that change while they are served: nothing on a page is about what was there before."""

import json
import os
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


def shown(site: Site, address: str, **params: str) -> tuple[int, str]:
    """A page as the server shows it: after another look at the folders."""
    site.library.refresh()
    return show(site, PAGES, address, params)


def test_pages_and_verdicts_follow_the_file(folder: Path, hotel: Package) -> None:
    site = Site(Library([folder]), seconds=20.0)
    package, proofs = named(folder, "package"), named(folder, "certificate")
    stores, proofs = f"package/{package}/stores.html", f"certificate/{proofs}.html"
    assert value(site, package) == "4"
    assert ">holds<" in shown(site, proofs)[1]
    write_package(dearer(hotel), folder / "hotel.json")
    assert "worth 13 of 14" in shown(site, stores, budget="24")[1]
    assert value(site, package) == "13"
    assert "not in the library" in shown(site, proofs)[1]
    # An edited file is refused, as `memaudit verify` does: it is not what its digest says.
    text = (folder / "hotel.json").read_text()
    (folder / "hotel.json").write_text(text.replace("away from the lift", "beside the lift", 1))
    assert shown(site, f"package/{package}/index.html")[0] == 422
    (folder / "hotel.json").unlink()
    assert shown(site, f"package/{package}/index.html")[0] == 404


def test_a_server_looks_again_for_every_page(folder: Path, hotel: Package) -> None:
    with exploring(folder) as server:
        assert b"Nothing contains" in server.get("/search.html?q=zeppelin")[2]
        memory = Memory(id="m", text="She came by zeppelin.", example=hotel.name)
        origin = Origin(system="s", format="plain")
        store = ExportedStore(name="s", origin=origin, memories=(memory,))
        write_store(store, folder / "store.json")
        assert b"Nothing contains" not in server.get("/search.html?q=zeppelin")[2]
        package = named(folder, "package")
        (folder / "hotel.json").unlink()
        assert server.get(f"/package/{package}/index.html")[0] == 404


def value(site: Site, slug: str) -> str:
    status, text = shown(site, f"package/{slug}/certificate/24.json")
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
    site.library.refresh()
    assert [row.budget for row in site.rows(indexed)] == [2, 2, 4, 4]
    assert site.budgets(indexed) == (2, 4)


def test_nothing_is_read_again_that_did_not_change(tmp_path: Path) -> None:
    for number in range(3):
        write_package(hostile_package("a", number), tmp_path / f"{number}.json")
    library = Library([tmp_path])
    indexed = [library.package(entry) for entry in library.of("package")]
    os.utime(tmp_path / "1.json", ns=(1, 1))
    library.refresh()
    again = [library.package(entry) for entry in library.of("package")]
    assert [one is two for one, two in zip(indexed, again, strict=True)] == [True, False, True]

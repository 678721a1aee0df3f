"""Stores as tables: every writer once, and those that take long when they are asked for."""

import json
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.io.store_file import ExportedStore, ImportCount, Memory, Origin, write_store
from memaudit.kernel.solvers.solve import STOP
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.pages import PAGES
from memaudit.lab.explorer.site import Site, show
from memaudit.lab.explorer.views.optima import runnable_writers
from memaudit.lab.explorer.views.package_stores import system_store, system_stores
from memaudit.lab.explorer.views.store_table import store_data
from memaudit.lab.sweeps.runs.sweep import EvaluatedPackage
from memaudit.lab.sweeps.writers.protocol import Writer
from memaudit.lab.sweeps.writers.registry import WRITERS
from tests.lab.explorer.libraries import WRITERS as OF_RUN
from tests.lab.explorer.libraries import large_package
from tests.lab.explorer.site_pages import element_with, page, slug_of, table_rows, words_of

SLOW = "estimated_greedy"


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """One writer does not come back before the event is set."""
    event = threading.Event()
    write = EvaluatedPackage.written_by

    def held_up(
        self: EvaluatedPackage, writer: Writer, budget: Fraction, seed: int
    ) -> tuple[str, ...]:
        if writer.name == SLOW:
            event.wait(60)
        return write(self, writer, budget, seed)

    monkeypatch.setattr(EvaluatedPackage, "written_by", held_up)
    yield event
    event.set()


@pytest.fixture
def own(tmp_path: Path) -> tuple[Site, str]:
    write_package(large_package(8, 4), tmp_path / "small.json")
    site = Site(Library([tmp_path]), seconds=20.0)
    return site, site.library.of("package")[0].slug


def data_of(tree: Any) -> Any:
    return json.loads(element_with(tree, "data").text)


def waiting(tree: Any) -> set[str]:
    labels = {writer.label: name for name, writer in WRITERS.items()}
    rows = table_rows(tree, "stores-table")
    return {labels[row[0].removesuffix(" reference")] for row in rows if row[1] == "not computed"}


def test_every_writer_but_opt_is_held_against_it(own: tuple[Site, str]) -> None:
    """References too, though the package is of no run; none of them twice."""
    site, slug = own
    table = table_rows(page(site, f"package/{slug}/stores.html", budget="2"), "stores-table")
    labels = [writer.label for name, writer in WRITERS.items() if name != "opt"]
    assert sorted(row[0].removesuffix(" reference") for row in table) == sorted(labels)


def test_what_a_run_says_is_not_computed_again(site: Site) -> None:
    slug = slug_of(site, "package", "base-1")
    table = table_rows(page(site, f"package/{slug}/stores.html", budget="4"), "stores-table")
    assert len(table) == len({row[0] for row in table}) == len(WRITERS)
    ran = {
        row[0].removesuffix(" run a-run").removesuffix(" reference")
        for row in table
        if row[0].endswith(" run a-run")
    }
    assert ran == {WRITERS[name].label for name in OF_RUN}


def test_a_page_does_not_wait_for_a_slow_writer(
    own: tuple[Site, str], released: threading.Event
) -> None:
    """What is known is there; the rest are there at a later visit."""
    site, slug = own
    names = list(runnable_writers())
    for name in names[: names.index(SLOW)]:
        site.optima(site.package(slug)).written_by(name, Fraction(2))
    site.seconds = 0.01
    tree = page(site, f"package/{slug}/stores.html", budget="2")
    assert waiting(tree) == set(names[names.index(SLOW) :])
    released.set()
    site.seconds = 60.0
    tree = page(site, f"package/{slug}/stores.html", budget="2")
    assert waiting(tree) == set()
    (row,) = [row for row in table_rows(tree, "stores-table") if row[0] == WRITERS[SLOW].label]
    assert len(row) == 8


def test_who_waits_for_a_writer_is_sent_home_at_the_end(
    own: tuple[Site, str], released: threading.Event
) -> None:
    site, slug = own
    workshop = site.optima(site.package(slug))
    assert workshop.written_within(SLOW, Fraction(2), 0.01) is None
    STOP.set()
    try:
        with pytest.raises(MemAuditError, match="ending"):
            workshop.written_by(SLOW, Fraction(2))
        released.set()
    finally:
        STOP.clear()


def test_a_bundle_has_every_writer(own: tuple[Site, str]) -> None:
    site, slug = own
    bundled = Site(site.library, bundled=True, seconds=60.0)
    tree = page(bundled, f"package/{slug}/stores.html")
    assert waiting(tree) == set()
    assert len(table_rows(tree, "stores-table")) == len(WRITERS) - 1


@pytest.mark.usefixtures("released")
def test_a_bundle_does_not_wait_for_a_slow_writer(own: tuple[Site, str]) -> None:
    """When the time of the package is up, writers are missing, on every page, and said to be."""
    site, slug = own
    site.optima(site.package(slug)).written_by("gvt", Fraction(2))  # what is loaded only once
    bundled = Site(site.library, bundled=True, seconds=3.0)
    started = time.monotonic()
    data = data_of(page(bundled, f"package/{slug}/index.html"))
    tree = page(bundled, f"package/{slug}/stores.html")
    assert time.monotonic() - started < 30  # the writer takes a minute, at each of six budgets
    assert SLOW in waiting(tree)
    said = words_of(element_with(tree, "waiting"))
    assert said.endswith("not computed in the time given (solver.seconds).")
    assert "not computed" in words_of(element_with(tree, "stores-table"))
    assert all(SLOW not in stores for stores in data["computed"].values())
    assert any(data["computed"].values())


SAID = "PARTLY READ: 2 rows of the export are not in the store"


def test_said_on_the_package_page(tmp_path: Path) -> None:
    """In the table of stores, and in the comparison of the slider."""
    package = short_set()[0]
    store = ExportedStore(
        name="half",
        origin=Origin(system="X", format="plain"),
        memories=(Memory(id="a", text="Ingrid wants foam pillows.", example=package.name),),
        count=ImportCount(read=3, kept=1, skipped={"text is a number, not text": 2}),
    )
    write_package(package, tmp_path / "package.json")
    write_store(store, tmp_path / "half.json")
    site = Site(Library([tmp_path]))
    (entry,) = site.library.of("package")
    status, text = show(site, PAGES, f"package/{entry.slug}/stores.html", {"budget": "12"})
    assert status == 200
    assert SAID in text
    indexed = site.package(entry.slug)
    (system,) = system_stores(site.library, indexed)
    assert store_data(indexed, system_store(indexed, system))["notes"] == [SAID]

"""An incomplete store is marked wherever its value is shown."""

from pathlib import Path

from memaudit.adapters.store import ExportedStore, ImportCount, Memory, Origin, write_store
from memaudit.io.packages import write_package
from memaudit.natural.named_packages import natural_set
from memaudit.web.explorer.library.library import Library
from memaudit.web.explorer.pages.registry import PAGES
from memaudit.web.explorer.site import Site, show
from memaudit.web.explorer.views.package_stores import system_store
from memaudit.web.explorer.views.store_table import store_data

SAID = "PARTLY READ: 2 rows of the export are not in the store"


def test_said_on_the_package_page(tmp_path: Path) -> None:
    """In the table of stores, and in the comparison of the slider."""
    package = natural_set()[0]
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
    assert store_data(indexed, system_store(indexed, store))["notes"] == [SAID]

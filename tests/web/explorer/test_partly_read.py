"""A store that is not all there says so wherever its value is shown."""

from pathlib import Path

from memaudit.adapters.store import Count, ExportedStore, Memory, Origin, write_store
from memaudit.io.packages import write_package
from memaudit.natural.named_packages import natural_set
from memaudit.web.explorer.library.library import Library
from memaudit.web.explorer.pages.registry import PAGES
from memaudit.web.explorer.site import Site, show
from memaudit.web.explorer.views.store_comparison import of_system
from memaudit.web.explorer.views.store_rows import held_data

SAID = "PARTLY READ: 2 rows of the export are not in the store"


def test_said_on_the_package_page(tmp_path: Path) -> None:
    """In the table of stores, and in what the slider is held against."""
    package = natural_set()[0]
    store = ExportedStore(
        name="half",
        origin=Origin(system="X", format="plain"),
        memories=(Memory(id="a", text="Ingrid wants foam pillows.", example=package.name),),
        count=Count(read=3, kept=1, skipped={"text is a number, not text": 2}),
    )
    write_package(package, tmp_path / "package.json")
    write_store(store, tmp_path / "half.json")
    site = Site(Library([tmp_path]))
    (found,) = site.library.of("package")
    status, text = show(site, PAGES, f"package/{found.slug}/stores.html", {"budget": "12"})
    assert status == 200
    assert SAID in text
    opened = site.package(found.slug)
    assert held_data(opened, of_system(opened, store))["notes"] == [SAID]

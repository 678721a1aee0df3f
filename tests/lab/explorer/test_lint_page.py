"""The lint tab of a store: what it shows, and what it says of a store it cannot look over."""

from pathlib import Path

from memaudit.kernel.io.store_file import write_store
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.site import Site
from tests.lab.explorer.libraries import exported
from tests.lab.explorer.site_pages import hrefs, page, slug_of, words_of


def test_findings_and_an_empty_store(tmp_path: Path) -> None:
    said = ("Ann likes tea", "ann likes tea.", "Mail ann@example.org")
    write_store(exported("mine", said), tmp_path / "mine.json")
    write_store(exported("none", ()), tmp_path / "none.json")
    site = Site(Library([tmp_path]))
    first = page(site, f"store/{slug_of(site, 'store', 'mine')}/index.html")
    assert any(link.endswith("lint.html") for link in hrefs(first))
    tree = page(site, f"store/{slug_of(site, 'store', 'mine')}/lint.html")
    shown = words_of(tree.named("main")[0])
    assert "2 memories with the same text" in shown
    assert "a***@example.org" in shown
    assert "ann@example.org" not in shown
    empty = page(site, f"store/{slug_of(site, 'store', 'none')}/lint.html")
    assert "has no active memory" in words_of(empty.named("main")[0])

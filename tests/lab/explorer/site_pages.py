"""Pages of a site as trees, and parts of them."""

from memaudit.lab.explorer.library.entries import LibraryEntry
from memaudit.lab.explorer.pages import PAGES
from memaudit.lab.explorer.site import Site, show
from tests.show.html_tree import Element, Tree


def page(site: Site, address: str, **params: str) -> Tree:
    status, text = show(site, PAGES, address, params)
    assert status == 200, text
    return Tree(text)


def refused(site: Site, address: str) -> tuple[int, str]:
    """The status and the text of an address that is an error."""
    status, text = show(site, PAGES, address, {})
    assert status != 200
    return status, text


def entry_named(site: Site, kind: str, name: str, place: str = "") -> LibraryEntry:
    (entry,) = [
        entry
        for entry in site.library.items
        if (entry.kind, entry.name) == (kind, name) and place in entry.place
    ]
    return entry


def slug_of(site: Site, kind: str, name: str, place: str = "") -> str:
    return entry_named(site, kind, name, place).slug


def words_of(element: Element) -> str:
    """The text of an element and of its children, in the order they are read."""
    own = " ".join(element.text.split())
    return " ".join(filter(None, (own, *(words_of(child) for child in element.children))))


def table_rows(tree: Tree, id: str) -> list[list[str]]:
    """The text of every cell of a table's body."""
    (body,) = [child for child in element_with(tree, id).children if child.name == "tbody"]
    return [[words_of(cell) for cell in row.children] for row in body.children]


def element_with(tree: Tree, id: str) -> Element:
    (element,) = [element for element in tree.elements if element.attributes.get("id") == id]
    return element


def hrefs(tree: Tree) -> list[str]:
    return [link.attributes.get("href") or "" for link in tree.named("a")]

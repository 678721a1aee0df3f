"""A page of a site as a tree."""

from memaudit.web.explorer.library.entries import LibraryEntry
from memaudit.web.explorer.pages.registry import PAGES
from memaudit.web.explorer.site import Site, show
from tests.report.html_tree import Element, Tree


def page(site: Site, address: str, **asked: str) -> Tree:
    """The page, which has to be there."""
    status, text = show(site, PAGES, address, asked)
    assert status == 200, text
    return Tree(text)


def refused(site: Site, address: str) -> tuple[int, str]:
    """The status of an address that leads to no page, and what is said about it."""
    status, text = show(site, PAGES, address, {})
    assert status != 200
    return status, text


def found(site: Site, kind: str, name: str, place: str = "") -> LibraryEntry:
    """A thing by its name."""
    (one,) = [
        one for one in site.library.items
        if (one.kind, one.name) == (kind, name) and place in one.place
    ]  # fmt: skip
    return one


def said(element: Element) -> str:
    """The words of an element in the order they are read; the tree keeps an element's own text
    before its children's, so those of a line are set apart."""
    own = " ".join(element.text.split())
    return " ".join(filter(None, (own, *(said(child) for child in element.children))))


def rows(tree: Tree, id: str) -> list[list[str]]:
    """The cells of every row of a table's body, in words."""
    (table,) = [one for one in tree.elements if one.attributes.get("id") == id]
    (body,) = [one for one in table.children if one.name == "tbody"]
    return [[said(cell) for cell in row.children] for row in body.children]


def within(tree: Tree, id: str) -> Element:
    """The element of an id."""
    (one,) = [one for one in tree.elements if one.attributes.get("id") == id]
    return one

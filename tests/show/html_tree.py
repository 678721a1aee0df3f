"""Just enough of an HTML tree to look at a page with the standard library, and what every page
that is one file has in common."""

import base64
import hashlib
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

VOID = {"meta", "link", "br", "img", "input", "base", "hr"}


@dataclass
class Element:
    name: str
    attributes: dict[str, str | None]
    parent: "Element | None"
    children: list["Element"] = field(default_factory=list)
    text: str = ""

    @property
    def all_text(self) -> str:
        return self.text + "".join(child.all_text for child in self.children)


class Tree(HTMLParser):
    """All elements of a page in order; closing tags have to match, but for SVG's short form."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.comments: list[str] = []
        self._open: Element | None = None
        self.feed(page)
        self.close()
        assert self._open is None, "the page ends inside an element"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"{tag} has an attribute twice"
        element = Element(tag, dict(attrs), self._open)
        if self._open is not None:
            self._open.children.append(element)
        self.elements.append(element)
        if tag not in VOID:
            self._open = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open is not None
        assert self._open.name == tag, f"{tag} closes {self._open.name}"
        self._open = self._open.parent

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self._open.text += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def named(self, *names: str) -> list[Element]:
        return [element for element in self.elements if element.name in names]

    @property
    def text(self) -> str:
        return "\n".join(element.text for element in self.elements)


ELEMENTS = {
    "a",
    "body",
    "caption",
    "circle",
    "code",
    "dd",
    "defs",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "g",
    "h1",
    "h2",
    "h3",
    "h4",
    "head",
    "header",
    "html",
    "li",
    "line",
    "link",
    "main",
    "meta",
    "nav",
    "ol",
    "p",
    "path",
    "pattern",
    "pre",
    "rect",
    "script",
    "section",
    "span",
    "strong",
    "style",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "text",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
}
ATTRIBUTES = {
    "aria-hidden",
    "aria-label",
    "charset",
    "class",
    "colspan",
    "content",
    "cx",
    "cy",
    "d",
    "download",
    "fill",
    "height",
    "href",
    "http-equiv",
    "id",
    "lang",
    "name",
    "open",
    "overflow",
    "patternunits",
    "r",
    "rel",
    "role",
    "scope",
    "tabindex",
    "title",
    "transform",
    "type",
    "value",
    "viewbox",
    "width",
    "x",
    "x1",
    "x2",
    "y",
    "y1",
    "y2",
}


def assert_sound(page: str) -> Tree:
    """Known elements only, nothing invisible, nothing from elsewhere; headings in order, tables
    with captions, labelled pictures, links that lead to a unique id, and a policy for the style."""
    tree = Tree(page)
    assert {element.name for element in tree.elements} <= ELEMENTS
    assert {name for element in tree.elements for name in element.attributes} <= ATTRIBUTES
    assert not tree.comments
    for element in tree.elements:
        assert re.fullmatch(r"[a-z0-9 -]*", element.attributes.get("class") or "")
        link = element.attributes.get("href") or "#x"
        assert re.match(r"#[a-z0-9-]+$|data:(application/json;base64)?,", link), link
    assert {character for character in page if not character.isprintable()} == {"\n"}
    assert not re.search(r"https?:|@import|url\((?!#hatch[1-7]\))|\bsrc=\"", page)
    levels = [int(element.name[1]) for element in tree.named("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
    for table in tree.named("table"):
        assert table.children[0].name == "caption"
        assert table.children[0].all_text.strip()
    assert all(element.attributes.get("scope") for element in tree.named("th"))
    for svg in tree.named("svg"):
        parents = [svg]
        while parents[-1].parent is not None:
            parents.append(parents[-1].parent)
        assert any({"aria-label", "aria-hidden"} & e.attributes.keys() for e in parents)
    ids = [e.attributes["id"] for e in tree.elements if "id" in e.attributes]
    assert len(set(ids)) == len(ids)
    links = [e.attributes["href"] or "" for e in tree.named("a")]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    (policy,) = [meta for meta in tree.named("meta") if "http-equiv" in meta.attributes]
    (style,) = tree.named("style")
    code = base64.b64encode(hashlib.sha256(style.text.encode()).digest()).decode()
    assert policy.attributes["content"] == (
        f"default-src 'none'; style-src 'sha256-{code}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return tree

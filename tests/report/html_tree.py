"""Just enough of an HTML tree to look at a page with the standard library."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

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

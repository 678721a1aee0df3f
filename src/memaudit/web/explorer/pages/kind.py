"""What a page is: a pattern of addresses, whose pages they are, and how one is made."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memaudit.web.explorer.library.entries import Kind

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

Parts = Mapping[str, str]
"""The names in an address, by their names in the pattern."""

Asked = Mapping[str, str]
"""What follows the question mark of an address; only a server is asked anything."""


def one_each(site: "Site", parts: Parts) -> Iterable[Parts]:  # noqa: ARG001
    """One page for each thing."""
    return [parts]


@dataclass(frozen=True, slots=True)
class Page:
    """A sort of page: one for the whole library, or for each thing of the kind `owner`, whose name
    stands in the pattern as {owner}. Where a thing has several, `inside` names them all."""

    pattern: str
    render: Callable[["Site", Parts, Asked], str]
    owner: Kind | None = None
    inside: Callable[["Site", Parts], Iterable[Parts]] = one_each


@dataclass(frozen=True, slots=True)
class Data:
    """JSON that a served page asks for; a bundled page has it inside."""

    pattern: str
    answer: Callable[["Site", Parts, Asked], Any]

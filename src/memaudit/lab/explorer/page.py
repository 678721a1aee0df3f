"""What a page is: a pattern of addresses, the entries it belongs to, and how it is rendered."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memaudit.lab.explorer.library.entries import Kind

if TYPE_CHECKING:
    from memaudit.lab.explorer.site import Site


PathParams = Mapping[str, str]
"""The parts of an address, by their names in the pattern."""

QueryParams = Mapping[str, str]
"""What follows the question mark of an address; a bundle has none."""


def single_page(site: "Site", parts: PathParams) -> Iterable[PathParams]:  # noqa: ARG001
    """One page per entry."""
    return [parts]


@dataclass(frozen=True, slots=True)
class Page:
    """A kind of page: one for the whole library, or one per entry of the kind `owner`, whose slug
    is {owner} in the pattern. If an entry has several, `instances` lists them."""

    pattern: str
    render: Callable[["Site", PathParams, QueryParams], str]
    owner: Kind | None = None
    instances: Callable[["Site", PathParams], Iterable[PathParams]] = single_page


@dataclass(frozen=True, slots=True)
class JsonEndpoint:
    """JSON that a served page requests; a bundled page contains it."""

    pattern: str
    answer: Callable[["Site", PathParams, QueryParams], Any]

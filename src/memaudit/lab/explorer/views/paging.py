"""Long lists in pages. The total is always shown, and nothing is left out."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.library import NotInLibrary
from memaudit.lab.explorer.page import PathParams

Row = TypeVar("Row")
NUMBER = re.compile(r"[1-9][0-9]{0,6}")


@dataclass(frozen=True, slots=True)
class ListPage(Generic[Row]):
    """One page of a list: its rows, the place of the first one, and the pages beside it."""

    rows: Sequence[Row]
    number: int
    pages: int
    total: int
    first: int
    before: str | None
    after: str | None


def page_count(total: int, most: int) -> int:
    """The number of pages of a list, at least 1."""
    return max(1, -(-total // most))


def number_of(parts: PathParams) -> int:
    """The page number in an address, 1 if there is none."""
    text = parts.get("page", "1")
    if not NUMBER.fullmatch(text):
        raise NotInLibrary("there is no such page")
    return int(text)


def list_page(rows: Sequence[Row], address: str, parts: PathParams, most: int) -> ListPage[Row]:
    """The requested page. `address` is that of the first page."""
    number, pages = number_of(parts), page_count(len(rows), most)
    if number > pages or (number == 1 and "page" in parts):
        raise NotInLibrary("the list has no such page")
    first = (number - 1) * most
    return ListPage(
        rows[first : first + most],
        number,
        pages,
        len(rows),
        first + 1,
        addresses.list_page_address(address, number - 1) if number > 1 else None,
        addresses.list_page_address(address, number + 1) if number < pages else None,
    )


def later_pages(parts: PathParams, total: int, most: int) -> Iterator[PathParams]:
    """The pages of a list after the first one."""
    for number in range(2, page_count(total, most) + 1):
        yield {**parts, "page": str(number)}

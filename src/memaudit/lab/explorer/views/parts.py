"""Parts that several pages share: the pages of a long list, and bars from a total downwards."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar, cast

from memaudit.kernel.io.score_file import LossDiagnosis
from memaudit.kernel.losses import KEPT, LOSS_STEPS
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.entries import Kind
from memaudit.lab.explorer.library.library import NotInLibrary
from memaudit.lab.explorer.site import Page, PathParams, QueryParams, Site

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


def list_pages(
    pattern: str,
    render: Callable[[Site, PathParams, QueryParams], str],
    count: Callable[[Site, PathParams], int],
    most: int,
) -> tuple[Page, Page]:
    """The pages of an entry's list: the first one, at `pattern`, and the later ones, numbered.

    `count` gives the rows of the list, `most` says how many a page has.
    """
    owner = cast(Kind, pattern.partition("/")[0])

    def later(site: Site, parts: PathParams) -> Iterator[PathParams]:
        return later_pages(parts, count(site, parts), most)

    return (
        Page(pattern, render, owner),
        Page(f"{pattern.removesuffix('.html')}-{{page}}.html", render, owner, later),
    )


def neighbours(slugs: Sequence[str], at: int, address: Callable[[str], str]) -> dict[str, Any]:
    """For the template of one of many pages: the pages beside it, its number, and how many."""
    return {
        "before": address(slugs[at - 1]) if at else None,
        "after": address(slugs[at + 1]) if at + 1 < len(slugs) else None,
        "number": at + 1,
        "count": len(slugs),
    }


WHOLE, STEP, REST = "whole", "step", "rest"

ABOUT = {step.name: step.meaning for step in (*LOSS_STEPS.values(), KEPT)}


@dataclass(frozen=True, slots=True)
class WaterfallBar:
    """One bar: from `start`, `width` wide, in percent."""

    name: str
    about: str
    sort: str
    share: Fraction
    value: float
    start: float
    width: float

    @property
    def end(self) -> float:
        return round(self.start + self.width, 3)


def waterfall(
    total: tuple[str, str, float],
    steps: Sequence[tuple[str, str, Fraction, float]],
    rest: tuple[str, str, float],
) -> tuple[WaterfallBar, ...]:
    """The bars of the total 1, of its steps down, and of the rest, each with name and meaning."""
    bars = [WaterfallBar(*total[:2], WHOLE, Fraction(1), total[2], 0.0, 100.0)]
    left = Fraction(1)
    for name, about, share, value in steps:
        left -= share
        bars.append(WaterfallBar(name, about, STEP, share, value, _percent(left), _percent(share)))
    bars.append(WaterfallBar(*rest[:2], REST, left, rest[2], 0.0, _percent(left)))
    return tuple(bars)


def losses_of(diagnosis: LossDiagnosis) -> tuple[WaterfallBar, ...]:
    """From OPT of the common union down to what a store keeps."""
    return waterfall(
        (
            "OPT",
            "the best store of everybody's memories and the package's candidates",
            diagnosis.optimum,
        ),
        [
            (name, ABOUT.get(name, ""), loss.share, loss.value)
            for name, loss in diagnosis.losses.items()
        ],
        ("kept", ABOUT["kept"], float(diagnosis.kept) * diagnosis.optimum),
    )


def _percent(share: Fraction) -> float:
    return round(100 * float(share), 3)

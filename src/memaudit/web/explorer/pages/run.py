"""A run: its ranking with intervals, any part of it, and any two of its rows compared."""

from typing import TYPE_CHECKING, Any

from memaudit.experiments.spec import is_fraction
from memaudit.report.page.cast import grouped
from memaudit.report.page.run import Run
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.records import Found
from memaudit.web.explorer.pages.kind import Asked, Data, Page, Parts
from memaudit.web.explorer.views.package_data import shown
from memaudit.web.explorer.views.slice_data import slice_data
from memaudit.web.explorer.views.slices import Slice

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

PATTERN = "run/{run}/index.html"


def render(site: "Site", parts: Parts, asked: Asked) -> str:
    """The page; a server is asked for a part of the run, and for two writers."""
    found = site.library.named("run", parts["run"])
    run = site.library.run(found)
    chosen = part_asked(run, asked)
    part = site.slice(found, *chosen)
    first, second = _two(run, part, asked)
    return site.render(
        "run.html", addresses.run(found.slug), found.name,
        crumbs=(("Runs", addresses.INDEX + "#runs"),), found=found, run=run, part_shown=part,
        chosen=chosen, budgets=budgets(run), pair=part.pair(first, second),
        first=first, second=second,
        groups=grouped([place.member for place in part.places]),
        places={place.member.name: place for place in part.places},
        run_at={name: at for at, name in enumerate(run.members)},
        data=_data(site, found, run, part),
    )  # fmt: skip


def budgets(run: Run) -> list[tuple[int, str]]:
    """The budgets in words, with their places."""
    return [
        (place, f"{amount} ({given} of cost)" if is_fraction(given) else str(amount))
        for place, (amount, given) in enumerate(zip(run.budgets, run.given, strict=True))
    ]


def part_asked(run: Run, asked: Asked) -> tuple[str | None, int | None]:
    """The distribution and the budget that an address names, as far as the run has them."""
    names = [grid.distribution for grid in run.grids]
    number, place = asked.get("d", ""), asked.get("b", "")
    d = int(number) if number.isdecimal() and int(number) < len(names) else None
    b = int(place) if place.isdecimal() and int(place) < len(run.budgets) else None
    return (None if d is None else names[d]), b


def _two(run: Run, part: Slice, asked: Asked) -> tuple[str, str]:
    """The writers asked for by their places in the run; else the best two deployable ones."""
    names = list(run.members)
    wanted = [
        names[int(text)]
        for text in (asked.get("first", ""), asked.get("second", ""))
        if text.isdecimal() and int(text) < len(names)
    ]
    able = [place.member.name for place in part.places if place.member.group != "reference"]
    order = [*wanted, *able, *(place.member.name for place in part.places)]
    two = list(dict.fromkeys(order))[:2]
    return two[0], two[-1]


def _data(site: "Site", found: Found, run: Run, part: Slice) -> dict[str, Any]:
    """What the script takes: in a bundle every part of the run, else the one that is shown."""
    parts = {f"{_key(run, part.distribution)}|{_place(part.budget)}": slice_data(run, part)}
    if site.bundled:
        for d in (None, *(grid.distribution for grid in run.grids)):
            for b in (None, *range(len(run.budgets))):
                made = slice_data(run, site.slice(found, d, b))
                parts[f"{_key(run, d)}|{_place(b)}"] = made
    return {"writers": [shown(one.label, 80) for one in run.members.values()], "parts": parts}


def _key(run: Run, distribution: str | None) -> str:
    names = [grid.distribution for grid in run.grids]
    return "" if distribution is None else str(names.index(distribution))


def _place(budget: int | None) -> str:
    return "" if budget is None else str(budget)


def answer(site: "Site", parts: Parts, asked: Asked) -> Any:
    """One part of the run."""
    found = site.library.named("run", parts["run"])
    run = site.library.run(found)
    return slice_data(run, site.slice(found, *part_asked(run, asked)))


PAGE = Page(PATTERN, render, "run")
DATA = Data("run/{run}/part.json", answer)

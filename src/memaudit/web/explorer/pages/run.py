"""A run: its ranking with intervals, any part of it, and any two of its rows compared."""

from itertools import product
from typing import TYPE_CHECKING, Any

from memaudit.experiments.spec import is_fraction
from memaudit.report.page.cast import grouped
from memaudit.report.page.run import Run
from memaudit.report.page.visible import visible_text
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.records import Found
from memaudit.web.explorer.pages.kind import Asked, Data, Page, Parts
from memaudit.web.explorer.pages.unfinished import unfinished
from memaudit.web.explorer.views.package_data import shown
from memaudit.web.explorer.views.slice_data import slice_data
from memaudit.web.explorer.views.slices import Slice

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

PATTERN = "run/{run}/index.html"


def render(site: "Site", parts: Parts, asked: Asked) -> str:
    """The page; a server is asked for a part of the run, and for two writers."""
    found = site.library.named("run", parts["run"])
    address = addresses.run(found.slug)
    if page := unfinished(site, found, address):
        return page
    run = site.library.run(found)
    chosen = part_asked(run, asked)
    part = site.slice(found, *chosen)
    first, second = _two(run, part, asked)
    return site.render(
        "run.html", address, found.name,
        crumbs=(("Runs", addresses.INDEX + "#runs"),), found=found, run=run, part_shown=part,
        chosen=chosen, budgets=budgets(run), pair=part.pair(first, second),
        first=first, second=second,
        groups=grouped([place.member for place in part.places]),
        places={place.member.name: place for place in part.places},
        run_at={name: at for at, name in enumerate(run.members)},
        data=_data(site, found, run, part),
    )  # fmt: skip


def budgets(run: Run) -> list[tuple[str, str]]:
    """The budgets as addresses name them, and in words."""
    return [
        (str(amount), f"{amount} ({given} of cost)" if is_fraction(given) else str(amount))
        for amount, given in zip(run.budgets, run.given, strict=True)
    ]


def part_asked(run: Run, asked: Asked) -> tuple[str | None, int | None]:
    """The distribution and the budget that an address names, as far as the run has them."""
    names = {visible_text(grid.distribution): grid.distribution for grid in run.grids}
    places = {str(amount): place for place, amount in enumerate(run.budgets)}
    return names.get(asked.get("d", "")), places.get(asked.get("b", ""))


def _two(run: Run, part: Slice, asked: Asked) -> tuple[str, str]:
    """The writers asked for; else the best two deployable ones."""
    names = {visible_text(name): name for name in run.members}
    wanted = [names[one] for key in ("first", "second") if (one := asked.get(key)) in names]
    able = [place.member.name for place in part.places if place.member.group != "reference"]
    order = [*wanted, *able, *(place.member.name for place in part.places)]
    two = list(dict.fromkeys(order))[:2]
    return two[0], two[-1]


def _data(site: "Site", found: Found, run: Run, part: Slice) -> dict[str, Any]:
    """What the script takes: in a bundle every part of the run, else the one that is shown."""
    chosen = [(part.distribution, part.budget)]
    if site.bundled:
        names = (None, *(grid.distribution for grid in run.grids))
        chosen += product(names, (None, *range(len(run.budgets))))
    parts = {_key(run, *one): slice_data(run, site.slice(found, *one)) for one in chosen}
    return {"writers": [shown(one.label, 80) for one in run.members.values()], "parts": parts}


def _key(run: Run, distribution: str | None, budget: int | None) -> str:
    """A part of the run as the fields of its form name it."""
    amount = "" if budget is None else run.budgets[budget]
    return f"{visible_text(distribution or '')}|{amount}"


def answer(site: "Site", parts: Parts, asked: Asked) -> Any:
    """One part of the run."""
    found = site.library.named("run", parts["run"])
    run = site.library.run(found)
    return slice_data(run, site.slice(found, *part_asked(run, asked)))


PAGE = Page(PATTERN, render, "run")
DATA = Data("run/{run}/part.json", answer)

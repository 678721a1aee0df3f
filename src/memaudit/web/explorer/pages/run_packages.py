"""The packages of a run, with how its writers did on each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from memaudit.report.page.cast import OPT, Member
from memaudit.report.page.run import Run
from memaudit.stats.intervals import Floats
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.records import Found
from memaudit.web.explorer.library.run_packages import run_package
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.pages.unfinished import unfinished

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

PATTERN = "run/{run}/packages.html"


@dataclass(frozen=True, slots=True)
class Row:
    """One package: the median ratio of writers but OPT, the worst, and the best one deployable."""

    found: Found
    distribution: str
    seed: int
    median: float | None
    worst: tuple[Member, float] | None
    best: tuple[Member, float] | None
    linked: bool


def render(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page."""
    found = site.library.named("run", parts["run"])
    address = addresses.run(found.slug, "packages.html")
    if page := unfinished(site, found, address):
        return page
    run = site.library.run(found)
    return site.render(
        "run_packages.html", address, f"{found.name}: packages",
        crumbs=(("Runs", addresses.INDEX + "#runs"), (found.name, addresses.run(found.slug))),
        found=found, run=run, rows=list(_rows(site, found, run)),
    )  # fmt: skip


def _rows(site: "Site", found: Found, run: Run) -> Iterator[Row]:
    members = list(run.members.values())
    others = [at for at, one in enumerate(members) if one.name != OPT]
    able = [at for at, one in enumerate(members) if one.group != "reference"]
    for grid in run.grids:
        ratios = grid.by_package
        for place, seed in enumerate(grid.seeds):
            package = run_package(found, grid.distribution, seed)
            means = ratios[place]
            defined = means[others][~np.isnan(means[others])]
            yield Row(
                package, grid.distribution, seed,
                float(np.median(defined)) if len(defined) else None,
                _extreme(members, means, others, -1), _extreme(members, means, able, 1),
                site.has_page(package),
            )  # fmt: skip


def _extreme(
    members: list[Member], means: Floats, which: list[int], sign: int
) -> tuple[Member, float] | None:
    """The writer with the largest (or smallest) mean ratio, the first of equals."""
    defined = [at for at in which if not np.isnan(means[at])]
    if not defined:
        return None
    at = max(defined, key=lambda at: sign * means[at])
    return members[at], float(means[at])


PAGE = Page(PATTERN, render, "run")

"""A run: its ranking, its packages, every pair of writers, and the progress of unfinished runs."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.budgets import is_share
from memaudit.kernel.stats.bootstrap import Floats
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.entries import LibraryEntry
from memaudit.lab.explorer.library.folders import WRITTEN
from memaudit.lab.explorer.library.run_packages import rows_written, run_package
from memaudit.lab.explorer.page import JsonEndpoint, Page, PathParams, QueryParams
from memaudit.lab.explorer.views.package_data import shown
from memaudit.lab.explorer.views.run_slices import Slice, slice_data
from memaudit.lab.runs.report.run_grids import FinishedRunData
from memaudit.lab.runs.sweep import read_run
from memaudit.show.page_numbers import visible_text
from memaudit.show.writer_groups import OPT, Member, grouped

if TYPE_CHECKING:
    from memaudit.lab.explorer.site import Site


def unfinished(site: "Site", entry: LibraryEntry, address: str) -> str | None:
    """The page in place of one of a run's pages; None if the run is finished by now."""
    if entry.count(WRITTEN) is None:
        return None
    written, rows = rows_written(entry.path), entry.count("rows") or 0
    if written >= rows:
        return None
    return site.render(
        "run_unfinished.html",
        address,
        entry.name,
        crumbs=(("Runs", addresses.INDEX + "#runs"),),
        entry=entry,
        written=written,
        rows=rows,
        command=command(entry),
    )


def command(entry: LibraryEntry) -> str:
    """The command that resumes the run."""
    spec = read_run(entry.path)["spec"]
    try:
        seeds = str(spec["seeds"])
        words = [
            "memaudit",
            "run",
            "--packages",
            ",".join(spec["distributions"]),
            "--seeds",
            f"{seeds}," if seeds.isdecimal() else seeds,
            "--budgets",
            ",".join(spec["budgets"]),
            "--writers",
            ",".join(spec["writers"]),
        ]
        if spec.get("seconds") is not None:
            words += ["--set", f"solver.seconds={spec['seconds']:g}"]
    except (KeyError, TypeError, ValueError):
        raise MemAuditError(f"{entry.place}: its manifest does not say what it runs") from None
    return shlex.join([*words, "--out", entry.place])


RUN_PATTERN = "run/{run}/index.html"


def render_run(site: "Site", parts: PathParams, params: QueryParams) -> str:
    """The page; a server is asked for a part of the run, and for two writers."""
    entry = site.library.named("run", parts["run"])
    address = addresses.run(entry.slug)
    if page := unfinished(site, entry, address):
        return page
    run = site.library.run(entry)
    chosen = part_params(run, params)
    part = site.slice(entry, *chosen)
    first, second = _two(run, part, params)
    return site.render(
        "run.html",
        address,
        entry.name,
        crumbs=(("Runs", addresses.INDEX + "#runs"),),
        entry=entry,
        run=run,
        part_shown=part,
        chosen=chosen,
        budgets=budgets(run),
        pair=part.pair(first, second),
        first=first,
        second=second,
        groups=grouped([place.member for place in part.places]),
        places={place.member.name: place for place in part.places},
        run_at={name: at for at, name in enumerate(run.members)},
        data=_data(site, entry, run, part),
    )


def budgets(run: FinishedRunData) -> list[tuple[str, str]]:
    """The budgets as in addresses, and as text."""
    return [
        (str(amount), f"{amount} ({given} of cost)" if is_share(given) else str(amount))
        for amount, given in zip(run.budgets, run.given, strict=True)
    ]


def part_params(run: FinishedRunData, params: QueryParams) -> tuple[str | None, int | None]:
    """The distribution and the budget in an address. None for one that the run does not have."""
    names = {visible_text(grid.distribution): grid.distribution for grid in run.grids}
    places = {str(amount): place for place, amount in enumerate(run.budgets)}
    return names.get(params.get("d", "")), places.get(params.get("b", ""))


def _two(run: FinishedRunData, part: Slice, params: QueryParams) -> tuple[str, str]:
    """The requested writers, or the best two deployable ones."""
    names = {visible_text(name): name for name in run.members}
    wanted = [names[label] for key in ("first", "second") if (label := params.get(key)) in names]
    able = [place.member.name for place in part.places if place.member.group != "reference"]
    order = [*wanted, *able, *(place.member.name for place in part.places)]
    two = list(dict.fromkeys(order))[:2]
    return two[0], two[-1]


def _data(site: "Site", entry: LibraryEntry, run: FinishedRunData, part: Slice) -> dict[str, Any]:
    """Data for the script: every part of the run in a bundle, otherwise the part that is shown."""
    chosen = [(part.distribution, part.budget)]
    if site.bundled:
        names = (None, *(grid.distribution for grid in run.grids))
        chosen += product(names, (None, *range(len(run.budgets))))
    parts = {
        _key(run, *chosen_slice): slice_data(run, site.slice(entry, *chosen_slice))
        for chosen_slice in chosen
    }
    return {"writers": [shown(member.label, 80) for member in run.members.values()], "parts": parts}


def _key(run: FinishedRunData, distribution: str | None, budget: int | None) -> str:
    """A part of the run as the fields of its form name it."""
    amount = "" if budget is None else run.budgets[budget]
    return f"{visible_text(distribution or '')}|{amount}"


def answer(site: "Site", parts: PathParams, params: QueryParams) -> Any:
    entry = site.library.named("run", parts["run"])
    run = site.library.run(entry)
    return slice_data(run, site.slice(entry, *part_params(run, params)))


RUN_PAGE = Page(RUN_PATTERN, render_run, "run")
RUN_DATA = JsonEndpoint("run/{run}/part.json", answer)


RUN_PACKAGES_PATTERN = "run/{run}/packages.html"


@dataclass(frozen=True, slots=True)
class RunPackageRow:
    """A package: median ratio of writers except OPT, the worst writer, the best deployable one."""

    entry: LibraryEntry
    distribution: str
    seed: int
    median: float | None
    worst: tuple[Member, float] | None
    best: tuple[Member, float] | None
    linked: bool


def render_run_packages(site: "Site", parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    entry = site.library.named("run", parts["run"])
    address = addresses.run(entry.slug, "packages.html")
    if page := unfinished(site, entry, address):
        return page
    run = site.library.run(entry)
    return site.render(
        "run_packages.html",
        address,
        f"{entry.name}: packages",
        crumbs=(("Runs", addresses.INDEX + "#runs"), (entry.name, addresses.run(entry.slug))),
        entry=entry,
        run=run,
        rows=list(_rows(site, entry, run)),
    )


def _rows(site: "Site", entry: LibraryEntry, run: FinishedRunData) -> Iterator[RunPackageRow]:
    members = list(run.members.values())
    others = [at for at, member in enumerate(members) if member.name != OPT]
    able = [at for at, member in enumerate(members) if member.group != "reference"]
    for grid in run.grids:
        ratios = grid.by_package
        for place, seed in enumerate(grid.seeds):
            package = run_package(entry, grid.distribution, seed)
            means = ratios[place]
            defined = means[others][~np.isnan(means[others])]
            yield RunPackageRow(
                package,
                grid.distribution,
                seed,
                float(np.median(defined)) if len(defined) else None,
                _extreme(members, means, others, -1),
                _extreme(members, means, able, 1),
                site.has_page(package),
            )


def _extreme(
    members: list[Member], means: Floats, which: list[int], sign: int
) -> tuple[Member, float] | None:
    """The writer with the largest (or smallest) mean ratio. Of equals, the first."""
    defined = [at for at in which if not np.isnan(means[at])]
    if not defined:
        return None
    at = max(defined, key=lambda at: sign * means[at])
    return members[at], float(means[at])


RUN_PACKAGES_PAGE = Page(RUN_PACKAGES_PATTERN, render_run_packages, "run")


RUN_PAIRS_PATTERN = "run/{run}/pairs.html"


def render_run_pairs(site: "Site", parts: PathParams, params: QueryParams) -> str:
    entry = site.library.named("run", parts["run"])
    address = addresses.run(entry.slug, "pairs.html")
    if page := unfinished(site, entry, address):
        return page
    run = site.library.run(entry)
    chosen = part_params(run, params)
    return site.render(
        "run_pairs.html",
        address,
        f"{entry.name}: every two writers",
        crumbs=(("Runs", addresses.INDEX + "#runs"), (entry.name, addresses.run(entry.slug))),
        entry=entry,
        run=run,
        part_shown=site.slice(entry, *chosen),
        chosen=chosen,
        budgets=budgets(run),
    )


RUN_PAIRS_PAGE = Page(RUN_PAIRS_PATTERN, render_run_pairs, "run")

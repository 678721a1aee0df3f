"""A run: its ranking, every pair of writers, its packages, and the progress of unfinished runs.

The numbers of a part equal those of summary.json for one distribution, and those of the ranking
and the report for all of them.
"""

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.budgets import is_share
from memaudit.kernel.stats.bootstrap import Floats, Interval, mean_intervals
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.entries import LibraryEntry
from memaudit.lab.explorer.library.folders import WRITTEN
from memaudit.lab.explorer.library.packages import rows_written, run_package
from memaudit.lab.explorer.site import Page, PathParams, QueryParams, Site
from memaudit.lab.sweeps.runs.report.run_grids import FinishedRunData, WriterPair, compare_pairs
from memaudit.lab.sweeps.runs.summary import package_resampling
from memaudit.lab.sweeps.runs.sweep import read_run
from memaudit.show.page_charts import OPT, Member, grouped
from memaudit.show.page_numbers import visible_text


@dataclass(frozen=True, slots=True)
class SlicePlace:
    """A writer's place in the slice."""

    number: int
    member: Member
    interval: Interval


@dataclass(frozen=True, slots=True)
class Slice:
    """A ranking, the best first, and every pair of its writers in that order."""

    distribution: str | None
    budget: int | None
    packages: int
    distinct: int
    places: tuple[SlicePlace, ...]
    pairs: tuple[WriterPair, ...]


def slice_of(
    run: FinishedRunData, distribution: str | None = None, budget: int | None = None
) -> Slice:
    """One distribution by name, and one budget by its place; None means all of them."""
    grids = [grid for grid in run.grids if distribution in (None, grid.distribution)]
    values = np.concatenate(
        [grid.by_package if budget is None else grid.numbers["ratio"][:, budget] for grid in grids]
    )
    known = package_resampling(grids)
    members = list(run.members.values())
    means = mean_intervals(values, known.drawn)
    order = sorted(
        range(len(members)),
        key=lambda at: (means[at].n == 0, -means[at].mean if means[at].n else 0.0),
    )
    places = [SlicePlace(n, members[at], means[at]) for n, at in enumerate(order, start=1)]
    pairs = compare_pairs(run, values, list(combinations(order, 2)), known)
    return Slice(
        distribution, budget, len(values), int(known.cluster.max()) + 1, tuple(places), pairs
    )


def unfinished(site: Site, entry: LibraryEntry, address: str) -> str | None:
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
        crumbs=site.crumbs(entry),
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


def run_page(
    template: str,
    page: str,
    title: str,
    context: Callable[[Site, LibraryEntry, FinishedRunData, QueryParams], dict[str, Any]],
) -> Page:
    """A page of a run, or its progress while it is not finished.

    `title` follows the name of the run; `context` gives what only this page's template needs.
    """

    def render(site: Site, parts: PathParams, params: QueryParams) -> str:
        entry = site.library.named("run", parts["run"])
        address = addresses.run(entry.slug, page)
        if progress := unfinished(site, entry, address):
            return progress
        run = site.library.run(entry)
        return site.render(
            template,
            address,
            f"{entry.name}{title}",
            crumbs=site.crumbs(entry, inside=page != addresses.INDEX),
            entry=entry,
            run=run,
            **context(site, entry, run, params),
        )

    return Page(f"run/{{run}}/{page}", render, "run")


def run_part(
    site: Site, entry: LibraryEntry, distribution: str | None, budget: int | None
) -> Slice:
    """Part of a run, computed once."""
    return site.made(
        lambda: slice_of(site.library.run(entry), distribution, budget),
        (entry,),
        "part",
        repr((distribution, budget)),
    )


def _ranking(
    site: Site, entry: LibraryEntry, run: FinishedRunData, params: QueryParams
) -> dict[str, Any]:
    """A server is asked for a part of the run."""
    chosen = part_params(run, params)
    part = run_part(site, entry, *chosen)
    return {
        "part_shown": part,
        "chosen": chosen,
        "budgets": budgets(run),
        "groups": grouped([place.member for place in part.places]),
        "places": {place.member.name: place for place in part.places},
    }


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


RUN_PAGE = run_page("run.html", addresses.INDEX, "", _ranking)


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


def _rows(site: Site, entry: LibraryEntry, run: FinishedRunData) -> Iterator[RunPackageRow]:
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


def _packages(
    site: Site,
    entry: LibraryEntry,
    run: FinishedRunData,
    params: QueryParams,  # noqa: ARG001
) -> dict[str, Any]:
    return {"rows": list(_rows(site, entry, run))}


RUN_PACKAGES_PAGE = run_page("run_packages.html", "packages.html", ": packages", _packages)

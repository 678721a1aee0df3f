"""A run: its ranking, its packages, every pair of writers, and the progress of unfinished runs.

The numbers of a part equal those of summary.json for one distribution, and those of the ranking
and the report for all of them.
"""

import math
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.budgets import is_share
from memaudit.kernel.stats.bootstrap import Floats, Interval, mean_intervals
from memaudit.kernel.stats.paired_tests import Difference
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.entries import LibraryEntry
from memaudit.lab.explorer.library.folders import WRITTEN
from memaudit.lab.explorer.library.packages import rows_written, run_package
from memaudit.lab.explorer.site import JsonEndpoint, Page, PathParams, QueryParams, Site
from memaudit.lab.explorer.views.package_data import shown
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

    def pair(self, first: str, second: str) -> WriterPair | None:
        """Two writers by name. The sign follows the order of the arguments."""
        for pair in self.pairs:
            names = (pair.first.name, pair.second.name)
            if names == (first, second):
                return pair
            if names == (second, first):
                known = pair.difference
                reverse = Difference(known.n, -known.mean, -known.high, -known.low, known.p)
                return WriterPair(pair.second, pair.first, reverse, pair.p_holm)
        return None


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


DIGITS = 6


def slice_data(run: FinishedRunData, part: Slice) -> dict[str, Any]:
    """Places and pairs by the writers' places in the run; what is not defined is null."""
    at = {name: place for place, name in enumerate(run.members)}
    return {
        "packages": part.packages,
        "distinct": part.distinct,
        "places": [
            [
                at[place.member.name],
                place.interval.n,
                *_numbers(place.interval.mean, place.interval.low, place.interval.high),
            ]
            for place in part.places
        ],
        "pairs": [
            [
                at[pair.first.name],
                at[pair.second.name],
                known.n,
                *_numbers(known.mean, known.low, known.high, known.p, pair.p_holm),
                pair.verdict,
            ]
            for pair in part.pairs
            for known in [pair.difference]
        ],
    }


def _numbers(*numbers: float) -> list[float | None]:
    return [None if math.isnan(number) else round(number, DIGITS) for number in numbers]


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
    """A server is asked for a part of the run, and for two writers."""
    chosen = part_params(run, params)
    part = run_part(site, entry, *chosen)
    first, second = _two(run, part, params)
    return {
        "part_shown": part,
        "chosen": chosen,
        "budgets": budgets(run),
        "pair": part.pair(first, second),
        "first": first,
        "second": second,
        "groups": grouped([place.member for place in part.places]),
        "places": {place.member.name: place for place in part.places},
        "run_at": {name: at for at, name in enumerate(run.members)},
        "data": _data(site, entry, run, part),
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


def _two(run: FinishedRunData, part: Slice, params: QueryParams) -> tuple[str, str]:
    """The requested writers, or the best two deployable ones."""
    names = {visible_text(name): name for name in run.members}
    wanted = [names[label] for key in ("first", "second") if (label := params.get(key)) in names]
    able = [place.member.name for place in part.places if place.member.group != "reference"]
    order = [*wanted, *able, *(place.member.name for place in part.places)]
    two = list(dict.fromkeys(order))[:2]
    return two[0], two[-1]


def _data(site: Site, entry: LibraryEntry, run: FinishedRunData, part: Slice) -> dict[str, Any]:
    """Data for the script: every part of the run in a bundle, otherwise the part that is shown."""
    chosen = [(part.distribution, part.budget)]
    if site.bundled:
        names = (None, *(grid.distribution for grid in run.grids))
        chosen += product(names, (None, *range(len(run.budgets))))
    parts = {
        _key(run, *chosen_slice): slice_data(run, run_part(site, entry, *chosen_slice))
        for chosen_slice in chosen
    }
    return {"writers": [shown(member.label, 80) for member in run.members.values()], "parts": parts}


def _key(run: FinishedRunData, distribution: str | None, budget: int | None) -> str:
    """A part of the run as the fields of its form name it."""
    amount = "" if budget is None else run.budgets[budget]
    return f"{visible_text(distribution or '')}|{amount}"


def answer(site: Site, parts: PathParams, params: QueryParams) -> Any:
    entry = site.library.named("run", parts["run"])
    run = site.library.run(entry)
    return slice_data(run, run_part(site, entry, *part_params(run, params)))


RUN_PAGE = run_page("run.html", addresses.INDEX, "", _ranking)
RUN_DATA = JsonEndpoint("run/{run}/part.json", answer)


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


def _pairs(
    site: Site, entry: LibraryEntry, run: FinishedRunData, params: QueryParams
) -> dict[str, Any]:
    chosen = part_params(run, params)
    part = run_part(site, entry, *chosen)
    return {"part_shown": part, "chosen": chosen, "budgets": budgets(run)}


RUN_PAIRS_PAGE = run_page("run_pairs.html", "pairs.html", ": every two writers", _pairs)

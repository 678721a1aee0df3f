"""A finished run from its folder: grids of numbers, tallies by kind, writers, their ranking."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.stats.bootstrap import Floats, Interval, mean_intervals
from memaudit.kernel.stats.paired_tests import Difference, holm, paired_differences
from memaudit.lab.sweeps.runs.spec import RunSpec
from memaudit.lab.sweeps.runs.summary import (
    Grid,
    PackageResampling,
    open_finished,
    package_resampling,
    ranking,
    read_grids,
)
from memaudit.lab.sweeps.writers.registry import WRITERS
from memaudit.show.page_charts import Member, members_by_name
from memaudit.workspace.journal import read_journal
from memaudit.workspace.run_folder import ROWS

RunRowData = dict[str, Any]
MOST_KINDS = 256
"""Each kind has a table as large as the run; runs have about a dozen kinds."""


@dataclass(slots=True)
class Tally:
    """Per kind, a number for every distribution, seed, budget and writer. 0 if absent."""

    shape: tuple[int, int, int, int]
    kinds: dict[str, Floats] = field(default_factory=dict)

    def place(self, at: tuple[int, int, int, int], counts: dict[str, float]) -> None:
        """Store the numbers of a row."""
        for kind, count in counts.items():
            if kind not in self.kinds:
                # Rows of a foreign run may name a new kind each, and each costs a table of the run.
                if len(self.kinds) == MOST_KINDS:
                    raise MemAuditError(f"the rows name more than {MOST_KINDS} kinds")
                self.kinds[kind] = np.zeros(self.shape)
            self.kinds[kind][at] = count


@dataclass(frozen=True, slots=True)
class FinishedRunData:
    """What the page needs of a run, except the rows of single packages."""

    folder: Path
    manifest: dict[str, Any]
    grids: list[Grid]
    members: dict[str, Member]
    unit_values: Tally
    kept: Tally

    @property
    def spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = self.manifest["spec"]
        return spec

    @property
    def budgets(self) -> list[int | float | str]:
        """As rows write them, in the order of the run."""
        return self.grids[0].budgets

    @property
    def amounts(self) -> list[Fraction]:
        """The budgets in cost units."""
        return [exact(budget) for budget in self.budgets]

    @property
    def given(self) -> list[str]:
        """The budgets as the run's specification gives them."""
        return list(self.spec["budgets"])

    @property
    def seeds(self) -> list[int]:
        return self.grids[0].seeds

    @property
    def packages(self) -> int:
        return len(self.grids) * len(self.seeds)

    @property
    def distinct(self) -> int:
        """The number of different packages, over all distributions."""
        return len({digest for grid in self.grids for digest in grid.digests})

    def rows_of(self, wanted: Iterable[tuple[str, int]]) -> dict[tuple[str, int], list[RunRowData]]:
        """The rows of some packages, by distribution and seed, in the order of the file."""
        rows: dict[tuple[str, int], list[RunRowData]] = {package: [] for package in wanted}
        for row in read_journal(self.folder / ROWS):
            package = (row["distribution"], row["seed"])
            if package in rows:
                rows[package].append(row)
        return rows


def open_run(folder: Path) -> FinishedRunData:
    """Read a finished run. An unfinished one is refused, since its means would mislead."""
    finished = open_finished(folder)
    spec = finished.spec
    tallies = _RowTallies(spec)
    grids = read_grids(finished.manifest, tallies.through(finished.rows()))
    members = members_by_name({name: tallies.peeks[name] for name in spec.writers}, WRITERS)
    return FinishedRunData(
        folder, finished.manifest, grids, members, tallies.unit_values, tallies.kept
    )


class _RowTallies:
    """Counts by kind, taken from rows on their way into the grids."""

    def __init__(self, spec: RunSpec) -> None:
        shape = (
            len(spec.distributions),
            len(spec.seeds),
            len(spec.budgets),
            len(spec.writers),
        )
        self.peeks: dict[str, bool] = {}
        self.unit_values, self.kept = Tally(shape), Tally(shape)
        self._distribution = {name: place for place, name in enumerate(spec.distributions)}
        self._seed = {seed: place for place, seed in enumerate(spec.seeds)}
        self._writer = {name: place for place, name in enumerate(spec.writers)}
        self._budget: dict[int | float | str, int] = {}

    def through(self, rows: Iterable[RunRowData]) -> Iterator[RunRowData]:
        """Pass the rows through and tally them."""
        for row in rows:
            at = (
                self._distribution[row["distribution"]],
                self._seed[row["seed"]],
                self._budget.setdefault(row["budget"], len(self._budget)),
                self._writer[row["writer"]],
            )
            self.peeks[row["writer"]] = row["peeks"]
            self.unit_values.place(at, row["unit_values"])
            self.kept.place(at, row["kinds"])
            yield row


CLEAR = 0.05
"""A Holm-corrected p-value below this distinguishes two writers."""


@dataclass(frozen=True, slots=True)
class RankingPlace:
    """A writer's rank, with what was left out of its mean."""

    number: int
    member: Member
    n: int
    mean: float | None
    low: float | None
    high: float | None
    zero: int
    uncertified: int
    failed: int
    by_budget: tuple[Interval, ...]
    by_distribution: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class WriterPair:
    """Two writers compared package by package, first minus second."""

    first: Member
    second: Member
    difference: Difference
    p_holm: float

    @property
    def verdict(self) -> str:
        """Whether the two can be distinguished, as text."""
        if self.difference.n == 0:
            return "nothing to compare"
        if self.difference.mean == self.difference.low == self.difference.high == 0:
            return "the same on every package"
        return "distinguished" if self.p_holm < CLEAR else "not distinguished"


@dataclass(frozen=True, slots=True)
class WriterRanking:
    """The ranking, and each writer compared with the next one."""

    places: tuple[RankingPlace, ...]
    neighbours: tuple[WriterPair, ...]


def rank_writers(run: FinishedRunData) -> WriterRanking:
    grids, writers = run.grids, list(run.members)
    column = {name: at for at, name in enumerate(writers)}
    # The same draws for all budgets, so that intervals of neighbours move together.
    resampling = package_resampling(grids)
    budgets = [
        mean_intervals(
            np.concatenate([g.numbers["ratio"][:, place] for g in grids]), resampling.drawn
        )
        for place in range(len(run.budgets))
    ]
    distributions = [
        mean_intervals(grid.by_package, package_resampling([grid]).drawn) for grid in grids
    ]
    places = []
    for number, row in enumerate(ranking(grids), start=1):
        at = column[row["writer"]]
        places.append(
            RankingPlace(
                number,
                run.members[row["writer"]],
                row["n"],
                row["mean_ratio"],
                row["ci_low"],
                row["ci_high"],
                zero=sum(int(grid.zero[:, :, at].sum()) for grid in grids),
                uncertified=sum(int(grid.uncertified[:, :, at].sum()) for grid in grids),
                failed=sum(int(grid.failed[:, :, at].sum()) for grid in grids),
                by_budget=tuple(means[at] for means in budgets),
                by_distribution=tuple(means[at] for means in distributions),
            )
        )
    values = np.concatenate([grid.by_package for grid in grids])
    couples = list(pairwise(column[place.member.name] for place in places))
    return WriterRanking(tuple(places), compare_pairs(run, values, couples, resampling))


def compare_pairs(
    run: FinishedRunData,
    values: Floats,
    couples: Sequence[tuple[int, int]],
    resampling: PackageResampling,
) -> tuple[WriterPair, ...]:
    """Pairs of writers, by their places in the run, with Holm's correction over all pairs."""
    differences = paired_differences(values, couples, resampling.drawn, resampling.cluster)
    corrected = holm([difference.p for difference in differences])
    members = list(run.members.values())
    return tuple(
        WriterPair(members[a], members[b], difference, p)
        for (a, b), difference, p in zip(couples, differences, corrected, strict=True)
    )

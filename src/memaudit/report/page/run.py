"""A finished run from its folder, read in one pass: grids of numbers, and tallies by kind."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from memaudit.audits.statistics import Floats
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.experiments.grid import Grid, read_grids
from memaudit.experiments.spec import parse_seeds
from memaudit.experiments.sweep import ROWS, read_run
from memaudit.io.journal import read_journal
from memaudit.report.page.cast import Member, cast

Row = dict[str, Any]


@dataclass(slots=True)
class Tally:
    """Per kind, numbers of every distribution, seed, budget and writer; what is not said is 0."""

    shape: tuple[int, int, int, int]
    kinds: dict[str, Floats] = field(default_factory=dict)

    def place(self, at: tuple[int, int, int, int], counts: dict[str, float]) -> None:
        """Put a row's numbers in their place."""
        for kind, count in counts.items():
            if kind not in self.kinds:
                self.kinds[kind] = np.zeros(self.shape)
            self.kinds[kind][at] = count


@dataclass(frozen=True, slots=True)
class Run:
    """Everything the page needs of a run but the rows of single packages."""

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
        """The budgets as the run was asked for them."""
        return list(self.spec["budgets"])

    @property
    def seeds(self) -> list[int]:
        return self.grids[0].seeds

    @property
    def packages(self) -> int:
        return len(self.grids) * len(self.seeds)

    @property
    def distinct(self) -> int:
        """Packages that differ; a distribution without draws has one for all seeds."""
        return sum(len(grid.digests) for grid in self.grids)

    def rows_of(self, wanted: Iterable[tuple[str, int]]) -> dict[tuple[str, int], list[Row]]:
        """The rows of some packages, by distribution and seed, in the order of the file."""
        found: dict[tuple[str, int], list[Row]] = {package: [] for package in wanted}
        for row in read_journal(self.folder / ROWS):
            package = (row["distribution"], row["seed"])
            if package in found:
                found[package].append(row)
        return found


def open_run(folder: Path) -> Run:
    """Read a finished run; one that is not finished is refused, its means would mislead."""
    manifest = read_run(folder)
    spec = manifest["spec"]
    seeds = parse_seeds(spec["seeds"] + ",")
    shape = tuple(len(part) for part in (spec["distributions"], seeds, spec["budgets"]))
    watch = _Watch(spec, seeds, (shape[0], shape[1], shape[2], len(spec["writers"])))
    grids = read_grids(manifest, watch.through(read_journal(folder / ROWS)))
    if watch.rows != manifest["rows"]:
        raise MemAuditError(
            f"{folder / ROWS} holds {watch.rows} of {manifest['rows']} rows; "
            "finish the run with the same command, then build the report"
        )
    members = cast({name: watch.peeks[name] for name in spec["writers"]})
    return Run(folder, manifest, grids, members, watch.unit_values, watch.kept)


class _Watch:
    """Looks at rows on their way into the grids."""

    def __init__(
        self, spec: dict[str, Any], seeds: tuple[int, ...], shape: tuple[int, int, int, int]
    ) -> None:
        self.rows = 0
        self.peeks: dict[str, bool] = {}
        self.unit_values, self.kept = Tally(shape), Tally(shape)
        self._distribution = {name: place for place, name in enumerate(spec["distributions"])}
        self._seed = {seed: place for place, seed in enumerate(seeds)}
        self._writer = {name: place for place, name in enumerate(spec["writers"])}
        self._budget: dict[int | float | str, int] = {}

    def through(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows, tallied."""
        for row in rows:
            at = (
                self._distribution[row["distribution"]],
                self._seed[row["seed"]],
                self._budget.setdefault(row["budget"], len(self._budget)),
                self._writer[row["writer"]],
            )
            self.rows += 1
            self.peeks[row["writer"]] = row["peeks"]
            self.unit_values.place(at, row["unit_values"])
            self.kept.place(at, row["kinds"])
            yield row

"""A finished run from its folder: grids of numbers, tallies by kind, and its writers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.stats.bootstrap import Floats
from memaudit.lab.runs.spec import RunSpec
from memaudit.lab.runs.summary import Grid, open_finished, read_grids
from memaudit.lab.writers.registry import WRITERS
from memaudit.show.writer_groups import Member, members_by_name
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

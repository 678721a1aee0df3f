"""A run folder for figures: its summary as typed cells, and one package per distribution."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.io.strict_json import first_fault, read_object
from memaudit.kernel.package.package import Package
from memaudit.lab.sweeps.runs.spec import named_source, parse_seed_ranges
from memaudit.lab.sweeps.runs.summary import SUMMARY
from memaudit.lab.sweeps.runs.sweep import read_run

FORMAT = "memaudit-summary"
Budget = int | float | str


class SummaryCell(BaseModel):
    """One row of a summary: the fields that figures use."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, allow_inf_nan=False)

    distribution: str
    budget: Budget
    writer: str
    n: int
    mean_ratio: float | None
    ci_low: float | None
    ci_high: float | None
    mean_value: float | None
    zero_optimum: int
    uncertified: int
    failed: int

    @property
    def left_out(self) -> bool:
        """Whether some package has no ratio and is left out of the mean."""
        return bool(self.zero_optimum or self.uncertified or self.failed)

    @property
    def why_undefined(self) -> str:
        """Why there is no mean ratio."""
        if self.zero_optimum:
            return "OPT = 0"
        if self.uncertified:
            return "no proof"
        return "failed" if self.failed else "no ratio"


def cells_of(summary: Mapping[str, Any]) -> list[SummaryCell]:
    if summary.get("format") != FORMAT or not isinstance(summary.get("rows"), list):
        raise MemAuditError(f"cannot draw: the file is not a summary of format {FORMAT!r}")
    cells = []
    for number, row in enumerate(summary["rows"]):
        try:
            cell = SummaryCell.model_validate(row)
            exact(cell.budget)
        except ValidationError as error:
            raise MemAuditError(
                f"cannot draw: summary row {number}, {first_fault(error)}"
            ) from None
        except ValueError as error:
            raise MemAuditError(f"cannot draw: summary row {number}, budget: {error}") from None
        cells.append(cell)
    if not cells:
        raise MemAuditError("cannot draw: the summary has no rows")
    return cells


def read_summary(folder: Path) -> dict[str, Any]:
    """The summary in a run's folder."""
    path = folder / SUMMARY
    if not path.exists():
        raise MemAuditError(f"{folder} has no {SUMMARY}; summarise the run first")
    return read_object(path, "summarise the run again")


def in_order(names: Iterable[str]) -> list[str]:
    """Each name once, in the order of first appearance."""
    return list(dict.fromkeys(names))


def budgets_of(cells: Sequence[SummaryCell]) -> list[Budget]:
    """The budgets of some cells, in ascending order."""
    return sorted({cell.budget for cell in cells}, key=exact)


def at_budget(cells: Sequence[SummaryCell], budget: Budget) -> list[SummaryCell]:
    """The cells of one budget, or an error that lists the available budgets."""
    matching = [cell for cell in cells if exact(cell.budget) == exact(budget)]
    if not matching:
        known = ", ".join(str(known_budget) for known_budget in budgets_of(cells))
        raise MemAuditError(f"no results at budget {budget}; the budgets are {known}")
    return matching


@dataclass(frozen=True)
class FigureRun:
    """A sweep on disk; each part is read when a figure asks for it."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.resolve().name or "run"

    @cached_property
    def manifest(self) -> dict[str, Any]:
        return read_run(self.folder)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The summary. One of another run is an error."""
        summary = read_summary(self.folder)
        if summary.get("spec_digest") != self.manifest["spec_digest"]:
            raise MemAuditError(f"the summary in {self.folder} is of another run; summarise again")
        return summary

    @property
    def budgets(self) -> list[Fraction]:
        """The budgets as costs, in ascending order."""
        return sorted(exact(text) for text in self.manifest["budgets"].values())

    @property
    def first_seed(self) -> int:
        """The seed of the packages that are drawn."""
        return parse_seed_ranges(self.manifest["spec"]["seeds"] + ",")[0][0]

    @property
    def distributions(self) -> list[str]:
        return list(self.manifest["spec"]["distributions"])

    def package(self, distribution: str) -> Package:
        """The package of a distribution and the first seed."""
        return named_source(distribution).package(self.first_seed)


def nearest(budgets: Sequence[Fraction], wanted: Fraction) -> Fraction:
    """The budget nearest to a wanted one. Of two equally near, the smaller."""
    return min(budgets, key=lambda budget: (abs(budget - wanted), budget))

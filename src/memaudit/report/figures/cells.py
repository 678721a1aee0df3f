"""A run's summary as typed cells: one writer at one budget of one distribution."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.experiments.summary import SUMMARY
from memaudit.io.strict_json import first_fault, read_object

FORMAT = "memaudit-summary"
Budget = int | float | str


class Cell(BaseModel):
    """One row of a summary, as far as figures read it."""

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
        """Whether some package has no ratio and is missing from the mean."""
        return bool(self.zero_optimum or self.uncertified or self.failed)

    @property
    def why_undefined(self) -> str:
        """Why there is no mean ratio, in a word or two."""
        if self.zero_optimum:
            return "OPT = 0"
        if self.uncertified:
            return "no proof"
        return "failed" if self.failed else "no ratio"


def cells_of(summary: Mapping[str, Any]) -> list[Cell]:
    """The cells of a summary, in its order."""
    if summary.get("format") != FORMAT or not isinstance(summary.get("rows"), list):
        raise MemAuditError(f"cannot draw: this is not a summary of format {FORMAT!r}")
    cells = []
    for number, row in enumerate(summary["rows"]):
        try:
            cell = Cell.model_validate(row)
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


def budgets_of(cells: Sequence[Cell]) -> list[Budget]:
    """The budgets of some cells, from the smallest."""
    return sorted({cell.budget for cell in cells}, key=exact)


def at_budget(cells: Sequence[Cell], budget: Budget) -> list[Cell]:
    """The cells of one budget, or an error that lists the budgets there are."""
    found = [cell for cell in cells if exact(cell.budget) == exact(budget)]
    if not found:
        known = ", ".join(str(one) for one in budgets_of(cells))
        raise MemAuditError(f"no results at budget {budget}; the budgets are {known}")
    return found


def of_distribution(cells: Sequence[Cell], name: str) -> list[Cell]:
    """The cells of one distribution, or an error that lists those there are."""
    found = [cell for cell in cells if cell.distribution == name]
    if not found:
        known = ", ".join(in_order(cell.distribution for cell in cells))
        raise MemAuditError(f"no results for distribution {name!r}; the distributions are {known}")
    return found

"""What the rows of runs say about one package: the stores that writers kept there."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from pydantic import BaseModel, ConfigDict, ValidationError

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import Exact
from memaudit.report.page.cast import Member, cast
from memaudit.web.explorer.library.opened import Opened
from memaudit.web.explorer.library.records import Found
from memaudit.web.explorer.library.run_rows import rows_with


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    seed: int
    budget: Exact
    writer: str
    peeks: bool
    value: float | None
    optimum: float
    ratio: float | None
    store: tuple[str, ...]
    failed: str = ""


@dataclass(frozen=True, slots=True)
class RunStore:
    """One row: who kept what at which budget."""

    run: Found
    member: Member
    seed: int
    budget: Fraction
    ratio: float | None
    value: float | None
    store: tuple[str, ...]
    failed: str


def run_stores(runs: Iterable[Found], opened: Opened) -> list[RunStore]:
    """The rows about a package in some runs, by run, budget and writer."""
    return [one for run in runs for one in _of_run(run, opened)]


def _of_run(run: Found, opened: Opened) -> Iterator[RunStore]:
    try:
        rows = [_Row.model_validate(row) for row in rows_with(run.path, opened.digest)]
    except (ValidationError, MemAuditError):  # the run's own page says what is wrong with it
        return
    members: Mapping[str, Member] = cast({row.writer: row.peeks for row in rows})
    seen: set[tuple[Fraction, str]] = set()
    for row in rows:
        if (row.budget, row.writer) in seen:
            continue  # a distribution without draws: the same package under many seeds
        seen.add((row.budget, row.writer))
        yield RunStore(
            run, members[row.writer], row.seed, row.budget, row.ratio, row.value,
            tuple(id for id in row.store if id in opened.candidate_at), row.failed,
        )  # fmt: skip

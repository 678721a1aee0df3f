"""Writers of packages and exported stores side by side across budgets: the paper's figure 4.

A writer chooses among the package's candidates, so its ratio is over OPT of the package. A store
has memories of its own, so its ratio is over OPT of the package with this store. The two are shown
together and never ranked together.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memaudit.board.denominators import WHOLE
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.number_text import with_interval
from memaudit.kernel.score.score import BEST
from memaudit.show import encoding
from memaudit.show.columns import Column

WRITERS = ("gvt", "estimated_gvt", "recency_raw")
"""The paper's lines, and a baseline."""

SELECTED = ("salience", "recency", "top")
"""The policy that is shown for a store: the first that it allows, as in the paper."""


@dataclass(frozen=True, slots=True)
class SideRow:
    """One writer or store at one budget: mean ratio with its interval, NaN where undefined."""

    name: str
    label: str
    kept_by: str
    is_store: bool
    budget: str
    n: int
    mean: float
    low: float
    high: float


def writer_rows(summary: Mapping[str, Any], writers: Sequence[str] = WRITERS) -> list[SideRow]:
    """The rows of a run's summary; the run is over one set of packages."""
    rows = summary["rows"]
    if len({row["distribution"] for row in rows}) > 1:
        raise MemAuditError(
            "the run is over several distributions; run memaudit run --packages PATH on the "
            "packages that were scored"
        )
    return [
        SideRow(
            row["writer"],
            _label(row["writer"]),
            "",
            False,
            str(row["budget"]),
            row["n"],
            *(_number(row[name]) for name in ("mean_ratio", "ci_low", "ci_high")),
        )
        for row in rows
        if row["writer"] in writers
    ]


def store_rows(denominators: Iterable[Mapping[str, Any]]) -> list[SideRow]:
    """Rows of stores by every way of keeping, over OPT of the package with the store."""
    return [
        SideRow(
            row["store"],
            row["store"],
            row["kept_by"],
            True,
            row["budget"],
            row["union_ratio"]["n"],
            *(_number(row["union_ratio"][name]) for name in ("mean", "ci_low", "ci_high")),
        )
        for row in denominators
        if row["kept_by"] != WHOLE
    ]


def refuse_other_packages(run: Collection[str], scored: Collection[str]) -> None:
    """Means over other packages cannot be shown side by side."""
    if set(run) != set(scored):
        missing = sorted(set(scored) - set(run)) or sorted(set(run) - set(scored))
        raise MemAuditError(
            f"the run has {len(run)} packages, the scores {len(scored)}, and {missing[0]!r} is in "
            "one of them only; run the writers on the packages that were scored"
        )


def selected(rows: Sequence[SideRow]) -> list[SideRow]:
    """Of every store the rows of one policy, and all rows of writers."""
    policy: dict[str, str] = {}
    for row in rows:
        if row.is_store and row.kept_by in SELECTED:
            known = policy.get(row.name, row.kept_by)
            policy[row.name] = min(known, row.kept_by, key=SELECTED.index)
    return [row for row in rows if not row.is_store or row.kept_by == policy.get(row.name)]


def best(rows: Sequence[SideRow]) -> list[SideRow]:
    """The best subset of every store."""
    return [row for row in rows if row.kept_by == BEST]


def budgets_of(rows: Sequence[SideRow]) -> list[str]:
    """Budgets that are costs, the smallest first; shares mean other costs for every package."""
    plain = {row.budget for row in rows if row.budget.replace(".", "", 1).isdecimal()}
    return sorted(plain, key=float)


Line = Mapping[str, SideRow]
"""One writer or store in one way of keeping, by budget."""


def by_line(rows: Sequence[SideRow]) -> list[Line]:
    lines: dict[tuple[str, str], dict[str, SideRow]] = {}
    for row in rows:
        lines.setdefault((row.name, row.kept_by), {})[row.budget] = row
    return list(lines.values())


def beside_columns(rows: Sequence[SideRow]) -> list[Column[Line]]:
    """Who, kept how, over which OPT, and the mean at each budget."""

    def first(line: Line) -> SideRow:
        return next(iter(line.values()))

    return [
        Column(
            key="name", value=lambda line: first(line).label, short="writer or store", words=True
        ),
        Column(key="kept_by", value=lambda line: first(line).kept_by, short="kept by", words=True),
        Column(
            key="optimum",
            value=lambda line: "package + store" if first(line).is_store else "package",
            short="over OPT of",
            words=True,
        ),
        *map(_budget_column, budgets_of(rows)),
    ]


def _budget_column(budget: str) -> Column[Line]:
    return Column(
        key=budget,
        value=lambda line: line.get(budget),
        short=budget,
        show=lambda row: with_interval(row.mean, row.low, row.high),
    )


def _label(writer: str) -> str:
    return {"opt": "OPT", **encoding.REFERENCES, **encoding.WRITERS}.get(writer, writer)


def _number(value: float | None) -> float:
    return math.nan if value is None else value

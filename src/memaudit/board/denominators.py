"""The same stores over three denominators: the paper's comparison of external systems.

For every store, budget and way of keeping part of it: the mean value of what is kept, and its mean
ratio to OPT of the package, of the package with this store, and of the package with all stores.
The whole store is shown too, whatever it costs: beyond the budget its ratios may be above 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memaudit.kernel.io.score_file import KeptRow, ScoreRow
from memaudit.kernel.number_text import ratio, span, with_interval
from memaudit.kernel.score.pruning import POLICIES
from memaudit.kernel.score.score import BEST
from memaudit.kernel.score.score_files import Entries, by_size
from memaudit.kernel.stats.bootstrap import Floats, Interval, mean_intervals, resample_counts
from memaudit.show.columns import Column, records

WHOLE = "whole store"
RATIOS = ("package_ratio", "union_ratio", "ratio")
NUMBERS = ("value", *RATIOS)
"""The value, and the ratios over OPT of the package, of the union, and of the common union."""

DENOMINATORS_NOTE = (
    "Ratios are means over packages, with 95% intervals. The whole store may cost more than the "
    "budget. Over OPT of the package alone a ratio may be above 1. query_salience sees the "
    "questions and the best subset sees the labels, which no system does when it writes."
)


@dataclass(frozen=True, slots=True)
class DenominatorRow:
    """One store at one budget, kept in one way: means over packages."""

    budget: str
    store: str
    kept_by: str
    fits: int
    """Packages where the whole store fits, so that nothing is cut."""
    value: Interval
    package_ratio: Interval
    union_ratio: Interval
    ratio: Interval


def denominator_rows(entries: Entries) -> list[DenominatorRow]:
    """Every store at every budget: the whole store, every policy it allows, and its best subset.

    A store that fits is kept whole by every policy.
    """
    packages = {name: place for place, name in enumerate(entries.packages)}
    drawn = resample_counts(len(packages))
    rows: dict[str, list[tuple[int, ScoreRow]]] = {}
    for entry in entries.entries:
        rows.setdefault(entry.row.asked, []).append((packages[entry.package], entry.row))
    found: list[DenominatorRow] = []
    in_order = sorted(rows, key=lambda asked: by_size(asked, [row for _, row in rows[asked]]))
    for budget in in_order:
        at = rows[budget]
        for store in sorted({row.store for _, row in at}):
            own = [(place, row) for place, row in at if row.store == store]
            found += _of_store(budget, store, own, len(packages), drawn)
    return found


def _of_store(
    budget: str,
    store: str,
    rows: Sequence[tuple[int, ScoreRow]],
    packages: int,
    drawn: Floats,
) -> list[DenominatorRow]:
    allowed = {name for _, row in rows for name in row.policies}
    ways = [WHOLE, *(name for name in POLICIES if name in allowed), BEST]
    fits = sum(row.fits for _, row in rows)
    found = []
    for way in ways:
        numbers = np.full((packages, len(NUMBERS)), np.nan)
        for place, row in rows:
            for column, value in enumerate(_numbers(row, way)):
                if value is not None:
                    numbers[place, column] = value
        means = [mean.if_several for mean in mean_intervals(numbers, drawn)]
        found.append(DenominatorRow(budget, store, way, fits, *means))
    return found


def _numbers(row: ScoreRow, way: str) -> Sequence[float | None]:
    if way == WHOLE:
        value = row.written.value
        package, union, common = row.package_ratio, row.union_ratio, row.optimum
        return (
            value,
            _over(value, package.optimum, package.certified),
            _over(value, union.optimum, union.certified),
            _over(value, common.value, common.certified),
        )
    kept: KeptRow | None = row.best_subset if way == BEST else row.policies.get(way)
    if kept is None:
        return (None,) * len(NUMBERS)
    return kept.value, kept.package_ratio, kept.union_ratio, kept.ratio


def _over(value: float, optimum: float, certified: bool) -> float | None:
    return value / optimum if certified and optimum else None


def _number_column(name: str, header: str, short: str) -> Column[DenominatorRow]:
    def mean(row: DenominatorRow) -> Interval:
        number: Interval = getattr(row, name)
        return number

    return Column(
        key=name,
        value=mean,
        header=header,
        short=short,
        show=lambda interval: ratio(interval.mean),
        under=lambda row: span(mean(row).low, mean(row).high, missing=""),
        in_terminal=lambda row: with_interval(mean(row).mean, mean(row).low, mean(row).high),
    )


DENOMINATOR_COLUMNS: list[Column[DenominatorRow]] = [
    Column(key="budget", value=lambda row: row.budget, header="Budget", short="budget"),
    Column(
        key="store",
        value=lambda row: row.store,
        header="Store",
        short="store",
        is_store=True,
        words=True,
    ),
    Column(
        key="kept_by", value=lambda row: row.kept_by, header="kept by", short="kept by", words=True
    ),
    Column(key="everything_fits", value=lambda row: row.fits),
    _number_column("value", "value", "F"),
    _number_column("package_ratio", "over package", "/ package"),
    _number_column("union_ratio", "over union", "/ union"),
    _number_column("ratio", "over common union", "/ common union"),
]


def denominators_data(rows: Sequence[DenominatorRow]) -> list[dict[str, Any]]:
    """The table as JSON, null where undefined."""
    return records(DENOMINATOR_COLUMNS, rows)

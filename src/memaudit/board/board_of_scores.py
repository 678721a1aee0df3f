"""The board of a folder of score files: means over packages, and paired differences."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from memaudit.board.board import SCORE, Board, BoardDifference, BoardRow, corrected
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import MAX_DIGITS, common_denominator
from memaudit.kernel.io.score_file import MOST_DIGITS, LossDiagnosis, ScoreRow
from memaudit.kernel.losses import LOSS_STEPS, SHARES
from memaudit.kernel.score.caveats import is_incomplete
from memaudit.kernel.score.score_files import Entries, by_size
from memaudit.kernel.stats.bootstrap import Floats, Interval, mean_intervals, resample_counts
from memaudit.kernel.stats.paired_tests import Difference, paired_differences

TITLE = "Stores of memory systems, side by side"

PLACES = 10**MAX_DIGITS
LARGEST_COMMON = 10 ** (MOST_DIGITS // 2 - MAX_DIGITS)
"""Largest denominator of a mean whose text can be read back. Beyond it shares are rounded."""

MOST_PAIRS = 100_000
"""Most pairs of stores. Thousands of stores would have millions."""

Cells = Mapping[tuple[str, str], ScoreRow]
"""At one budget, by package and store."""


def board_of_scores(entries: Entries) -> Board:
    """Means, intervals and differences, with the same draws of packages everywhere."""
    drawn = resample_counts(len(entries.packages))
    by_budget: dict[str, dict[tuple[str, str], ScoreRow]] = {}
    for entry in entries.entries:
        by_budget.setdefault(entry.row.asked, {})[entry.package, entry.row.store] = entry.row
    pairs = sum(math.comb(len({store for _, store in own}), 2) for own in by_budget.values())
    if pairs > MOST_PAIRS:
        raise MemAuditError(
            f"more than {MOST_PAIRS:,} pairs of stores to compare; score fewer stores, or "
            "at fewer budgets"
        )
    budgets: list[tuple[str, tuple[BoardRow, ...]]] = []
    differences: list[BoardDifference] = []
    for budget in sorted(by_budget, key=lambda asked: by_size(asked, by_budget[asked].values())):
        rows, gaps = _at_budget(entries, budget, by_budget[budget], drawn)
        budgets.append((budget, tuple(rows)))
        differences += gaps
    return Board(TITLE, tuple(budgets), tuple(corrected(differences)), scores=entries)


def _at_budget(
    entries: Entries, budget: str, cells: Cells, drawn: Floats
) -> tuple[list[BoardRow], list[BoardDifference]]:
    stores = sorted({store for _, store in cells})
    scores = _table(cells, entries.packages, stores, lambda row: row.score)
    best = _table(cells, entries.packages, stores, lambda row: row.best_subset.ratio)
    means = zip(stores, mean_intervals(scores, drawn), mean_intervals(best, drawn), strict=True)
    rows = [
        _row(entries, budget, store, cells, score.if_several, most.if_several)
        for store, score, most in means
    ]
    rows.sort(key=_order)
    place = {store: at for at, store in enumerate(stores)}
    pairs = list(combinations((row.store for row in rows), 2))
    at = [(place[first], place[second]) for first, second in pairs]
    gaps = paired_differences(scores, at, drawn)
    return rows, [
        BoardDifference(budget, SCORE, first, second, _if_several(gap), math.nan)
        for (first, second), gap in zip(pairs, gaps, strict=True)
    ]


def _table(
    cells: Cells,
    packages: Sequence[str],
    stores: Sequence[str],
    ratio_of: Callable[[ScoreRow], float | None],
) -> Floats:
    """Packages by stores; NaN where there is no row or no ratio."""
    table = np.full((len(packages), len(stores)), np.nan)
    for at, package in enumerate(packages):
        for column, store in enumerate(stores):
            row = cells.get((package, store))
            if row is not None and (ratio := ratio_of(row)) is not None:
                table[at, column] = ratio
    return table


def _row(
    entries: Entries,
    budget: str,
    store: str,
    cells: Cells,
    score: Interval,
    best_subset: Interval,
) -> BoardRow:
    scored = [row for package in entries.packages if (row := cells.get((package, store)))]
    sizes = [row.written.memories for row in scored]
    diagnoses = [row.diagnosis for row in scored if isinstance(row.diagnosis, LossDiagnosis)]
    accounts = [account for _, account in entries.accounts if account.name == store]
    incomplete = sum(map(is_incomplete, accounts))
    return BoardRow(
        budget=budget,
        store=store,
        score=score,
        best_subset=best_subset,
        shares=_mean_shares(diagnoses) if diagnoses else None,
        stores=len(scored),
        fits=sum(row.fits for row in scored),
        tag="incomplete" if incomplete else "",
        diagnosed=len(diagnoses),
        undefined=dict(sorted(Counter(row.undefined for row in scored if row.undefined).items())),
        missing=len(entries.packages) - len(scored),
        memories=sum(sizes) / len(sizes) if sizes else None,
        incomplete=incomplete,
        undecided_cells=sum(account.undecided_cells for account in accounts),
    )


def _mean_shares(diagnoses: Sequence[LossDiagnosis]) -> dict[str, Fraction]:
    rows = [
        [diagnosis.kept, *(diagnosis.losses[name].share for name in LOSS_STEPS)]
        for diagnosis in diagnoses
    ]
    denominator = common_denominator(share for row in rows for share in row)
    if denominator is None or denominator >= LARGEST_COMMON:
        rows = [_rounded(row) for row in rows]
    sums = (sum(column, Fraction(0)) for column in zip(*rows, strict=True))
    return {name: value / len(diagnoses) for name, value in zip(SHARES, sums, strict=True)}


def _rounded(row: list[Fraction]) -> list[Fraction]:
    """Shares with MAX_DIGITS places. The first is the remainder, so that they sum to 1."""
    others = [Fraction(int(share * PLACES), PLACES) for share in row[1:]]
    return [1 - sum(others, Fraction(0)), *others]


def _if_several(difference: Difference) -> Difference:
    """Without interval and test for a single package."""
    if difference.n > 1:
        return difference
    return replace(difference, low=math.nan, high=math.nan, p=math.nan)


def _order(row: BoardRow) -> tuple[bool, float, str]:
    mean = row.score.mean
    return row.score.n == 0, 0.0 if math.isnan(mean) else -mean, row.store

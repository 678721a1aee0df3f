"""Numbers of the leaderboard: per budget, means of every store over packages, and paired gaps."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import MAX_DIGITS, common_denominator
from memaudit.core.losses import LOSS_STEPS
from memaudit.core.notebook import Frame, html_table, to_frame
from memaudit.core.number_text import with_interval
from memaudit.core.text import counted
from memaudit.formats.score_file import MOST_DIGITS, LossDiagnosis, ScoreRow
from memaudit.scoring.caveats import is_incomplete
from memaudit.scoring.score_files import Entries, by_size
from memaudit.stats.bootstrap import Floats, Interval, mean_intervals, resample_counts
from memaudit.stats.paired_tests import Difference, holm, paired_differences

CLEAR = 0.05
"""A Holm-corrected p-value below this distinguishes two stores."""

DISTINGUISHED = "distinguished"
MOST_LISTED = 6
"""Names in the sentence about who leads."""

SHARES = ("kept", *LOSS_STEPS)

PLACES = 10**MAX_DIGITS
LARGEST_COMMON = 10 ** (MOST_DIGITS // 2 - MAX_DIGITS)
"""Largest denominator of a mean whose text can be read back. Beyond it shares are rounded."""

MOST_GAPS = 100_000
"""Most pairs of stores. Thousands of stores would have millions."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One store at one budget. `shares` are means over diagnosed packages, and sum to 1."""

    store: str
    score: Interval
    best_subset: Interval
    shares: dict[str, Fraction] | None
    diagnosed: int
    cut: int
    undefined: dict[str, int]
    missing: int
    memories: float | None
    """Mean over its packages."""
    incomplete: int
    """Packages for which rows of its export are, or may be, missing."""
    undecided_cells: int


@dataclass(frozen=True, slots=True)
class Gap:
    """Two stores at one budget: first minus second, package by package."""

    budget: str
    first: str
    second: str
    difference: Difference
    p_holm: float

    @property
    def verdict(self) -> str:
        """Whether the two can be distinguished, as text."""
        if self.difference.n < 2:
            return "too few packages"
        if self.difference.mean == self.difference.low == self.difference.high == 0:
            return "the same on every package"
        return DISTINGUISHED if self.p_holm < CLEAR else f"not {DISTINGUISHED}"


@dataclass(frozen=True, slots=True, repr=False)
class Board:
    """Everything a leaderboard shows. Stores of a budget are ordered by their mean.

    A budget is named as it was asked for: a share of the conversation and a store's own cost are
    other costs for each package.
    """

    entries: Entries
    budgets: tuple[tuple[str, tuple[Standing, ...]], ...]
    gaps: tuple[Gap, ...]

    @property
    def stores(self) -> tuple[str, ...]:
        return tuple(sorted({standing.store for _, rows in self.budgets for standing in rows}))

    @property
    def one_package(self) -> bool:
        """Whether there is nothing to resample."""
        return len(self.entries.packages) == 1

    @property
    def verdict(self) -> str:
        """In a sentence, who leads at which budgets and whether the lead is distinguished."""
        leads: dict[tuple[str, ...], list[str]] = {}
        clear: list[str] = []
        for budget, rows in self.budgets:
            ranked = [row for row in rows if row.score.n]
            if not ranked:
                continue
            top = ranked[0].score.mean
            first = tuple(row.store for row in ranked if row.score.mean == top)
            leads.setdefault(first, []).append(budget)
            pair = {row.store for row in ranked[:2]}
            clear += (
                budget
                for gap in self.gaps
                if gap.budget == budget
                and {gap.first, gap.second} == pair
                and gap.verdict == DISTINGUISHED
            )
        if not leads:
            return "No store has a score."
        if len(self.stores) == 1:
            return f"{self.stores[0]} is the only store: there is nothing to compare it with."
        (first, at), *others = sorted(leads.items(), key=lambda lead: -len(lead[1]))
        parts = [f"{_listed(first)} {'leads' if len(first) == 1 else 'lead'} at {_budgets(at)}"]
        parts += (f"{_listed(who)} at {_budgets(at)}" for who, at in others)
        return f"{', '.join(parts)}; {self._distinguished(sum(map(len, leads.values())), clear)}."

    def _distinguished(self, budgets: int, clear: Sequence[str]) -> str:
        if self.one_package:
            return "one package alone cannot distinguish stores"
        if not clear:
            where = "nowhere is the lead" if budgets > 1 else "the lead is not"
            return f"{where} distinguished from the next store"
        if len(clear) == budgets:
            return "the lead is distinguished from the next store" + " each time" * (budgets > 1)
        return f"the lead is distinguished from the next store at {_budgets(clear)} only"

    def __repr__(self) -> str:
        count = len(self.entries.packages)
        over = counted(count, "package")
        marks = [
            over,
            *(["no intervals"] if self.one_package else []),
            *(["an ESTIMATE"] if self.entries.is_estimate else []),
        ]
        return "\n".join(
            f"budget {budget}: {', '.join(_named(row, count) for row in rows)} ({', '.join(marks)})"
            for budget, rows in self.budgets
        )

    def to_frame(self) -> Any:
        """A pandas data frame with a row per budget and store, the best first."""
        return to_frame(self._frame())

    def _frame(self) -> Frame:
        names = ("budget", "store", "packages", "score", "ci_low", "ci_high", "best_subset")
        return (*names, *LOSS_STEPS, "is_estimate"), [
            (
                budget,
                row.store,
                row.score.n,
                row.score.mean,
                row.score.low,
                row.score.high,
                row.best_subset.mean,
                *(float(row.shares[step]) if row.shares else None for step in LOSS_STEPS),
                self.entries.is_estimate,
            )
            for budget, rows in self.budgets
            for row in rows
        ]

    def _repr_html_(self) -> str:
        return html_table(*self._frame())


def _budgets(names: Sequence[str]) -> str:
    return f"budget{'s' if len(names) > 1 else ''} {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b, c and 4 more`."""
    if len(names) > MOST_LISTED:
        names = [*names[: MOST_LISTED - 1], f"{len(names) - MOST_LISTED + 1} more"]
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _named(row: Standing, packages: int) -> str:
    some = f" on {row.score.n}" if row.score.n < packages else ""
    return f"{row.store} {with_interval(row.score.mean, row.score.low, row.score.high)}{some}"


def board(entries: Entries) -> Board:
    """Means, intervals and gaps, with the same draws of packages everywhere."""
    drawn = resample_counts(len(entries.packages))
    incomplete, undecided = _unseen(entries)
    rows: dict[str, dict[tuple[str, str], ScoreRow]] = {}
    for entry in entries.entries:
        rows.setdefault(entry.row.asked, {})[entry.package, entry.row.store] = entry.row
    if sum(math.comb(len({store for _, store in cells}), 2) for cells in rows.values()) > MOST_GAPS:
        raise MemAuditError(
            f"more than {MOST_GAPS:,} pairs of stores to compare; score fewer stores, or "
            "at fewer budgets"
        )
    budgets: list[tuple[str, tuple[Standing, ...]]] = []
    gaps: list[Gap] = []
    for budget, cells in sorted(rows.items(), key=lambda item: by_size(item[0], item[1].values())):
        stores = sorted({store for _, store in cells})
        scores = _table(cells, entries.packages, stores, lambda row: row.score)
        best = _table(cells, entries.packages, stores, lambda row: row.best_subset.ratio)
        columns = zip(
            stores, mean_intervals(scores, drawn), mean_intervals(best, drawn), strict=True
        )
        standings = [
            _standing(
                store,
                mine.if_several,
                most.if_several,
                [cells.get((package, store)) for package in entries.packages],
                incomplete[store],
                undecided[store],
            )
            for store, mine, most in columns
        ]
        standings.sort(key=_rank)
        budgets.append((budget, tuple(standings)))
        order = [stores.index(standing.store) for standing in standings]
        pairs = list(combinations(order, 2))
        gaps += [
            Gap(budget, stores[a], stores[b], _known_gap(gap), math.nan)
            for (a, b), gap in zip(pairs, paired_differences(scores, pairs, drawn), strict=True)
        ]
    return Board(entries, tuple(budgets), tuple(_corrected(gaps)))


def _table(
    cells: dict[tuple[str, str], ScoreRow],
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


def _unseen(entries: Entries) -> tuple[Counter[str], Counter[str]]:
    """By store: packages for which its export is incomplete, and undecided cells."""
    incomplete: Counter[str] = Counter()
    undecided: Counter[str] = Counter()
    for _, store in entries.accounts:
        incomplete[store.name] += is_incomplete(store)
        undecided[store.name] += store.undecided_cells
    return incomplete, undecided


def _standing(
    store: str,
    score: Interval,
    best_subset: Interval,
    rows: Sequence[ScoreRow | None],
    incomplete: int,
    undecided: int,
) -> Standing:
    scored = [row for row in rows if row is not None]
    sizes = [row.written.memories for row in scored]
    diagnoses = [row.diagnosis for row in scored if isinstance(row.diagnosis, LossDiagnosis)]
    return Standing(
        store=store,
        score=score,
        best_subset=best_subset,
        shares=_mean_shares(diagnoses) if diagnoses else None,
        diagnosed=len(diagnoses),
        cut=sum(not row.fits for row in scored),
        undefined=dict(sorted(Counter(row.undefined for row in scored if row.undefined).items())),
        missing=len(rows) - len(scored),
        memories=sum(sizes) / len(sizes) if sizes else None,
        incomplete=incomplete,
        undecided_cells=undecided,
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


def _known_gap(difference: Difference) -> Difference:
    return (
        difference
        if difference.n > 1
        else replace(difference, low=math.nan, high=math.nan, p=math.nan)
    )


def _rank(standing: Standing) -> tuple[bool, float, str]:
    mean = standing.score.mean
    return standing.score.n == 0, 0.0 if math.isnan(mean) else -mean, standing.store


def _corrected(gaps: Sequence[Gap]) -> list[Gap]:
    """Holm's correction over all comparisons, at all budgets."""
    tested = [gap for gap in gaps if not math.isnan(gap.difference.p)]
    worth = iter(holm([gap.difference.p for gap in tested]))
    return [
        gap if math.isnan(gap.difference.p) else replace(gap, p_holm=next(worth)) for gap in gaps
    ]

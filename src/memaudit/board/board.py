"""A board: stores side by side at several budgets, with paired differences.

It is made from the stores of systems (`board_of_systems`) or from score files (`board_of_scores`).
A column is added to `board_columns`; terminal, page, JSON, CSV and data frames follow.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from memaudit.kernel.losses import KEPT, LOSS_STEPS
from memaudit.kernel.notebook import html_table, to_frame
from memaudit.kernel.number_text import fixed, p_value, percent, ratio, signed, span, with_interval
from memaudit.kernel.score.score_files import Entries
from memaudit.kernel.stats.bootstrap import Interval
from memaudit.kernel.stats.paired_tests import Difference, holm
from memaudit.kernel.words.text import counted
from memaudit.show.columns import Column, flat_table

if TYPE_CHECKING:
    from memaudit.board.board_of_systems import SystemsBasis

CLEAR = 0.05
"""A Holm-corrected p-value below this distinguishes two stores."""

DISTINGUISHED = "distinguished"
SCORE, BEST_SUBSET = "score", "best_subset"
COMPLETE, LEAN = "complete", "lean"
WHOLE = "whole store"
"""Instead of a budget: of differences between stores as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """One store at one budget. What only one kind of board knows is None on the other."""

    budget: str
    store: str
    score: Interval
    best_subset: Interval
    shares: Mapping[str, Fraction | float] | None
    """Mean shares of OPT, kept and lost, where there is a diagnosis. They sum to 1."""
    stores: int
    """Stores that were scored: one per run, or per package."""
    fits: int
    """How many of them fit the budget as they are."""
    tag: str = ""
    """Why it is not like the others, in a word."""

    ahead: tuple[str, ...] | None = None
    """Systems whose score is clearly higher; None if this one is not ranked."""
    best_ahead: tuple[str, ...] | None = None
    """The same of the best subset."""
    random_cut: float | None = None
    """The mean score if stores that do not fit were cut at random."""
    kept_by: tuple[str, ...] | None = None
    by_conversation: Mapping[str, Mapping[str, float]] | None = None
    """By measure and conversation, the mean over runs."""
    by_pass: Mapping[str, Mapping[str, float]] | None = None
    """By measure and pass, the mean."""
    between_runs: Mapping[str, float | None] | None = None
    """By measure, the largest difference between two runs on one conversation."""

    diagnosed: int | None = None
    undefined: Mapping[str, int] | None = None
    """By reason, packages without a score."""
    missing: int | None = None
    """Packages on which it was not scored."""
    memories: float | None = None
    """Mean over its packages."""
    incomplete: int | None = None
    """Packages for which rows of its export are, or may be, missing."""
    undecided_cells: int | None = None

    @property
    def rank(self) -> int | None:
        return None if self.ahead is None else 1 + len(self.ahead)

    @property
    def best_rank(self) -> int | None:
        return None if self.best_ahead is None else 1 + len(self.best_ahead)


def ranked(rows: Sequence[BoardRow]) -> Sequence[BoardRow]:
    """Those with a rank, which sentences about a board are about; all where none has one."""
    return [row for row in rows if row.rank is not None] or rows


@dataclass(frozen=True, slots=True)
class BoardDifference:
    """Two stores at one budget: first minus second, package by package."""

    budget: str
    measure: str
    first: str
    second: str
    difference: Difference
    p_holm: float

    @property
    def clear(self) -> bool:
        """Whether the test and the interval both tell the two apart."""
        gap = self.difference
        return self.p_holm < CLEAR and (gap.low > 0 or gap.high < 0)

    @property
    def ahead(self) -> str:
        return self.first if self.difference.mean > 0 else self.second

    @property
    def verdict(self) -> str:
        """Whether the two can be distinguished, as text."""
        gap = self.difference
        if gap.n < 2:
            return "too few packages"
        if gap.mean == gap.low == gap.high == 0:
            return "the same on every package"
        return DISTINGUISHED if self.clear else f"not {DISTINGUISHED}"


def corrected(differences: Sequence[BoardDifference]) -> list[BoardDifference]:
    """With Holm's correction over all of them that were tested."""
    # Pairs on a single package have no p; they do not make the correction harsher.
    tested = [gap.difference.p for gap in differences if not math.isnan(gap.difference.p)]
    values = iter(holm(tested))
    return [
        gap if math.isnan(gap.difference.p) else replace(gap, p_holm=next(values))
        for gap in differences
    ]


@dataclass(frozen=True, slots=True, repr=False)
class Board:
    """Everything that a board shows, and what its numbers rest on: `systems` or `scores`.

    Rows of a budget are ordered by rank, then by mean. A budget is named as it was asked for: a
    share of the conversation and a store's own cost are other costs for each package.
    """

    title: str
    budgets: tuple[tuple[str, tuple[BoardRow, ...]], ...]
    differences: tuple[BoardDifference, ...]
    systems: "SystemsBasis | None" = None
    scores: Entries | None = None

    @property
    def rows(self) -> list[BoardRow]:
        return [row for _, rows in self.budgets for row in rows]

    @property
    def stores(self) -> tuple[str, ...]:
        return tuple(sorted({row.store for row in self.rows}))

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages, or conversations, that means are over."""
        if self.systems is not None:
            return self.systems.conversations
        return () if self.scores is None else self.scores.packages

    @property
    def is_estimate(self) -> bool:
        return self.scores is not None and self.scores.is_estimate

    def __repr__(self) -> str:
        marks = [
            counted(len(self.packages), "package"),
            *(["no intervals"] if len(self.packages) == 1 else []),
            *(["an ESTIMATE"] if self.is_estimate else []),
        ]
        return "\n".join(
            f"budget {budget}: {', '.join(map(self._named, rows))} ({', '.join(marks)})"
            for budget, rows in self.budgets
        )

    def _named(self, row: BoardRow) -> str:
        some = f" on {row.score.n}" if row.score.n < len(self.packages) else ""
        mean = with_interval(row.score.mean, row.score.low, row.score.high)
        return f"{row.store} {mean}{some}"

    def to_frame(self) -> Any:
        """A pandas data frame with a row per budget and store, the best first."""
        return to_frame(flat_table(board_columns(), self.rows))

    def _repr_html_(self) -> str:
        return html_table(*flat_table(board_columns(), self.rows))


def board_columns(is_estimate: bool = False) -> list[Column[BoardRow]]:
    """The columns of a board, in order. Add a new one here."""
    return [
        Column(key="budget", value=lambda row: row.budget, short="budget", identifies=True),
        Column(
            key="store",
            value=lambda row: row.store,
            header="Store",
            short="store",
            tag=lambda row: row.tag,
            identifies=True,
            is_store=True,
            words=True,
        ),
        Column(
            key="rank",
            value=lambda row: row.rank,
            header="rank",
            short="rank",
            under=lambda row: behind(row.ahead),
            about="1 plus the number of systems that are clearly ahead. Two systems of different "
            "rank may still not differ clearly. Systems that were not run on every conversation "
            "have no rank.",
        ),
        Column(
            key=SCORE,
            value=lambda row: row.score,
            header="score",
            short="score\n(est.)" if is_estimate else "score",
            show=_mean,
            under=lambda row: ends(row.score),
            beside="95% interval",
            about="What a store keeps within the budget, over OPT of the common union: the best "
            "store that can be made of the package's candidates and the memories of all stores on "
            "the board. It is the same for all stores of a package.",
        ),
        Column(
            key="random_cut",
            value=lambda row: row.random_cut,
            header="random cut",
            short="random\ncut",
            show=lambda cut: fixed(cut, 2),
            about="The score if a store over budget took its memories in random order: the mean "
            "of several shuffles. Where it is higher than the score, the cut loses more than "
            "chance would.",
        ),
        Column(
            key=BEST_SUBSET,
            value=lambda row: row.best_subset,
            header="best subset",
            short="best\nsubset",
            show=_mean,
            under=lambda row: ends(row.best_subset),
            about="The most that any choice of the store's own memories keeps within the budget, "
            "over the same OPT.",
        ),
        Column(
            key="best_subset_rank",
            value=lambda row: row.best_rank,
            header="rank of subset",
            short="rank",
            under=lambda row: behind(row.best_ahead),
        ),
        *(_loss_column(name) for name in LOSS_STEPS),
        Column(
            key="packages",
            value=lambda row: row.score.n,
            header="packages",
            short="n",
            in_data=False,
        ),
        Column(
            key="cut_to_budget",
            value=lambda row: row.stores - row.fits,
            header="cut",
            about="Stores that cost more than the budget, so that only a part is kept.",
        ),
        Column(
            key="undefined",
            value=lambda row: row.undefined,
            header="undefined",
            short="undef.",
            show=lambda reasons: str(sum(reasons.values())),
            under=lambda row: ", ".join(f"{n} {why}" for why, n in (row.undefined or {}).items()),
            about="Where OPT is 0 or not certified there is no score. Such packages are left out "
            "of means and counted.",
        ),
        Column(
            key="not_scored", value=lambda row: row.missing, header="not scored", short="absent"
        ),
        Column(key="shares", value=lambda row: row.shares),
        Column(key="stores", value=lambda row: row.stores),
        Column(key="fits", value=lambda row: row.fits),
        Column(key="kept_by", value=lambda row: row.kept_by),
        Column(key="clearly_ahead", value=lambda row: row.ahead),
        Column(key="best_subset_clearly_ahead", value=lambda row: row.best_ahead),
        Column(key="by_conversation", value=lambda row: row.by_conversation),
        Column(key="by_pass", value=lambda row: row.by_pass),
        Column(key="largest_difference_between_runs", value=lambda row: row.between_runs),
        Column(key="diagnosed", value=lambda row: row.diagnosed),
        Column(key="memories", value=lambda row: row.memories),
        Column(key="incomplete_stores", value=lambda row: row.incomplete),
        Column(key="undecided_cells", value=lambda row: row.undecided_cells),
    ]


def _loss_column(name: str) -> Column[BoardRow]:
    return Column(
        key=name,
        value=lambda row: None if row.shares is None else row.shares[name],
        header=name,
        short=f"loses\n{name if len(name) < 7 else f'{name[:6]}.'}",
        show=lambda share: percent(share, 1),
        second=True,
        in_data=False,
        about=f"A loss: {LOSS_STEPS[name].reason}. The losses and what is {KEPT.name} sum to 100%.",
    )


DIFFERENCE_COLUMNS: list[Column[BoardDifference]] = [
    Column(key="budget", value=lambda gap: gap.budget, header="Budget", short="budget"),
    Column(key="measure", value=lambda gap: gap.measure),
    *(
        Column(
            key=name,
            value=attrgetter(name),
            header=name,
            short=name,
            is_store=True,
            words=True,
        )
        for name in ("first", "second")
    ),
    Column(
        key="difference",
        value=lambda gap: gap.difference,
        header="difference",
        short="difference",
        show=lambda mean: signed(mean.mean),
        under=lambda gap: ends(gap.difference),
        beside="95% interval",
    ),
    Column(key="p", value=lambda gap: gap.difference.p, header="p", show=p_value),
    Column(
        key="p_holm",
        value=lambda gap: gap.p_holm,
        header="p (Holm)",
        short="p (Holm)",
        show=p_value,
    ),
    Column(key="n", value=lambda gap: gap.difference.n, header="packages", short="n"),
    Column(
        key="verdict", value=lambda gap: gap.verdict, header="in words", short="verdict", words=True
    ),
    Column(key="clear", value=lambda gap: gap.clear),
]


def _mean(mean: Interval) -> str:
    return ratio(mean.mean)


def ends(mean: Interval) -> str:
    return span(mean.low, mean.high, missing="")


def behind(ahead: Sequence[str] | None) -> str:
    return f"behind {', '.join(ahead)}" if ahead else ""

"""Numbers of a board of memory systems: means, intervals, ranks, and what each system loses.

A mean is over conversations, of the mean over a system's runs, by the adjudicated labels. Systems
with scores on every conversation are ranked: 1 plus the number of systems that are clearly ahead.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from memaudit.core.errors import MemAuditError
from memaudit.core.objective import value as store_value
from memaudit.core.optimum import Optimum
from memaudit.core.package import Coverage
from memaudit.core.text import counted
from memaudit.report.system_differences import (
    CLEAR,
    MEASURES,
    Draws,
    SystemDifference,
    all_draws,
    by_conversation,
    differences_between,
    systems_ahead,
)
from memaudit.report.system_labels import PassAgreement, pass_agreement
from memaudit.report.system_rows import (
    SystemRow,
    budget_name,
    loss_shares,
    mean_of,
    mean_over,
    measure_name,
    rows_of,
    run_values,
    system_row,
)
from memaudit.scoring.board_folder import BoardFolder, BoardSystem
from memaudit.scoring.board_scores import ScoredConversation, score_board
from memaudit.scoring.result import ScoreResult, StoreScore
from memaudit.stats.bootstrap import Floats, Interval, outer_percentiles

FEW = 10
"""With fewer conversations, intervals and tests are rough."""
LEAST = 5
"""With fewer conversations there are no intervals: they would lie between a few values."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One system at one budget."""

    system: str
    score: Interval
    best_subset: Interval
    ahead: tuple[str, ...] | None
    """Systems whose score is clearly higher; None if this one is not ranked."""
    best_ahead: tuple[str, ...] | None
    """The same of the best subset."""
    random_cut: float
    """The mean score if stores that do not fit were cut at random."""
    by_conversation: dict[str, dict[str, float]]
    """By measure and conversation, the mean over runs."""
    by_pass: dict[str, dict[str, float]]
    """By measure and pass, the mean."""
    between_runs: dict[str, float | None]
    """By measure, the largest difference between two runs on one conversation."""
    runs: int
    fits: int
    kept_by: tuple[str, ...]
    losses: dict[str, float]

    @property
    def rank(self) -> int | None:
        return None if self.ahead is None else 1 + len(self.ahead)

    @property
    def best_rank(self) -> int | None:
        return None if self.best_ahead is None else 1 + len(self.best_ahead)


def ranked(standings: Sequence[Standing]) -> Sequence[Standing]:
    """Those with a rank, which sentences about a board are about; all where none has one."""
    return [one for one in standings if one.rank is not None] or standings


@dataclass(frozen=True, slots=True)
class Optima:
    """The optima of a budget, over conversations, by the adjudicated labels."""

    budget: str
    name: str
    """The budget with what it is counted in."""
    share: float
    """Mean share of all weight."""
    lowest: float
    highest: float
    certified: int
    number: int
    counted: int
    """Conversations that count: where scores are defined."""
    systems_alone: float
    """What OPT of the systems' memories, without the package's, is worth over OPT, its mean."""
    undivided: float
    """What optimal stores are worth over OPT if partial labels do not add up, the mean: two
    memories that keep a unit in part may lack the same part."""
    survival: float | None
    """What optimal stores chosen under one pass are worth under another, over what they were
    worth where they were chosen; the mean over conversations and pairs of passes."""


@dataclass(frozen=True, slots=True)
class SystemBoard:
    """Everything that a board shows. Systems of a budget are ordered by rank, then by mean."""

    title: str
    digest: str
    conversations: tuple[str, ...]
    passes: tuple[str, ...]
    budgets: tuple[tuple[Optima, tuple[Standing, ...]], ...]
    differences: tuple[SystemDifference, ...]
    """Between every two ranked systems, by budget and measure."""
    rows: tuple[SystemRow, ...]
    measure: str
    """What costs are counted in."""
    agreement: PassAgreement | None
    """Of the first two passes, if there are two."""
    largest_pass_shift: float
    """Largest distance between means under any two passes, over ranked systems, budgets and
    measures."""
    shifted: str
    """The system whose mean it is."""
    notes: tuple[str, ...]
    left_out: tuple[str, ...]

    def row(self, system: str) -> SystemRow:
        return next(row for row in self.rows if row.system == system)

    @property
    def every_optimum_is_certified(self) -> bool:
        return all(optima.certified == optima.number for optima, _ in self.budgets)


def system_board(
    folder: BoardFolder, watch: Callable[[int, int], None] | None = None
) -> SystemBoard:
    """Score a board and sum it up."""
    scored = score_board(folder, watch)
    known = [one for one in scored if len(one.results) == len(folder.passes)]
    if not known:
        reason = next(iter(_left_out(scored, folder)), "no labels")
        raise MemAuditError(f"{folder.folder}: no conversation could be scored; {reason}")
    budgets = []
    differences: list[SystemDifference] = []
    for asked in folder.plan.budgets:
        counting = [one for one in known if one.counts_at(asked)]
        draws = all_draws(folder, counting, asked)
        found = differences_between(folder, counting, asked, draws)
        differences += found
        standings = _standings(folder, counting, asked, draws, found)
        budgets.append((_optima(folder, known, asked), standings))
    shift, shifted = max(
        (
            (max(means.values()) - min(means.values()), standing.system)
            for _, standings in budgets
            for standing in ranked(standings)
            for means in standing.by_pass.values()
        ),
        default=(0.0, ""),
    )
    in_ranks = max(sum(one.ahead is not None for one in standings) for _, standings in budgets)
    text = json.dumps(folder.digest_parts, sort_keys=True)
    middle = folder.plan.budgets[len(folder.plan.budgets) // 2]
    return SystemBoard(
        title=folder.plan.title,
        digest=hashlib.sha256(text.encode()).hexdigest(),
        conversations=tuple(one.conversation for one in known),
        passes=folder.passes,
        budgets=tuple(budgets),
        differences=tuple(differences),
        rows=tuple(
            system_row(folder, known, system, middle)
            for system in folder.systems
            if any(rows_of(known, system, middle))
        ),
        measure=measure_name(folder),
        agreement=pass_agreement(folder, known, folder.systems),
        largest_pass_shift=shift,
        shifted=shifted,
        notes=(*folder.plan.notes, *_few(len(known), in_ranks)),
        left_out=tuple(_left_out(scored, folder)),
    )


def _few(conversations: int, systems: int) -> list[str]:
    """What few conversations do to the ranks of so many systems."""
    pairs = systems * (systems - 1) // 2
    if pairs and pairs * 2 / 2**conversations >= CLEAR:
        return [f"{counted(conversations, 'conversation')}: too few for any clear difference"]
    if conversations < FEW:
        return [f"{counted(conversations, 'conversation')} only: intervals and ranks are rough"]
    return []


def _left_out(scored: Sequence[ScoredConversation], folder: BoardFolder) -> list[str]:
    """Conversations and stores without scores, with the reason."""
    lines = []
    for one in scored:
        lines += [
            f"{row.store} on {row.package}: {row.reason}"
            if row.store
            else f"{row.package}: {row.reason}"
            for row in one.not_scored
        ]
        if len(one.results) < len(folder.passes) and not one.not_scored:
            lines.append(f"{one.conversation}: a pass has no labels for it")
    return lines


def _standings(
    folder: BoardFolder,
    known: Sequence[ScoredConversation],
    asked: str,
    draws: Draws,
    differences: Sequence[SystemDifference],
) -> tuple[Standing, ...]:
    standings = [
        _standing(
            folder,
            known,
            one,
            asked,
            {measure: draws[measure][one.name] for measure in MEASURES},
            {
                measure: systems_ahead(known, one, asked, measure, differences)
                for measure in MEASURES
            },
        )
        for one in folder.systems
        if one.name in draws["score"]
    ]
    return tuple(
        sorted(standings, key=lambda one: (one.rank is None, one.rank, -one.score.mean, one.system))
    )


def _interval(rows: Sequence[Sequence[StoreScore]], measure: str, drawn: Floats) -> Interval:
    number = sum(bool(run_values(runs, MEASURES[measure])) for runs in rows)
    defined = drawn[~np.isnan(drawn)]
    ends = outer_percentiles(defined) if len(defined) else (math.nan, math.nan)
    interval = Interval(number, mean_over(rows, MEASURES[measure]), *ends)
    return interval if number >= LEAST else replace(interval, low=math.nan, high=math.nan)


def _standing(
    folder: BoardFolder,
    known: Sequence[ScoredConversation],
    system: BoardSystem,
    asked: str,
    draws: Mapping[str, Floats],
    ahead: Mapping[str, tuple[str, ...] | None],
) -> Standing:
    rows = rows_of(known, system, asked)
    flat = [row for runs in rows for row in runs]
    return Standing(
        system=system.name,
        score=_interval(rows, "score", draws["score"]),
        best_subset=_interval(rows, "best_subset", draws["best_subset"]),
        ahead=ahead["score"],
        best_ahead=ahead["best_subset"],
        random_cut=_random_cut(known, rows),
        by_conversation={
            measure: by_conversation(known, system, asked, measure) for measure in MEASURES
        },
        by_pass={
            measure: {
                name: mean_over(rows_of(known, system, asked, name), MEASURES[measure])
                for name in folder.passes
            }
            for measure in MEASURES
        },
        between_runs={
            measure: max(
                (
                    max(values) - min(values)
                    for runs in rows
                    if len(values := run_values(runs, MEASURES[measure])) > 1
                ),
                default=None,
            )
            for measure in MEASURES
        },
        runs=len(flat),
        fits=sum(row.numbers.fits for row in flat),
        kept_by=tuple(sorted({row.kept_by for row in flat if not row.numbers.fits})),
        losses=loss_shares(rows),
    )


def _random_cut(known: Sequence[ScoredConversation], rows: Sequence[Sequence[StoreScore]]) -> float:
    return mean_of(
        [float(one.random_cuts[row.store, row.asked]) for row in runs]
        for one, runs in zip(known, rows, strict=True)
    )


def _optimum(result: ScoreResult, asked: str) -> Optimum:
    """OPT of the common union."""
    return next(row.optimum for row in result if row.asked == asked)


def _optima(folder: BoardFolder, known: Sequence[ScoredConversation], asked: str) -> Optima:
    shares, certified, survivals, undivided = [], 0, list[float](), list[float]()
    for one in known:
        adjudicated = one.results[folder.plan.labels]
        optimum = _optimum(adjudicated, asked)
        weight = sum(adjudicated.package.weights.values(), Fraction(0))
        shares.append(float(optimum.value / weight) if weight else 0.0)
        certified += all(
            _optimum(result, asked).status == "certified" for result in one.results.values()
        )
        if optimum.value:
            undivided.append(float(_undivided(adjudicated, optimum) / optimum.value))
        survivals += _survivals([one.results[name] for name in folder.plan.passes], asked)
    return Optima(
        asked,
        budget_name(folder, asked),
        sum(shares) / len(shares),
        min(shares),
        max(shares),
        certified,
        len(known),
        sum(one.counts_at(asked) for one in known),
        mean_of([float(one.systems_alone[asked])] for one in known if asked in one.systems_alone),
        mean_of([share] for share in undivided),
        sum(survivals) / len(survivals) if survivals else None,
    )


def _undivided(result: ScoreResult, optimum: Optimum) -> Fraction:
    """What the optimal store is worth if every unit counts as well as its best memory keeps it."""
    best: dict[str, Coverage] = {}
    for cell in result.union.coverage:
        if cell.candidate in optimum.store and (
            cell.unit not in best or cell.value > best[cell.unit].value
        ):
            best[cell.unit] = cell
    package = result.union.replace(coverage=tuple(best.values()))
    return store_value(package, optimum.store).low


def _survivals(results: Sequence[ScoreResult], asked: str) -> list[float]:
    """For every ordered pair of passes, what an optimal store keeps of its value."""
    found = []
    for here in results:
        optimum = _optimum(here, asked)
        found += [
            float(store_value(there.union, optimum.store).low / optimum.value)
            for there in results
            if there is not here and optimum.value
        ]
    return found

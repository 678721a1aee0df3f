"""The board of a folder of stores: means, intervals, ranks, and what the numbers rest on.

A mean is over conversations, of the mean over a system's runs, by the adjudicated labels. Its
interval combines three sources of uncertainty: each draw takes conversations with replacement; for
each of them one of the passes of labels, the same for all systems; and from a system's runs on it
as many as there are, with replacement.

Systems with scores on every conversation are ranked: 1 plus the number of systems that are clearly
ahead. One is clearly ahead of another if the sign-flip test of the paired differences by
conversation, corrected by Holm over all pairs of one measure at one budget, and the interval of the
difference both say so.
"""

import hashlib
import json
import math
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from memaudit.board.board import (
    BEST_SUBSET,
    CLEAR,
    COMPLETE,
    LEAN,
    SCORE,
    WHOLE,
    Board,
    BoardDifference,
    BoardRow,
    corrected,
    ranked,
)
from memaudit.board.board_folder import BoardFolder, BoardSystem
from memaudit.board.board_scores import ScoredConversation, score_board
from memaudit.board.board_system_rows import (
    Measure,
    MeasureSummary,
    PassAgreement,
    Row,
    SystemRow,
    WholeStores,
    budget_name,
    loss_shares,
    mean_of,
    mean_over,
    measure_name,
    pass_agreement,
    run_values,
    scores_of_runs,
    system_row,
    verdicts_of_runs,
)
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.objective import value as store_value
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.score.result import ScoreResult, StoreScore
from memaudit.kernel.score.score import StoreScorer
from memaudit.kernel.score.verdict import Verdict
from memaudit.kernel.stats.bootstrap import Interval, drawn_ends, layered_means
from memaudit.kernel.stats.paired_tests import Difference, sign_flip_test
from memaudit.kernel.words.text import counted

FEW = 10
"""With fewer conversations, intervals and tests are rough."""
LEAST = 5
"""With fewer conversations there are no intervals: they would lie between a few values."""

MEASURES: dict[str, Measure[StoreScore]] = {
    SCORE: lambda row: row.numbers.kept.ratio.value,
    BEST_SUBSET: lambda row: row.numbers.best.ratio.value,
}
WHOLE_MEASURES: dict[str, Measure[Verdict]] = {
    COMPLETE: lambda verdict: verdict.complete.value,
    LEAN: lambda verdict: verdict.lean,
}


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
    added_up: float
    """OPT over what it would be if two halves of a unit made it whole, the mean."""
    survival: float | None
    """What optimal stores chosen under one pass are worth under another, over what they were
    worth where they were chosen; the mean over conversations and pairs of passes."""


@dataclass(frozen=True, slots=True)
class SystemsBasis:
    """What the numbers of a board of systems rest on, and what it says about each system."""

    digest: str
    conversations: tuple[str, ...]
    passes: tuple[str, ...]
    optima: Mapping[str, Optima]
    """By budget."""
    systems: tuple[SystemRow, ...]
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
        return next(row for row in self.systems if row.system == system)

    @property
    def every_optimum_is_certified(self) -> bool:
        return all(optima.certified == optima.number for optima in self.optima.values())


def board_of_systems(folder: BoardFolder, watch: Callable[[int, int], None] | None = None) -> Board:
    """Score a board and sum it up."""
    scored = score_board(folder, watch)
    judged = [talk for talk in scored if len(talk.results) == len(folder.passes)]
    if not judged:
        reason = next(iter(_left_out(scored, folder)), "no labels")
        raise MemAuditError(f"{folder.folder}: no conversation could be scored; {reason}")
    # What a system loses is told at one budget, neither the tightest nor the most ample.
    middle = folder.plan.budgets[len(folder.plan.budgets) // 2]
    whole, whole_differences = _whole_stores(folder, judged)
    systems = tuple(
        sorted(
            (
                system_row(folder, judged, system, middle, whole[system.name])
                for system in folder.systems
                if system.name in whole
            ),
            key=lambda row: (row.rank is None, row.rank, -row.complete.mean, row.system),
        )
    )
    tags = {row.system: "marked" if row.marks else "" for row in systems}
    budgets: list[tuple[str, tuple[BoardRow, ...]]] = []
    differences: list[BoardDifference] = [*whole_differences]
    for budget in folder.plan.budgets:
        rows, gaps = _at_budget(folder, [t for t in judged if t.counts_at(budget)], budget, tags)
        budgets.append((budget, rows))
        differences += gaps
    shift, shifted = max(
        (
            (max(means.values()) - min(means.values()), row.store)
            for _, rows in budgets
            for row in ranked(rows)
            for means in (row.by_pass or {}).values()
        ),
        default=(0.0, ""),
    )
    in_ranks = max(sum(row.rank is not None for row in rows) for _, rows in budgets)
    text = json.dumps(folder.digest_parts, sort_keys=True)
    basis = SystemsBasis(
        digest=hashlib.sha256(text.encode()).hexdigest(),
        conversations=tuple(talk.conversation for talk in judged),
        passes=folder.passes,
        optima={budget: _optima(folder, judged, budget) for budget in folder.plan.budgets},
        systems=systems,
        measure=measure_name(folder),
        agreement=pass_agreement(folder, judged, folder.systems),
        largest_pass_shift=shift,
        shifted=shifted,
        notes=(*folder.plan.notes, *_few(len(judged), in_ranks)),
        left_out=tuple(_left_out(scored, folder)),
    )
    return Board(folder.plan.title, tuple(budgets), tuple(differences), systems=basis)


def _few(conversations: int, systems: int) -> list[str]:
    """What few conversations do to the ranks of so many systems."""
    pairs = systems * (systems - 1) // 2
    # The smallest p of a two-sided sign-flip test over n conversations is 2 / 2^n, and Holm
    # multiplies the smallest of all p by the number of pairs: if that is not clear, nothing can be.
    if pairs and pairs * 2 / 2**conversations >= CLEAR:
        return [f"{counted(conversations, 'conversation')}: too few for any clear difference"]
    if conversations < FEW:
        return [f"{counted(conversations, 'conversation')} only: intervals and ranks are rough"]
    return []


def _left_out(scored: Sequence[ScoredConversation], folder: BoardFolder) -> list[str]:
    """Conversations and stores without scores, with the reason."""
    lines = []
    for talk in scored:
        lines += [
            f"{row.store} on {row.package}: {row.reason}"
            if row.store
            else f"{row.package}: {row.reason}"
            for row in talk.not_scored
        ]
        if len(talk.results) < len(folder.passes) and not talk.not_scored:
            lines.append(f"{talk.conversation}: a pass has no labels for it")
    return lines


def _at_budget(
    folder: BoardFolder, talks: Sequence[ScoredConversation], budget: str, tags: Mapping[str, str]
) -> tuple[tuple[BoardRow, ...], list[BoardDifference]]:
    """The rows of a budget, over the conversations that count there, and their differences."""
    scores = {
        system.name: scores_of_runs(talks, system, budget, folder.plan.labels)
        for system in folder.systems
    }
    summaries = {
        system.name: {
            measure: _summary(folder, talks, system, by_pass, of)
            for measure, of in MEASURES.items()
        }
        for system in folder.systems
        if any(scores[system.name])
        for by_pass in [
            {name: scores_of_runs(talks, system, budget, name) for name in folder.passes}
        ]
    }
    differences = [
        gap
        for measure in MEASURES
        for gap in _differences(
            budget, measure, {name: own[measure] for name, own in summaries.items()}, len(talks)
        )
    ]
    rows = [
        BoardRow(
            budget=budget,
            store=name,
            score=own[SCORE].mean,
            best_subset=own[BEST_SUBSET].mean,
            shares=loss_shares(scores[name]),
            stores=sum(map(len, scores[name])),
            fits=sum(run.numbers.fits for runs in scores[name] for run in runs),
            tag=tags[name],
            ahead=_ahead(name, SCORE, own, differences, len(talks)),
            best_ahead=_ahead(name, BEST_SUBSET, own, differences, len(talks)),
            random_cut=mean_over(scores[name], _random_cut),
            kept_by=_kept_by(scores[name]),
            by_conversation={measure: of.by_conversation for measure, of in own.items()},
            by_pass={measure: of.by_pass for measure, of in own.items()},
            between_runs={measure: of.between_runs for measure, of in own.items()},
        )
        for name, own in summaries.items()
    ]
    # Whether there is a rank comes first, so that None is compared with None alone.
    rows.sort(key=lambda row: (row.rank is None, row.rank, -row.score.mean, row.store))
    return tuple(rows), differences


def _whole_stores(
    folder: BoardFolder, talks: Sequence[ScoredConversation]
) -> tuple[dict[str, WholeStores], list[BoardDifference]]:
    """By system, how complete and lean its stores are, and who is clearly ahead of it."""
    measures = {}
    for system in folder.systems:
        by_pass = {name: verdicts_of_runs(talks, system, name) for name in folder.passes}
        if any(by_pass[folder.plan.labels]):
            measures[system.name] = {
                name: _summary(folder, talks, system, by_pass, of)
                for name, of in WHOLE_MEASURES.items()
            }

    def differences(measure: str, names: Collection[str]) -> list[BoardDifference]:
        own = {name: measures[name][measure] for name in names}
        return _differences(WHOLE, measure, own, len(talks))

    complete = differences(COMPLETE, measures)
    ahead = {
        name: _ahead(name, COMPLETE, own, complete, len(talks)) for name, own in measures.items()
    }
    # A store that says little is lean easily: only those that nobody leads clearly are compared.
    unled = [name for name, others in ahead.items() if others == ()]
    lean = differences(LEAN, unled)
    return {
        name: WholeStores(
            own,
            ahead[name],
            _ahead(name, LEAN, own, lean, len(talks)) if name in unled else None,
        )
        for name, own in measures.items()
    }, [*complete, *lean]


def _summary(
    folder: BoardFolder,
    talks: Sequence[ScoredConversation],
    system: BoardSystem,
    by_pass: Mapping[str, Sequence[Sequence[Row]]],
    of: Measure[Row],
) -> MeasureSummary:
    tables = [
        np.array([[_number(of(run)) for run in rows[at]] for rows in by_pass.values()])
        for at in range(len(talks))
    ]
    # The draws of runs follow from the stores, whatever the row is called.
    seed = zlib.crc32("".join(run.store.digest for run in system.runs).encode())
    draws = layered_means(tables, len(folder.passes), seed)
    values = [run_values(runs, of) for runs in by_pass[folder.plan.labels]]
    number = sum(map(bool, values))
    low, high = drawn_ends(draws) if number >= LEAST else (math.nan, math.nan)
    return MeasureSummary(
        mean=Interval(number, mean_of(values), low, high),
        by_conversation={
            talk.conversation: sum(own) / len(own)
            for talk, own in zip(talks, values, strict=True)
            if own
        },
        by_pass={name: mean_over(rows, of) for name, rows in by_pass.items()},
        between_runs=max((max(own) - min(own) for own in values if len(own) > 1), default=None),
        draws=draws,
    )


def _number(value: Fraction | float | None) -> float:
    return math.nan if value is None else float(value)


def _differences(
    budget: str, measure: str, summaries: Mapping[str, MeasureSummary], talks: int
) -> list[BoardDifference]:
    """Between every two systems with scores on every conversation."""
    # The test is paired: both systems need a mean on every conversation.
    everywhere = [
        name for name, summary in summaries.items() if len(summary.by_conversation) == talks
    ]
    pairs = list(combinations(everywhere, 2))
    if not pairs:
        return []
    means = {name: np.array([*summaries[name].by_conversation.values()]) for name in everywhere}
    gaps = np.stack([means[first] - means[second] for first, second in pairs], axis=1)
    differences = []
    for (first, second), gap, p in zip(pairs, gaps.T, sign_flip_test(gaps), strict=True):
        low, high = drawn_ends(summaries[first].draws - summaries[second].draws)
        difference = Difference(talks, float(gap.mean()), low, high, float(p))
        differences.append(BoardDifference(budget, measure, first, second, difference, math.nan))
    return corrected(differences)


def _ahead(
    system: str,
    measure: str,
    own: Mapping[str, MeasureSummary],
    differences: Sequence[BoardDifference],
    talks: int,
) -> tuple[str, ...] | None:
    """The systems clearly ahead of a system; None if it lacks a score somewhere."""
    if len(own[measure].by_conversation) < talks:
        return None
    return tuple(
        gap.ahead
        for gap in differences
        if gap.measure == measure
        and gap.clear
        and system in (gap.first, gap.second)
        and gap.ahead != system
    )


def _kept_by(rows: Sequence[Sequence[StoreScore]]) -> tuple[str, ...]:
    """The policies that cut stores over budget."""
    return tuple(sorted({run.kept_by for runs in rows for run in runs if not run.numbers.fits}))


def _random_cut(row: StoreScore) -> Fraction | None:
    return None if row.random_cut is None else row.random_cut.value


def _optimum(result: ScoreResult, asked: str) -> Optimum:
    """OPT of the common union."""
    return next(row.optimum for row in result if row.asked == asked)


def _optima(folder: BoardFolder, talks: Sequence[ScoredConversation], budget: str) -> Optima:
    shares, certified, survivals, added_up = [], 0, list[float](), list[float]()
    for talk in talks:
        adjudicated = talk.results[folder.plan.labels]
        optimum = _optimum(adjudicated, budget)
        weight = sum(adjudicated.package.weights.values(), Fraction(0))
        shares.append(float(optimum.value / weight) if weight else 0.0)
        certified += all(
            _optimum(result, budget).status == "certified" for result in talk.results.values()
        )
        if optimum.value:
            added_up.append(float(optimum.value / _added_up(adjudicated, optimum.budget)))
        survivals += _survivals([talk.results[name] for name in folder.plan.passes], budget)
    return Optima(
        budget,
        budget_name(folder, budget),
        sum(shares) / len(shares),
        min(shares),
        max(shares),
        certified,
        len(talks),
        sum(talk.counts_at(budget) for talk in talks),
        mean_of(
            [float(talk.systems_alone[budget])] for talk in talks if budget in talk.systems_alone
        ),
        mean_of([share] for share in added_up),
        sum(survivals) / len(survivals) if survivals else None,
    )


def _added_up(result: ScoreResult, budget: Fraction) -> Fraction:
    """OPT if two halves of a unit made it whole; see kernel/score/core_and_rest.py."""
    scorer = StoreScorer(result.package, result.stores, result.scoring.group_cap, additive=True)
    return scorer.common_optimum(budget).value


def _survivals(results: Sequence[ScoreResult], asked: str) -> list[float]:
    """For every ordered pair of passes, what an optimal store keeps of its value."""
    return [
        float(store_value(there.union, optimum.store).low / optimum.value)
        for here in results
        if (optimum := _optimum(here, asked)).value
        for there in results
        if there is not here
    ]

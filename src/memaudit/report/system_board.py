"""Numbers of a board of memory systems: means, intervals, ranks, and what each system loses.

A mean is over conversations, of the mean over a system's runs, by the adjudicated labels. The
interval of a mean takes three doubts together. Each draw takes conversations with replacement, for
each of them one of the passes of labels (the same for all systems), and adds a deviation between
runs: of a system's conversations with several runs, r - mean scaled by sqrt(n / (n - 1)), over the
square root of the number of runs that the drawn conversation has.

A system is behind another if the paired differences by conversation are clear: the sign-flip test,
corrected by Holm over all pairs of a measure, and the interval of the difference both say so. Its
rank is 1 plus the number of systems that it is behind.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from memaudit.core.errors import MemAuditError
from memaudit.core.objective import value as store_value
from memaudit.core.text import counted
from memaudit.report.system_rows import SystemRow, loss_shares, mean_over, rows_of, system_row
from memaudit.scoring.board_folder import (
    BoardFolder,
    BoardSystem,
    ScoredConversation,
)
from memaudit.scoring.result import ScoreResult, StoreScore
from memaudit.stats.agreement_coefficients import kappa_of_pairs
from memaudit.stats.bootstrap import RESAMPLES, Floats, Interval, outer_percentiles
from memaudit.stats.paired_tests import holm, sign_flip_test

CLEAR = 0.05
FEW = 10
"""With fewer conversations, intervals and tests are rough."""

MEASURES: dict[str, Callable[[StoreScore], Fraction | None]] = {
    "score": lambda row: row.numbers.kept.ratio.value,
    "best_subset": lambda row: row.numbers.best.ratio.value,
}


@dataclass(frozen=True, slots=True)
class Standing:
    """One system at one budget."""

    system: str
    score: Interval
    best_subset: Interval
    rank: int
    best_rank: int
    by_pass: dict[str, dict[str, float]]
    """By measure and pass, the mean."""
    between_runs: dict[str, float | None]
    """By measure, the largest difference between two runs on one conversation."""
    fits: int
    kept_by: tuple[str, ...]
    losses: dict[str, float]


@dataclass(frozen=True, slots=True)
class Optima:
    """The optima of a budget, over conversations, by the adjudicated labels."""

    budget: str
    share: float
    """Mean share of all weight."""
    lowest: float
    highest: float
    certified: int
    number: int
    survival: float | None
    """What optimal stores chosen under one pass are worth under another, over what they were
    worth where they were chosen; the mean over conversations and pairs of passes."""


@dataclass(frozen=True, slots=True)
class PassAgreement:
    """How far two blind passes agree on what the systems wrote."""

    pairs: int
    differ: int
    kappa: tuple[float, ...]
    """By conversation, where it is defined."""


@dataclass(frozen=True, slots=True)
class SystemBoard:
    """Everything that a board shows. Systems of a budget are ordered by rank, then by mean."""

    title: str
    digest: str
    conversations: tuple[str, ...]
    passes: tuple[str, ...]
    budgets: tuple[tuple[Optima, tuple[Standing, ...]], ...]
    rows: tuple[SystemRow, ...]
    agreement: PassAgreement | None
    """Of the first two passes, if there are two."""
    largest_pass_shift: float
    """Largest distance between means under any two passes, over systems, budgets and measures."""
    notes: tuple[str, ...]
    left_out: tuple[str, ...]
    results: tuple[tuple[str, ScoreResult], ...]
    """By conversation, the scores by the adjudicated labels."""

    def row(self, system: str) -> SystemRow:
        return next(row for row in self.rows if row.system == system)

    @property
    def every_optimum_is_certified(self) -> bool:
        return all(optima.certified == optima.number for optima, _ in self.budgets)


def system_board(
    folder: BoardFolder, watch: Callable[[int, int], None] | None = None
) -> SystemBoard:
    """Score a board and sum it up."""
    scored = folder.scored(watch)
    known = [one for one in scored if len(one.results) == len(folder.passes)]
    if not known:
        reason = next((row.reason for one in scored for row in one.not_scored), "no labels")
        raise MemAuditError(f"{folder.folder}: no conversation could be scored: {reason}")
    budgets = []
    shift = 0.0
    for asked in folder.plan.budgets:
        optima = _optima(folder, known, asked)
        standings = _standings(folder, known, asked)
        for standing in standings:
            for means in standing.by_pass.values():
                shift = max(shift, max(means.values()) - min(means.values()))
        budgets.append((optima, standings))
    text = json.dumps(folder.digest_parts, sort_keys=True)
    middle = folder.plan.budgets[len(folder.plan.budgets) // 2]
    return SystemBoard(
        title=folder.plan.title,
        digest=hashlib.sha256(text.encode()).hexdigest(),
        conversations=tuple(one.conversation for one in known),
        passes=folder.passes,
        budgets=tuple(budgets),
        rows=tuple(
            system_row(folder, known, system, middle)
            for system in folder.systems
            if any(rows_of(known, system, middle))
        ),
        agreement=_agreement(known, folder.plan.passes),
        largest_pass_shift=shift,
        notes=(*folder.plan.notes, *_few(len(known))),
        left_out=tuple(_left_out(scored, folder)),
        results=tuple((one.conversation, one.results[folder.plan.labels]) for one in known),
    )


def _agreement(known: Sequence[ScoredConversation], passes: Sequence[str]) -> PassAgreement | None:
    if len(passes) < 2:
        return None
    every: Counter[tuple[Fraction, Fraction]] = Counter()
    kappas = []
    for one in known:
        first, second = (_coverage(one.results[name]) for name in passes[:2])
        pairs = Counter(
            (first[text].get(unit.id, Fraction(0)), second[text].get(unit.id, Fraction(0)))
            for text in first
            for unit in one.results[passes[0]].package.units
        )
        every += pairs
        if (kappa := kappa_of_pairs(pairs)) is not None:
            kappas.append(float(kappa))
    differ = sum(number for (a, b), number in every.items() if a != b)
    return PassAgreement(every.total(), differ, tuple(kappas))


def _coverage(result: ScoreResult) -> dict[str, dict[str, Fraction]]:
    """By distinct text of a memory, what it covers."""
    return {
        memory.text: {unit: cell.value for unit, cell in memory.coverage.items()}
        for store in result.stores
        for memory in store.memories
    }


def _few(conversations: int) -> list[str]:
    if conversations >= FEW:
        return []
    return [f"{counted(conversations, 'conversation')} only: intervals and ranks are rough"]


def _left_out(scored: Sequence[ScoredConversation], folder: BoardFolder) -> list[str]:
    """Conversations and stores without scores, with the reason."""
    lines = []
    for one in scored:
        if len(one.results) < len(folder.passes):
            reason = one.not_scored[0].reason if one.not_scored else "a pass has no labels for it"
            lines.append(f"{one.conversation}: {reason}")
        else:
            lines += [f"{row.store} on {row.package}: {row.reason}" for row in one.not_scored]
    return lines


def _means(rows: Sequence[Sequence[StoreScore]], measure: str) -> Floats:
    """By conversation, the mean over runs; NaN where a system has none."""
    values = [
        [float(value) for row in of_one if (value := MEASURES[measure](row)) is not None]
        for of_one in rows
    ]
    return np.array([sum(one) / len(one) if one else math.nan for one in values])


def _deviations(rows: Sequence[Sequence[StoreScore]], measure: str) -> list[float]:
    """How far single runs are from their mean, as if the mean were known."""
    found = []
    for of_one in rows:
        values = [float(value) for row in of_one if (value := MEASURES[measure](row)) is not None]
        n = len(values)
        if n > 1:
            mean = sum(values) / n
            found += [(value - mean) * math.sqrt(n / (n - 1)) for value in values]
    return found


def _draws(
    folder: BoardFolder, known: Sequence[ScoredConversation], system: BoardSystem, asked: str,
    measure: str, seed: int,
) -> Floats:  # fmt: skip
    """Means of the system in every draw of conversations, passes and runs."""
    dice = np.random.default_rng(0)  # conversations and passes are drawn alike for all systems
    count = len(known)
    by_pass = np.array([
        _means(rows_of(known, system, asked, name), measure) for name in folder.passes
    ])  # fmt: skip
    adjudicated = rows_of(known, system, asked)
    chosen = dice.integers(0, count, size=(RESAMPLES, count))
    passes = dice.integers(0, len(folder.passes), size=(RESAMPLES, count))
    values = by_pass[passes, chosen]
    deviations = np.array(_deviations(adjudicated, measure))
    if len(deviations):
        of_runs = np.random.default_rng([seed, 1])
        number = np.array([max(1, len(rows)) for rows in adjudicated])
        values = values + of_runs.choice(deviations, size=values.shape) / np.sqrt(number[chosen])
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore"):  # a draw of conversations that the system was not run on
        means: Floats = np.where(there, values, 0.0).sum(axis=1) / there.sum(axis=1)
    return means


def _standings(
    folder: BoardFolder, known: Sequence[ScoredConversation], asked: str
) -> tuple[Standing, ...]:
    systems = [one for one in folder.systems if any(rows_of(known, one, asked))]
    intervals: dict[str, list[Interval]] = {}
    ranks: dict[str, list[int]] = {}
    for measure in MEASURES:
        means = [_means(rows_of(known, one, asked), measure) for one in systems]
        draws = [
            _draws(folder, known, one, asked, measure, seed) for seed, one in enumerate(systems)
        ]
        intervals[measure] = [
            Interval(
                int((~np.isnan(mean)).sum()), float(np.nanmean(mean)), *_ends(drawn)
            ).if_several
            for mean, drawn in zip(means, draws, strict=True)
        ]
        ranks[measure] = _ranks(means, draws)
    standings = [
        _standing(folder, known, one, asked, intervals["score"][at], intervals["best_subset"][at],
                  ranks["score"][at], ranks["best_subset"][at])
        for at, one in enumerate(systems)
    ]  # fmt: skip
    return tuple(sorted(standings, key=lambda one: (one.rank, -one.score.mean, one.system)))


def _ends(drawn: Floats) -> tuple[float, float]:
    known = drawn[~np.isnan(drawn)]
    return outer_percentiles(known) if len(known) else (math.nan, math.nan)


def _ranks(means: Sequence[Floats], draws: Sequence[Floats]) -> list[int]:
    """1 plus the number of systems that are clearly ahead."""
    pairs = list(combinations(range(len(means)), 2))
    if not pairs:
        return [1] * len(means)
    gaps = np.stack([means[a] - means[b] for a, b in pairs], axis=1)
    tests = holm(sign_flip_test(np.where(np.isnan(gaps), 0.0, gaps)))
    behind = [0] * len(means)
    for (a, b), gap, p in zip(pairs, gaps.T, tests, strict=True):
        low, high = _ends(draws[a] - draws[b])
        if p < CLEAR and (low > 0 or high < 0):
            behind[b if np.nansum(gap) > 0 else a] += 1
    return [1 + number for number in behind]


def _standing(
    folder: BoardFolder, known: Sequence[ScoredConversation], system: BoardSystem, asked: str,
    score: Interval, best: Interval, rank: int, best_rank: int,
) -> Standing:  # fmt: skip
    rows = rows_of(known, system, asked)
    flat = [row for of_one in rows for row in of_one]
    return Standing(
        system=system.name,
        score=score,
        best_subset=best,
        rank=rank,
        best_rank=best_rank,
        by_pass={
            measure: {
                name: mean_over(rows_of(known, system, asked, name), MEASURES[measure])
                for name in folder.passes
            }
            for measure in MEASURES
        },
        between_runs={measure: _between_runs(rows, measure) for measure in MEASURES},
        fits=sum(row.numbers.fits for row in flat),
        kept_by=tuple(sorted({row.kept_by for row in flat})),
        losses=loss_shares(rows),
    )


def _between_runs(rows: Sequence[Sequence[StoreScore]], measure: str) -> float | None:
    spans = []
    for of_one in rows:
        values = [float(value) for row in of_one if (value := MEASURES[measure](row)) is not None]
        if len(values) > 1:
            spans.append(max(values) - min(values))
    return max(spans, default=None)


def _optima(folder: BoardFolder, known: Sequence[ScoredConversation], asked: str) -> Optima:
    shares, certified, survivals = [], 0, []
    for one in known:
        adjudicated = one.results[folder.plan.labels]
        optimum = next(row.optimum for row in adjudicated if row.asked == asked)
        weight = sum(adjudicated.package.weights.values(), Fraction(0))
        shares.append(float(optimum.value / weight) if weight else 0.0)
        certified += all(
            row.optimum.status == "certified"
            for result in one.results.values()
            for row in result
            if row.asked == asked
        )
        survivals += _survivals([one.results[name] for name in folder.plan.passes], asked)
    return Optima(
        asked, sum(shares) / len(shares), min(shares), max(shares), certified, len(known),
        sum(survivals) / len(survivals) if survivals else None,
    )  # fmt: skip


def _survivals(results: Sequence[ScoreResult], asked: str) -> list[float]:
    """For every ordered pair of passes, what an optimal store keeps of its value."""
    found = []
    for here in results:
        optimum = next(row.optimum for row in here if row.asked == asked)
        found += [
            float(store_value(there.union, optimum.store).low / optimum.value)
            for there in results
            if there is not here and optimum.value
        ]
    return found

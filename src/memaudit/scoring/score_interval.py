"""What the error of the offline judge does to scores: intervals, and the level of chance.

The judge's file says how wrong it is on conversations it was not fitted to. An interval is made of
draws: each takes the labels of all pairs, of stores and package alike, from the judge's calibrated
probabilities, and scores what the store keeps over the certified optimum of that draw. So an error
that favours the optimum counts against the score, as it does in truth.

The level of chance is what the same memories score against units of conversations they cannot be
about, those that come with the program. A store that scores no more is unrelated to the package.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import fmean, stdev

from memaudit.core.package import Package
from memaudit.natural.named_packages import long_set
from memaudit.scoring.candidate_cells import judge_candidates
from memaudit.scoring.judged_store import judge_store
from memaudit.scoring.judges import MemoryText
from memaudit.scoring.offline_judge import OfflineJudge
from memaudit.scoring.readable import is_readable
from memaudit.scoring.result import ScoreResult, StoreScore
from memaudit.scoring.score import StoreScorer

DRAWS = 24
DEVIATIONS = 2.0
"""An interval reaches so many standard deviations of the draws to both sides of their mean."""
SECONDS = 2.0
"""Of a solve in a draw. Where it is not enough, both ends of the score count."""

STRANGERS = 4
"""Conversations for the level of chance."""

Progress = Callable[[int, int], None]


def with_intervals(
    result: ScoreResult, draws: int = DRAWS, progress: Progress = lambda _done, _all: None
) -> ScoreResult:
    """The result with an interval and the level of chance for every score by an offline judge."""
    judges = set(result.scoring.judges.values())
    if len(judges) != 1 or draws < 2:
        return result
    (judge,) = judges
    if not isinstance(judge, OfflineJudge):
        return result
    ends: list[list[tuple[float, float]]] = [[] for _ in result.rows]
    for draw in range(draws):
        progress(draw, draws)
        for row, found in zip(ends, _drawn_scores(result, judge, draw), strict=True):
            if found is not None:
                row.append(found)
    progress(draws, draws)
    strangers = _Strangers(result, judge)
    rows = tuple(
        replace(row, interval=interval_of(found), chance=strangers.chance(result, row))
        for row, found in zip(result.rows, ends, strict=True)
    )
    return replace(result, rows=rows)


def _drawn_scores(
    result: ScoreResult, judge: OfflineJudge, draw: int
) -> Sequence[tuple[float, float] | None]:
    """Per row, what the score lies between under one draw; None where OPT is 0 there."""
    package, scoring = result.source, result.scoring
    bound = judge.for_package(package)
    stores = [
        judge_store(package, store, bound.drawn(draw, store.name), scoring.salience)
        for store in result.exported
    ]
    judged = package
    if not scoring.trust_package_cells:
        judged = judge_candidates(package, bound.drawn(draw, ""))
    limit = SECONDS if scoring.seconds is None else min(SECONDS, scoring.seconds)
    scorer = StoreScorer(judged, stores, scoring.group_cap, limit)
    by_name = {store.name: store for store in scorer.stores}
    found: list[tuple[float, float] | None] = []
    for row in result.rows:
        ratio = scorer.score(by_name[row.store], row.budget, scoring.policy)
        if ratio.value is not None:
            found.append((float(ratio.value), float(ratio.value)))
        else:
            between = ratio.between
            found.append(None if between is None else (float(between[0]), float(between[1])))
    return found


def interval_of(found: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """From both ends of the scores of draws."""
    if len(found) < 2:
        return None
    lows, highs = zip(*found, strict=True)
    low, high = fmean(lows), fmean(highs)
    spread_low, spread_high = stdev(lows), stdev(highs)
    return (
        max(0.0, low - DEVIATIONS * spread_low),
        min(1.0, high + DEVIATIONS * spread_high),
    )


class _Strangers:
    """Conversations that the memories of a result cannot be about, as units to judge them by."""

    def __init__(self, result: ScoreResult, judge: OfflineJudge) -> None:
        own = {unit.text for unit in result.source.units}
        self._judge = judge
        self._packages = [
            package
            for package in long_set()
            if own.isdisjoint(unit.text for unit in package.units)
            and is_readable(judge, package)
        ][:STRANGERS]

    def chance(self, result: ScoreResult, row: StoreScore) -> float | None:
        """The highest score that the kept memories have against the units of another conversation:
        the share of its units that they cover, of the weight of the package, over OPT."""
        optimum = row.optimum.value
        (store,) = (one for one in result.stores if one.name == row.store)
        kept = set(row.numbers.kept.ids)
        texts = {memory.text for memory in store.memories if store.candidate_id(memory) in kept}
        if not optimum or not self._packages:
            return None
        weight = sum(result.source.weights.values(), Fraction(0))
        most = max(self._share(package, sorted(texts)) for package in self._packages)
        return min(1.0, most * float(weight / optimum))

    def _share(self, package: Package, texts: Sequence[str]) -> float:
        memories = [MemoryText(text, text) for text in texts]
        judged = self._judge.for_package(package).judge(memories, package.units)
        covered = Counter[str]()
        for own in judged.cells.values():
            for unit, cell in own.items():
                covered[unit] += float(cell.value)
        return sum(min(1.0, amount) for amount in covered.values()) / len(package.units)

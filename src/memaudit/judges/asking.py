"""Asking another judge only about the pairs that a verdict hangs on.

The offline judge scores first. Its draws say which memories the scores and optima are made of, and
how doubtful each of their pairs is. The most influential pairs are asked, their answers replace
what the offline judge thinks, and everything is scored again. It ends when the verdict is settled:

- a minimum: no interval contains it;
- an order of stores: no two neighbours differ by less than the draws of their difference spread;
- a width: no interval is wider;

or when it is certain: whatever the other judge would say about the pairs in doubt that were not
asked, no score changes.

Why that is certain. F does not fall if a cell rises. So OPT under all answers lies between OPT with
unasked pairs at 0 and OPT with them at 1, and so does what a store keeps. Where both ends are equal
for the optimum and for what is kept, the score is known. While they are not, the stores that are
best with unasked pairs at 1 say what to ask next. Pairs that the offline judge does not doubt stay
with its labels: that is the price of asking less.

A statement with parts is asked about as a whole.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from statistics import stdev

import numpy as np

from memaudit.judges.offline_judge import LEAST_DOUBT, OfflineJudge, OpenJudge, doubt
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.unit_parts import WholeUnit
from memaudit.kernel.score.judge import Cell, Judge, MemoryText, ask_judge, for_package, goes_by_id
from memaudit.kernel.score.judging import judge_candidates, judge_store
from memaudit.kernel.score.package_scores import score_package
from memaudit.kernel.score.result import Asked, ScoreResult, Scoring
from memaudit.kernel.score.score import OPTIMUM_IS_ZERO, StoreScorer
from memaudit.kernel.score.score_interval import (
    DEVIATIONS,
    SECONDS,
    ScoredDraw,
    chosen_texts,
    score_draw,
    with_draws,
)

# Every round scores again and solves every draw. Smaller rounds spend more on that than on asking;
# larger ones ask about pairs that the first answers would have made irrelevant.
AT_ONCE = 100
"""Pairs of a round."""
WIDTH = 0.1
"""How wide the interval of a single store may be in the end."""
# Less than a single draw of the usual 24 gives, so pairs that some draw rests on come before them.
UNLIKELY = 1e-3
"""The part that a memory takes which only the upper bounds choose: such pairs come last."""

TextPair = tuple[str, str]
"""The text of a memory and the id of a statement."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to be settled: a minimum, a width, or without either the order of the stores."""

    minimum: float | None = None
    width: float | None = None

    @property
    def text(self) -> str:
        if self.minimum is not None:
            return f"whether scores reach {self.minimum:g} is"
        if self.width is not None:
            return f"intervals at most {self.width:g} wide are"
        return "the order of the stores is"

    def is_settled(self, result: ScoreResult, draws: Sequence[ScoredDraw]) -> bool:
        """Never while a score is undefined."""
        intervals = [row.interval for row in result.rows if row.interval is not None]
        if len(intervals) < len(result.rows):
            return False
        if self.minimum is not None:
            # A score that equals the minimum passes, so an interval that begins there is settled.
            return not any(low < self.minimum <= high for low, high in intervals)
        if self.width is not None:
            return all(high - low <= self.width for low, high in intervals)
        return all(_differ(result, draws, better, worse) for better, worse in _neighbours(result))


def usual_goal(stores: int) -> Goal:
    """The order of several stores; of a single one, a narrow interval."""
    return Goal(width=WIDTH) if stores == 1 else Goal()


def _neighbours(result: ScoreResult) -> list[tuple[int, int]]:
    """Rows of one budget that follow each other by score."""
    by_budget: dict[str, list[int]] = {}
    for place, row in enumerate(result.rows):
        if row.score is not None:
            by_budget.setdefault(row.asked, []).append(place)
    return [
        pair
        for places in by_budget.values()
        for pair in pairwise(sorted(places, key=lambda at: -(result.rows[at].score or 0)))
    ]


def _differ(result: ScoreResult, draws: Sequence[ScoredDraw], better: int, worse: int) -> bool:
    """Whether two scores differ by more than the draws of their difference spread."""
    # Compared draw by draw: an error that helps both stores, or their common optimum, cancels in
    # the difference. Two intervals may overlap while the order of their stores is settled.
    both = [(draw.scores[better], draw.scores[worse]) for draw in draws]
    gaps = [a - b for a, b in both if a is not None and b is not None]
    scores = result.rows[better].score, result.rows[worse].score
    # A deviation needs two draws; with fewer, nothing is known of the error and nothing is settled.
    if len(gaps) < 2 or None in scores:
        return False
    return (scores[0] or 0) - (scores[1] or 0) > DEVIATIONS * stdev(gaps)


@dataclass(frozen=True, slots=True)
class AskPlan:
    """Whom to ask, for what, and about how many pairs of a package at most."""

    judge: Judge
    goal: Goal | None = None
    """None for the usual one of so many stores."""
    max_cells: int | None = None
    round_cells: int = AT_ONCE
    progress: Callable[[Asked], None] = lambda _: None


def score_asking(
    package: Package, exported: Sequence[ExportedStore], scoring: Scoring, plan: AskPlan
) -> ScoreResult:
    """Score by the offline judge, and ask another one until the verdict is settled or certain."""
    judge = _offline(scoring, plan.judge)
    goal = plan.goal or usual_goal(len(exported))
    answers: dict[str, dict[str, dict[str, Cell]]] = {}
    asked: set[TextPair] = set()
    rounds = 0
    # Each round asks at least one pair that was not asked before, answered or not, so it ends: at
    # the latest when every pair in doubt was asked.
    while True:
        name = f"{judge.name}, then {plan.judge.name}" if asked else judge.name
        answered = judge.answered(name, answers)
        # Draws are made below, since the goal and the next pairs need them and not only their
        # intervals.
        own = replace(scoring, judges=dict.fromkeys(scoring.judges, answered), draws=0)
        result = score_package(package, exported, own)
        result = replace(result, scoring=replace(own, draws=scoring.draws))
        draws = [score_draw(result, answered, draw) for draw in range(scoring.draws)]
        result = with_draws(result, answered, draws)
        settled = goal.is_settled(result, draws)
        # Bounds cost two more solves per budget: not needed once the goal is reached.
        bounds = Bounds(frozenset(), {}) if settled else bounds_of(result, answered)
        pairs = [
            (text, whole)
            for text, whole in doubtful_pairs(result, answered, draws, bounds.best)
            if (text, whole.id) not in asked
        ]
        state = Asked(
            plan.judge.name,
            goal.text,
            len(asked),
            len(pairs) + len(asked),
            rounds,
            settled,
            bounds.certain,
            bounds.optimum,
        )
        plan.progress(state)
        left = plan.round_cells if plan.max_cells is None else plan.max_cells - len(asked)
        batch = pairs[: min(plan.round_cells, max(0, left))]
        if settled or bounds.certain or not batch:
            return replace(result, asked=state)
        for text, known in _ask(plan.judge, result.original_package, batch).items():
            answers.setdefault(text, {}).update(known)
        asked |= {(text, whole.id) for text, whole in batch}
        judge = answered.answered(judge.name, {})  # remembers the probabilities
        rounds += 1


def _offline(scoring: Scoring, other: Judge) -> OfflineJudge:
    """The offline judge of all stores, if the other judge can settle what it doubts."""
    judges = set(scoring.judges.values())
    judge = next(iter(judges))
    # Several judges mean labels for some stores, whose cells are not in doubt.
    if len(judges) != 1 or not isinstance(judge, OfflineJudge):
        raise MemAuditError("only an offline judge says which pairs are in doubt")
    if other.is_estimate or goes_by_id(other):
        raise MemAuditError(
            f"asking less needs a judge that knows better, by texts, and {other.name} does not; "
            "give model:NAME, or labels:FILE with the texts of memories"
        )
    return judge


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is certain of a result, whatever the answers about unasked pairs would be."""

    best: Collection[str]
    """Texts of the stores that are best with unasked pairs at 1."""
    optimum: Mapping[Fraction, tuple[Fraction, Fraction]]
    """By budget, where OPT of the common union lies."""
    certain: bool = False
    """Whether no answer could change a score."""


def bounds_of(result: ScoreResult, judge: OfflineJudge) -> Bounds:
    """Score with pairs in doubt between 0 and 1, then solve with all of them at 1."""
    package = result.original_package
    own = judge.for_package(package)
    between, highest = (_scorer(result, OpenJudge(own, most)) for most in (False, True))
    stores = {store.name: store for store in between.stores}
    optimum: dict[Fraction, tuple[Fraction, Fraction]] = {}
    best: set[str] = set()
    certain = True
    for row in result.rows:
        ratio = between.score(stores[row.store], row.budget, result.scoring.policy)
        optimum[row.budget] = ratio.optimum.value, ratio.optimum.bound
        # The scorer leaves a ratio undefined where the ends of its bounds differ. OPT = 0 is
        # certain too: no answer gives that union any value.
        certain &= ratio.undefined in ("", OPTIMUM_IS_ZERO)
        best |= chosen_texts(highest.common, highest.common_optimum(row.budget).store)
    return Bounds(best, optimum, certain)


def _scorer(result: ScoreResult, judge: OpenJudge) -> StoreScorer:
    package, scoring = result.original_package, result.scoring
    stores = [judge_store(package, store, judge, scoring.salience) for store in result.exported]
    limit = SECONDS if scoring.seconds is None else min(SECONDS, scoring.seconds)
    return StoreScorer(
        judge_candidates(package, judge), stores, scoring.group_cap, limit, scoring.threads
    )


def doubtful_pairs(
    result: ScoreResult,
    judge: OfflineJudge,
    draws: Sequence[ScoredDraw],
    best: Collection[str] = (),
) -> list[tuple[str, WholeUnit]]:
    """Pairs that are in doubt, those that move scores most first.

    What a pair moves is the weight of its statement, times the standard deviation of its label,
    times how much its memory takes part: in what a store keeps, or in the best stores of draws.
    Texts of `best` that take no such part come last.
    """
    package = result.original_package
    part: dict[str, float] = defaultdict(float)
    for draw in draws:
        for text in draw.best:
            part[text] += 1 / len(draws)
    for store in result.stores:
        kept = {id for row in result.rows if row.store == store.name for id in row.numbers.kept.ids}
        for memory in store.memories:
            if store.candidate_id(memory) in kept:
                part[memory.text] += 1.0
    # Such a memory is in no best store of a draw, and yet keeps the upper bound from closing.
    for text in best:
        part.setdefault(text, UNLIKELY)
    likely = judge.for_package(package).known(package.units)
    weights = [
        float(sum(package.weights[unit.id] for unit in whole.units)) for whole in likely.wholes
    ]
    texts = sorted(part)
    ranked: list[tuple[float, str, WholeUnit]] = []
    for text, (covered, full) in zip(texts, likely.of(texts), strict=True):
        doubts = doubt(covered, full)
        for at in np.flatnonzero(doubts >= LEAST_DOUBT).tolist():
            whole = likely.wholes[at]
            if weights[at]:
                ranked.append((float(doubts[at]) * weights[at] * part[text], text, whole))
    # Ties by text and id: the same pairs are asked on every machine, which the cache of replies
    # needs.
    ranked.sort(key=lambda row: (-row[0], row[1], row[2].id))
    return [(text, whole) for _, text, whole in ranked]


def _ask(
    judge: Judge, package: Package, batch: Sequence[tuple[str, WholeUnit]]
) -> dict[str, dict[str, dict[str, Cell]]]:
    """Answers to some pairs. One that is not answered stays with what the offline judge thinks."""
    texts = dict.fromkeys(text for text, _ in batch)
    memories = [MemoryText(text, text, (), package.name) for text in texts]
    pairs = [(text, unit.id) for text, whole in batch for unit in whole.units]
    judged = ask_judge(for_package(judge, package), memories, package.units, pairs)
    undecided = set(judged.undecided)
    answers: dict[str, dict[str, dict[str, Cell]]] = {}
    for text, whole in batch:
        # Half an answer about a statement would mix two judges within one cell.
        if text in judged.unknown or any((text, unit.id) in undecided for unit in whole.units):
            continue
        cells = judged.cells.get(text, {})
        answers.setdefault(text, {})[whole.id] = {
            unit.id: cells[unit.id]
            for unit in whole.units
            if unit.id in cells and cells[unit.id].value
        }
    return answers

"""Asking another judge only about the pairs that a verdict hangs on.

The offline judge scores first. Its draws say which memories the scores and optima are made of, and
how doubtful each of their pairs is. The most influential pairs are asked, their answers replace
what the offline judge thinks, and everything is scored again, until the verdict is settled:

- a minimum: no interval contains it;
- an order of stores: no two neighbours differ by less than the draws of their difference spread;
- a width: no interval is wider.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import stdev

import numpy as np

from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.core.unit_parts import WholeUnit
from memaudit.scoring.judge import Cell, Judge, MemoryText, ask_judge, for_package, goes_by_id
from memaudit.scoring.offline_judge import OfflineJudge
from memaudit.scoring.package_scores import score_package
from memaudit.scoring.result import Escalation, ScoreResult, Scoring
from memaudit.scoring.score_interval import DEVIATIONS, ScoredDraw, score_draw, with_draws

AT_ONCE = 100
"""Pairs of a round."""
LEAST_DOUBT = 0.02
"""The standard deviation of a pair's label below which nobody is asked about it."""

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
        known = [row.interval for row in result.rows if row.interval is not None]
        if len(known) < len(result.rows):
            return False
        if self.minimum is not None:
            return not any(low < self.minimum <= high for low, high in known)
        if self.width is not None:
            return all(high - low <= self.width for low, high in known)
        return all(_differ(result, draws, better, worse) for better, worse in _neighbours(result))


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
    both = [(draw.scores[better], draw.scores[worse]) for draw in draws]
    gaps = [a - b for a, b in both if a is not None and b is not None]
    scores = result.rows[better].score, result.rows[worse].score
    if len(gaps) < 2 or None in scores:
        return False
    return (scores[0] or 0) - (scores[1] or 0) > DEVIATIONS * stdev(gaps)


@dataclass(frozen=True, slots=True)
class EscalationPlan:
    """Whom to ask, for what, and about how many pairs at most."""

    judge: Judge
    goal: Goal
    max_cells: int | None = None
    progress: Callable[[Escalation], None] = lambda _: None


def score_and_escalate(
    package: Package,
    exported: Sequence[ExportedStore],
    scoring: Scoring,
    plan: EscalationPlan,
) -> ScoreResult:
    """Score by the offline judge, and ask another one until the verdict is settled."""
    judge = _checked(scoring, plan.judge)
    answers: dict[str, dict[str, dict[str, Cell]]] = {}
    asked: set[TextPair] = set()
    rounds = 0
    while True:
        name = f"{judge.name}, then {plan.judge.name}" if asked else judge.name
        answered = judge.answered(name, answers)
        own = replace(scoring, judges=dict.fromkeys(scoring.judges, answered), draws=0)
        result = score_package(package, exported, own)
        result = replace(result, scoring=replace(own, draws=scoring.draws))
        draws = [score_draw(result, answered, draw) for draw in range(scoring.draws)]
        result = with_draws(result, answered, draws)
        settled = plan.goal.is_settled(result, draws)
        pairs = [
            (text, whole)
            for text, whole in doubtful_pairs(result, answered, draws)
            if (text, whole.id) not in asked
        ]
        state = Escalation(
            plan.judge.name, plan.goal.text, len(asked), len(pairs) + len(asked), rounds, settled
        )
        plan.progress(state)
        left = AT_ONCE if plan.max_cells is None else plan.max_cells - len(asked)
        batch = pairs[: min(AT_ONCE, max(0, left))]
        if settled or not batch:
            return replace(result, escalation=state)
        for text, known in _ask(plan.judge, result.source, batch).items():
            answers.setdefault(text, {}).update(known)
        asked |= {(text, whole.id) for text, whole in batch}
        judge = answered.answered(judge.name, {})  # remembers the probabilities
        rounds += 1


def _checked(scoring: Scoring, other: Judge) -> OfflineJudge:
    """The offline judge of all stores, if the other judge can settle what it doubts."""
    judges = set(scoring.judges.values())
    judge = next(iter(judges))
    if len(judges) != 1 or not isinstance(judge, OfflineJudge):
        raise MemAuditError("--escalate goes with --judge offline, whose doubts it settles")
    if not scoring.draws:
        raise MemAuditError("--escalate needs --draws: they say which pairs are in doubt")
    if scoring.trust_package_cells:
        raise MemAuditError(
            "--escalate cannot settle cells that a rule gave; leave out --trust-package-cells"
        )
    if other.is_estimate or goes_by_id(other):
        raise MemAuditError(
            f"--escalate needs a judge that knows better, by texts, and {other.name} does not; "
            "give model:NAME, or labels:FILE with the texts of memories"
        )
    return judge


def doubtful_pairs(
    result: ScoreResult, judge: OfflineJudge, draws: Sequence[ScoredDraw]
) -> list[tuple[str, WholeUnit]]:
    """Pairs that are in doubt, those that move scores most first.

    What a pair moves is the weight of its statement, times the standard deviation of its label,
    times how much its memory takes part: in what a store keeps, or in the best stores of draws.
    """
    package = result.source
    part: dict[str, float] = defaultdict(float)
    for draw in draws:
        for text in draw.best:
            part[text] += 1 / len(draws)
    for store in result.stores:
        kept = {id for row in result.rows if row.store == store.name for id in row.numbers.kept.ids}
        for memory in store.memories:
            if store.candidate_id(memory) in kept:
                part[memory.text] += 1.0
    known = judge.for_package(package).known(package.units)
    weights = [
        float(sum(package.weights[unit.id] for unit in whole.units)) for whole in known.wholes
    ]
    texts = sorted(part)
    found: list[tuple[float, str, WholeUnit]] = []
    for text, (covered, full) in zip(texts, known.of(texts), strict=True):
        mean = (covered + full) / 2
        doubt = np.sqrt(np.maximum(0, (covered - full) / 4 + full - mean**2))
        for at in np.flatnonzero(doubt >= LEAST_DOUBT).tolist():
            whole = known.wholes[at]
            if weights[at]:
                found.append((float(doubt[at]) * weights[at] * part[text], text, whole))
    found.sort(key=lambda row: (-row[0], row[1], row[2].id))
    return [(text, whole) for _, text, whole in found]


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
        if text in judged.unknown or any((text, unit.id) in undecided for unit in whole.units):
            continue
        cells = judged.cells.get(text, {})
        answers.setdefault(text, {})[whole.id] = {
            unit.id: cells[unit.id]
            for unit in whole.units
            if unit.id in cells and cells[unit.id].value
        }
    return answers

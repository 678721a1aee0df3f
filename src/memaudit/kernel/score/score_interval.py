"""What the error of a judge does to scores: intervals, and the level of chance.

A fallible judge, such as the offline one, knows how wrong it is on conversations it was not fitted
to. An interval is made of draws: each takes the labels of all pairs, of stores and package alike,
from the judge's calibrated probabilities, and scores what the store keeps over the certified
optimum of that draw. So an error that favours the optimum counts against the score, as in truth.

The level of chance is what the same memories score against units of conversations they cannot be
about, those that come with the program. A store that covers no more is unrelated to the package.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import stdev
from typing import Protocol, runtime_checkable

from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judge import Judge, MemoryText, foremost_script
from memaudit.kernel.score.judging import judge_candidates, judge_store
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.score.result import ScoreResult, StoreScore
from memaudit.kernel.score.score import Ratio, StoreScorer
from memaudit.kernel.score.verdict import verdict

DEVIATIONS = 2.0
"""An interval reaches so many standard deviations of the draws to both sides of the score: of 200
scores of conversations that the judge was not fitted to, 185 lay inside."""
LEAN_PRECISION = Fraction(1, 50)
"""Of lean in a draw: far less than draws differ, and half the solves of an exact one."""
SECONDS = 2.0
"""Of a solve in a draw. Where it is not enough, the middle of what the score lies between
counts."""

MANY_UNITS = 20
"""From so many units on, shares of them have errors that can be reckoned."""
STRANGERS = 4
"""Conversations for the level of chance."""


@runtime_checkable
class FallibleJudge(Judge, Protocol):
    """A judge that knows its error."""

    def for_package(self, package: Package) -> "FallibleJudge":
        """The judge with the turns of a conversation."""
        ...

    def drawn(self, draw: int) -> Judge:
        """A truth that agrees with what this judge knows, for one package."""
        ...

    def unanswered(self) -> "FallibleJudge":
        """The judge without the answers of others about a package."""
        ...

    def strangers(self) -> Sequence[Package]:
        """Units of other conversations, to measure chance by; the scored package is left out."""
        ...


def with_intervals(result: ScoreResult) -> ScoreResult:
    """The result with an interval and the level of chance, where the judge knows its error."""
    judge, number = fallible_judge_of(result), result.scoring.draws
    if judge is None or number < 2 or result.package_cells == "kept":
        return result  # the error of cells that a rule gave is not known
    draws = []
    for draw in range(number):
        draws.append(score_draw(result, judge, draw))
        if result.scoring.watch is not None:
            result.scoring.watch(draw + 1, number)
    return with_draws(result, judge, draws)


def with_draws(
    result: ScoreResult, judge: FallibleJudge, draws: Sequence["ScoredDraw"]
) -> ScoreResult:
    """The result with the intervals that draws give, and the level of chance."""
    strangers = _Strangers(result, judge)
    verdicts = tuple(
        replace(
            known,
            complete_interval=interval_of(
                known.complete.value, _defined(draw.complete[place] for draw in draws)
            ),
            lean_interval=interval_of(
                _middle(known.lean_between), _defined(draw.lean[place] for draw in draws)
            ),
        )
        for place, known in enumerate(result.verdicts)
    )
    rows = []
    for place, row in enumerate(result.rows):
        scores = _defined(draw.scores[place] for draw in draws)
        rows.append(
            replace(
                row,
                interval=interval_of(row.exact, scores),
                chance=strangers.chance(row),
                is_unrelated=strangers.is_unrelated(row),
            )
        )
    return replace(result, verdicts=verdicts, rows=tuple(rows))


def _defined(numbers: Iterable[float | None]) -> list[float]:
    return [number for number in numbers if number is not None]


def _middle(between: tuple[Fraction, Fraction] | None) -> Fraction | None:
    return None if between is None else (between[0] + between[1]) / 2


def fallible_judge_of(result: ScoreResult) -> FallibleJudge | None:
    """The judge of all stores, if it knows its error."""
    judges = set(result.scoring.judges.values())
    judge = next(iter(judges)) if len(judges) == 1 else None
    return judge if isinstance(judge, FallibleJudge) else None


@dataclass(frozen=True, slots=True)
class ScoredDraw:
    """Per store how complete and how lean it is, per row of a result the score, None where it is
    undefined, and the texts of the best stores."""

    complete: tuple[float | None, ...]
    lean: tuple[float | None, ...]
    scores: tuple[float | None, ...]
    best: frozenset[str]


def score_draw(result: ScoreResult, judge: FallibleJudge, draw: int) -> ScoredDraw:
    """What stores score under one draw of all labels."""
    package, scoring = result.original_package, result.scoring
    # One truth for stores and package alike: an error that raises OPT lowers the score of that
    # draw.
    drawn = judge.for_package(package).drawn(draw)
    stores = [judge_store(package, store, drawn, scoring.salience) for store in result.exported]
    judged = package if scoring.trust_package_cells else judge_candidates(package, drawn)
    limit = SECONDS if scoring.seconds is None else min(SECONDS, scoring.seconds)
    if (truths := scoring.truths) is not None:
        judged = truths.package(judged)
        stores = [truths.store(store, package) for store in stores]
    scorer = StoreScorer(judged, stores, scoring.group_cap, limit, scoring.threads)
    by_name = {store.name: store for store in scorer.stores}
    verdicts = [verdict(scorer, store, precision=LEAN_PRECISION) for store in scorer.stores]
    scores: list[float | None] = []
    best: set[str] = set()
    for row in result.rows:
        ratio = scorer.score(by_name[row.store], row.budget, scoring.policy)
        scores.append(_known(ratio))
        best |= chosen_texts(scorer.common, ratio.optimum.store)
    return ScoredDraw(
        tuple(_known(own.complete) for own in verdicts),
        tuple(
            None if (lean := _middle(own.lean_between)) is None else float(lean) for own in verdicts
        ),
        tuple(scores),
        frozenset(best),
    )


def _known(ratio: Ratio) -> float | None:
    """A ratio in a draw. One that is not proven within the limit still counts, by the middle of
    what is known: without the hard draws an interval could be narrower than the error is."""
    middle = _middle(ratio.between) if ratio.value is None else ratio.value
    return None if middle is None else float(middle)


def chosen_texts(union: Package, store: Sequence[str]) -> set[str]:
    """The texts of some candidates; of a whole document those of its entries."""
    ids = (id for chosen in store for id in union.candidate[chosen].parts or (chosen,))
    return {union.candidate[id].text for id in ids}


def interval_of(score: Fraction | None, draws: Sequence[float]) -> tuple[float, float] | None:
    """Around a score, as far as the scores of draws spread."""
    if score is None or len(draws) < 2:
        return None
    reach = DEVIATIONS * stdev(draws)
    return max(0.0, float(score) - reach), min(1.0, float(score) + reach)


class _Strangers:
    """Conversations that the memories of a result cannot be about, as units to judge them by."""

    def __init__(self, result: ScoreResult, judge: FallibleJudge) -> None:
        # The conversations come with the program, and one of them may be what is scored here. One
        # in another script would share no word with any memory, and make chance look like 0.
        own = {unit.text for unit in result.original_package.units}
        self._result = result
        self._judge = judge.unanswered()  # answers are about this package's units
        self._packages = [
            package
            for package in judge.strangers()
            if own.isdisjoint(unit.text for unit in package.units)
            and foremost_script(unit.text for unit in package.units) == foremost_script(own)
        ][:STRANGERS]
        self._weight = sum(result.original_package.weights.values(), Fraction(0))
        self._unrelated: dict[str, bool] = {}

    def chance(self, row: StoreScore) -> float | None:
        """The highest score of the kept memories against the units of another conversation: the
        share of its units that they cover, of the weight of the package, over OPT."""
        if not row.optimum.value or not self._packages:
            return None
        kept = set(row.numbers.kept.ids)
        store = self._store(row)
        texts = {memory.text for memory in store.memories if store.candidate_id(memory) in kept}
        return min(1.0, self._share(texts) * float(self._weight / row.optimum.value))

    def is_unrelated(self, row: StoreScore) -> bool:
        """Whether a whole store covers no more of the package's weight than of another
        conversation's; of many units, one and two standard errors more count as no more."""
        if row.store not in self._unrelated:
            texts = {memory.text for memory in self._store(row).memories}
            units = sum(bool(weight) for weight in self._result.original_package.weights.values())
            if not (texts and self._packages and self._weight):
                return False
            most = self._share(texts)
            # One unit more may be luck; beyond it, two standard errors of a share of so many units.
            if units >= MANY_UNITS:
                share = min(1.0, most + 1 / units)
                most = share + DEVIATIONS * (share * (1 - share) / units) ** 0.5
            self._unrelated[row.store] = row.numbers.written.value <= Fraction(most) * self._weight
        return self._unrelated[row.store]

    def _store(self, row: StoreScore) -> JudgedStore:
        return next(store for store in self._result.stores if store.name == row.store)

    def _share(self, texts: Collection[str]) -> float:
        """The largest share of another conversation's units that texts cover."""
        memories = [MemoryText(text, text) for text in sorted(texts)]
        return max(self._covered(package, memories) for package in self._packages)

    def _covered(self, package: Package, memories: Sequence[MemoryText]) -> float:
        judged = self._judge.for_package(package).judge(memories, package.units)
        covered: dict[str, float] = defaultdict(float)
        for cells in judged.cells.values():
            for unit, cell in cells.items():
                covered[unit] += float(cell.value)
        return sum(min(1.0, amount) for amount in covered.values()) / len(package.units)

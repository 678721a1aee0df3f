"""Asking another judge about the pairs that a verdict hangs on, and no others."""

from collections.abc import Collection, Sequence
from fractions import Fraction

import pytest

from memaudit.api import score
from memaudit.core.errors import MemAuditError
from memaudit.core.package import EvidenceUnit, Package
from memaudit.scoring.escalation import EscalationPlan, Goal, doubtful_pairs
from memaudit.scoring.judge import Judgement, MemoryText, Pair
from memaudit.scoring.judges import named_judge
from memaudit.scoring.offline_judge import OfflineJudge
from memaudit.scoring.result import Escalation, ScoreResult
from memaudit.scoring.score_interval import score_draw
from tests.scoring.long_stores import Labelled, long_package, long_store

NAME = "flat-share"
DRAWS = 4


def escalated(
    stores: tuple[str, ...], budget: int, goal: Goal, most: int | None = None
) -> tuple[ScoreResult, Labelled, list[Escalation]]:
    package = long_package(NAME)
    judge, states = Labelled(package), list[Escalation]()
    plan = EscalationPlan(judge, goal, most, states.append)
    given = [long_store(NAME, store) for store in stores]
    result = score(package, given, [budget], stores_only=True, draws=DRAWS, escalate=plan)
    return result, judge, states


def test_a_minimum_is_settled_by_few_answers() -> None:
    """The labelled score is 0.1 below the minimum, the offline one near it."""
    package = long_package(NAME)
    store = long_store(NAME, "terse")
    (true,) = score(package, store, [200], Labelled(package), stores_only=True)
    (guess,) = score(package, store, [200], stores_only=True, draws=DRAWS)
    assert true.score is not None
    assert guess.interval is not None
    minimum = (guess.score or 0) + 0.01
    result, judge, states = escalated(("terse",), 200, Goal(minimum=minimum))
    (row,) = result
    assert row.interval is not None
    low, high = row.interval
    assert not low < minimum <= high
    assert (true.score >= minimum) == (low >= minimum)
    assert result.escalation is not None
    assert result.escalation.settled
    assert 0 < judge.asked < 0.2 * len(store.memories) * len(package.units)
    assert judge.asked >= result.escalation.asked
    assert "labelled was asked about" in " ".join(result.warnings)
    assert result.scoring.judge_name == "offline, then labelled"
    assert [state.asked for state in states] == sorted(state.asked for state in states)


def test_asked_long_enough_it_is_the_other_judges_score() -> None:
    """With an interval of nearly nothing asked for, all doubtful pairs are asked."""
    package, store = long_package(NAME), long_store(NAME, "profile")
    (true,) = score(package, store, [120], Labelled(package), stores_only=True)
    result, _, _ = escalated(("profile",), 120, Goal(width=0.005))
    (row,) = result
    assert abs((row.score or 0) - (true.score or 0)) < 0.06


def test_an_order_and_a_limit() -> None:
    """A clear order asks nothing; a limit ends before the verdict, and says so."""
    clear, judge, _ = escalated(("profile", "turns"), 250, Goal())
    assert clear.escalation is not None
    assert (clear.escalation.settled, judge.asked) == (True, 0)
    stopped, judge, _ = escalated(("profile",), 250, Goal(width=0.001), most=30)
    assert stopped.escalation is not None
    assert (stopped.escalation.asked, stopped.escalation.settled) == (30, False)
    assert "not settled" in stopped.escalation.text


def test_the_most_influential_come_first() -> None:
    """A pair of a kept memory about a unit of much weight, and not one that nobody keeps."""
    package = long_package(NAME)
    result = score(package, long_store(NAME, "terse"), [100], stores_only=True, draws=0)
    (judge,) = set(result.scoring.judges.values())
    assert isinstance(judge, OfflineJudge)
    draws = [score_draw(result, judge, draw) for draw in range(2)]
    pairs = doubtful_pairs(result, judge, draws)
    (store,) = result.stores
    kept = set(result.rows[0].numbers.kept.ids)
    shown = {memory.text for memory in store.memories if store.candidate_id(memory) in kept}
    best = frozenset().union(*(draw.best for draw in draws))
    assert all(text in shown | best for text, _ in pairs)
    weight = [package.weights[whole.id] for _, whole in pairs]
    assert all(weight)
    assert sum(weight[:20]) > Fraction(sum(weight), len(weight)) * 20


class Silent(Labelled):
    """Has no answer to anything, or does not know the texts."""

    def __init__(self, package: Package, unknown: bool) -> None:
        super().__init__(package)
        self._unknown = unknown

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        super().judge(memories, units, pairs)
        if self._unknown:
            return Judgement({}, unknown=frozenset(memory.id for memory in memories))
        return Judgement({}, undecided=tuple(pairs or ()))


@pytest.mark.parametrize("unknown", [True, False])
def test_no_answer_is_not_a_zero(unknown: bool) -> None:
    """It ends, asks nothing twice, and leaves what the offline judge thinks."""
    package, store = long_package(NAME), long_store(NAME, "terse")
    judge = Silent(package, unknown)
    plan = EscalationPlan(judge, Goal(width=0.001), max_cells=150)
    result = score(package, store, [100], stores_only=True, draws=2, escalate=plan)
    plain = score(package, store, [100], stores_only=True, draws=2)
    assert result.escalation is not None
    assert (judge.asked, result.escalation.asked, result.escalation.settled) == (150, 150, False)
    assert result.rows[0].score == plain.rows[0].score
    assert result.rows[0].interval == plain.rows[0].interval


def test_whom_to_ask_and_after_whom() -> None:
    package, store = long_package(NAME), long_store(NAME, "terse")
    plan = EscalationPlan(Labelled(package), Goal(width=0.1))
    with pytest.raises(MemAuditError, match="goes with --judge offline"):
        score(package, store, [100], "lexical", escalate=plan)
    with pytest.raises(MemAuditError, match="needs --draws"):
        score(package, store, [100], draws=0, escalate=plan)
    with pytest.raises(MemAuditError, match="leave out --trust-package-cells"):
        score(package, store, [100], trust_package_cells=True, escalate=plan)
    for guess in ("offline", "lexical"):
        worse = EscalationPlan(named_judge(guess), Goal(width=0.1))
        with pytest.raises(MemAuditError, match=f"knows better, by texts, and {guess} does not"):
            score(package, store, [100], escalate=worse)
    with pytest.raises(MemAuditError, match="draws must be 0 or at least 2, not 1"):
        score(package, store, [100], draws=1)


def test_answers_do_not_count_for_other_conversations() -> None:
    """Units of other packages have the same ids; the level of chance is not about the answers."""
    package, store = long_package(NAME), long_store(NAME, "terse")
    (before,) = score(package, store, [200], stores_only=True, draws=DRAWS)
    result, judge, _ = escalated(("terse",), 200, Goal(width=0.01), most=200)
    assert judge.asked
    assert result.rows[0].chance == pytest.approx(
        (before.chance or 0) * float(before.optimum.value / result.rows[0].optimum.value)
    )

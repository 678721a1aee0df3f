"""Asking another judge about the pairs that a verdict hangs on, and no others."""

import json
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memaudit
from memaudit.api import score
from memaudit.cli.errors import option_of
from memaudit.judges.asking import (
    AskPlan,
    Goal,
    bounds_of,
    doubtful_pairs,
    score_asking,
    usual_goal,
)
from memaudit.judges.offline_judge import OfflineJudge
from memaudit.judges.score_plan import ScorePlan
from memaudit.kernel.errors import MemAuditError, ParameterError
from memaudit.kernel.package.package import EvidenceUnit, Package
from memaudit.kernel.score.judge import Cell, Judgement, MemoryText, Pair
from memaudit.kernel.score.result import Asked, ScoreResult
from memaudit.kernel.score.score_interval import score_draw
from tests.kernel.score.long_stores import Labelled, long_package, long_store
from tests.proofs import package as made

NAME = "flat-share"
DRAWS = 4


def scored_by(
    package: Package,
    stores: tuple[str, ...],
    budget: int,
    asking: AskPlan | None,
    draws: int = DRAWS,
) -> ScoreResult:
    plan = ScorePlan.of(budgets=[budget], stores_only=True, draws=draws)
    given = [long_store(NAME, store) for store in stores]
    return plan.score(package, given, plan.scoring(given), asking)


def asked_of(
    stores: tuple[str, ...], budget: int, goal: Goal | None = None, most: int | None = None
) -> tuple[ScoreResult, Labelled, list[Asked]]:
    package = long_package(NAME)
    judge, states = Labelled(package), list[Asked]()
    plan = AskPlan(judge, goal, most, progress=states.append)
    return scored_by(package, stores, budget, plan), judge, states


def test_a_minimum_is_settled_by_few_answers() -> None:
    """The labelled score is 0.1 below the minimum, the offline one near it."""
    package = long_package(NAME)
    store = long_store(NAME, "terse")
    (true,) = score(package, store, [200], Labelled(package), stores_only=True)
    (guess,) = score(package, store, [200], stores_only=True, draws=DRAWS)
    assert true.score is not None
    assert guess.interval is not None
    minimum = (guess.score or 0) + 0.01
    result, judge, states = asked_of(("terse",), 200, Goal(minimum=minimum))
    (row,) = result
    assert row.interval is not None
    low, high = row.interval
    assert not low < minimum <= high
    assert (true.score >= minimum) == (low >= minimum)
    assert result.asked is not None
    assert result.asked.settled
    assert 0 < judge.asked < 0.2 * len(store.memories) * len(package.units)
    assert judge.asked >= result.asked.asked
    assert "labelled was asked about" in " ".join(result.warnings)
    assert result.scoring.judge_name == "offline, then labelled"
    assert [state.asked for state in states] == sorted(state.asked for state in states)


def test_asked_long_enough_it_is_the_other_judges_score() -> None:
    """With an interval of nearly nothing asked for, all doubtful pairs are asked."""
    package, store = long_package(NAME), long_store(NAME, "profile")
    (true,) = score(package, store, [120], Labelled(package), stores_only=True)
    result, _, _ = asked_of(("profile",), 120, Goal(width=0.005))
    (row,) = result
    assert abs((row.score or 0) - (true.score or 0)) < 0.06


def test_an_order_and_a_limit() -> None:
    """A clear order asks nothing, before it nothing is certain; a limit, of the API too, ends
    before the verdict, and says so."""
    package = long_package(NAME)
    clear, judge, _ = asked_of(("profile", "turns"), 250)
    assert clear.asked is not None
    assert (clear.asked.settled, judge.asked) == (True, 0)
    (offline,) = set(clear.scoring.judges.values())
    assert isinstance(offline, OfflineJudge)
    bounds = bounds_of(clear, offline)
    ((low, high),) = bounds.optimum.values()
    assert low < clear.rows[0].optimum.value < high
    assert bounds.best
    assert not bounds.certain
    stopped, judge, _ = asked_of(("profile",), 250, Goal(width=0.001), most=30)
    assert stopped.asked is not None
    assert (stopped.asked.asked, stopped.asked.settled) == (30, False)
    assert "not settled" in stopped.asked.text
    store = long_store(NAME, "terse")
    limited = score(package, store, [100], ask=Labelled(package), max_cells=7, draws=2)
    assert limited.asked is not None
    assert (limited.asked.asked, limited.scoring.judge_name) == (7, "offline, then labelled")


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
    plan = AskPlan(judge, Goal(width=0.001), max_cells=150)
    result = scored_by(package, ("terse",), 100, plan, draws=2)
    plain = score(package, store, [100], stores_only=True, draws=2)
    assert result.asked is not None
    assert (judge.asked, result.asked.asked, result.asked.settled) == (150, 150, False)
    assert result.rows[0].score == plain.rows[0].score
    assert result.rows[0].interval == plain.rows[0].interval


def test_whom_to_ask_and_after_whom() -> None:
    """The API names parameters; the command line would write them as options."""
    package, store = long_package(NAME), long_store(NAME, "terse")
    ask = Labelled(package)
    with pytest.raises(MemAuditError, match=r"^ask goes with judge offline") as refused:
        score(package, store, [100], "lexical", ask=ask)
    assert isinstance(refused.value, ParameterError)
    assert refused.value.naming(option_of).startswith("--ask goes with --judge offline")
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"draws": 0, "ask": ask}, "ask needs draws"),
        ({"trust_package_cells": True, "ask": ask}, "leave out trust_package_cells"),
        ({"max_cells": 3}, "max_cells goes with ask"),
        ({"ask": "offline"}, "knows better, by texts, and offline does not"),
        ({"ask": "lexical"}, "knows better, by texts, and lexical does not"),
        ({"draws": 1}, "draws must be 0 or at least 2, not 1"),
    )
    for options, message in wrong:
        with pytest.raises(MemAuditError, match=message):
            score(package, store, [100], **options)
    assert (usual_goal(1), usual_goal(2)) == (Goal(width=0.1), Goal())


def test_a_file_of_labelled_memories_goes_to_the_labels_that_are_asked(tmp_path: Path) -> None:
    """The offline judge, which comes first, has no use for it; alone it refuses the file."""
    package, store = long_package(NAME), long_store(NAME, "terse")
    unit = package.asked_units[0].id
    (tmp_path / "labels.csv").write_text(f"memory_id,unit_id,coverage\nm1,{unit},1\n")
    texts = [{"memory_id": "m1", "text": store.active[0].text}]
    memories = tmp_path / "memories.jsonl"
    memories.write_text("".join(json.dumps(row) + "\n" for row in texts))
    asked = ScorePlan.of(ask=f"labels:{tmp_path / 'labels.csv'}", label_memories=memories)
    asking = asked.asking()
    assert asking is not None
    assert asking.judge.judges_candidates
    assert isinstance(asked.judges([store])[store.name], OfflineJudge)
    with pytest.raises(MemAuditError, match="goes with"):
        ScorePlan.of(label_memories=memories).judges([store])


def test_answers_do_not_count_for_other_conversations() -> None:
    """Units of other packages have the same ids; the level of chance is not about the answers."""
    package, store = long_package(NAME), long_store(NAME, "terse")
    (before,) = score(package, store, [200], stores_only=True, draws=DRAWS)
    result, judge, _ = asked_of(("terse",), 200, Goal(width=0.01), most=200)
    assert judge.asked
    assert result.rows[0].chance == pytest.approx(
        (before.chance or 0) * float(before.optimum.value / result.rows[0].optimum.value)
    )


PETS = made(
    "c1:e1:8:raw c2:e2:8:raw",
    {
        "choir": {"text": "Maren sings in a chamber choir", "weight": 2},
        "run": {"text": "Oskar ran ten kilometres", "weight": 1},
        "day": {"text": "The choir meets on Tuesday", "weight": 1},
    },
    texts={
        "c1": "Maren sings in the chamber choir every Tuesday",
        "c2": "Oskar ran ten kilometres in October with Ida",
    },
    generator="rule:raw",
    cost_rule="words",
)
TEXTS = ("Maren is in the choir", "On Tuesday the choir meets", "Oskar runs far", "Ida likes tea")


class Truth:
    """Labels by text and unit; nothing is covered that is not among them."""

    name, is_estimate, judges_candidates = "truth", False, True

    def __init__(self, labels: Mapping[tuple[str, str], Fraction]) -> None:
        self.labels = labels

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        wanted = [(m.id, u.id) for m in memories for u in units] if pairs is None else pairs
        text = {memory.id: memory.text for memory in memories}
        cells: dict[str, dict[str, Cell]] = {}
        for id, unit in wanted:
            if value := self.labels.get((text[id], unit)):
                cells.setdefault(id, {})[unit] = Cell(value, "pass:truth")
        return Judgement(cells)


SHARES = st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)])


@given(st.data(), st.integers(0, 8))
@settings(max_examples=6, deadline=None)
def test_bounds_hold_whatever_the_answers_are(data: st.DataObject, most: int) -> None:
    """OPT under all answers lies within the bounds after any number of them, and where nothing
    could change the score it is the score under all answers."""
    units = [unit.id for unit in PETS.units]
    texts = [*TEXTS, *(candidate.text for candidate in PETS.candidates)]
    truth = {(text, unit): data.draw(SHARES) for text in texts for unit in units}
    store = memaudit.texts(TEXTS)
    plan = ScorePlan.of(budgets=[9], draws=2)
    scoring = plan.scoring([store])

    def asked(cells: int | None) -> ScoreResult:
        asking = AskPlan(Truth(truth), Goal(width=-1.0), cells, round_cells=6)
        return score_asking(PETS, [store], scoring, asking)

    in_full, some = asked(None), asked(most)
    assert in_full.asked is not None
    assert in_full.asked.certain
    assert some.asked is not None
    (low, high) = some.asked.optimum[Fraction(9)]
    assert low <= in_full.rows[0].optimum.value <= high
    assert (low == high) or not some.asked.certain
    if some.asked.certain:
        assert some.rows[0].exact == in_full.rows[0].exact
    else:
        assert "OPT at 9 lies between" in some.asked.text
    assert some.asked.asked <= most

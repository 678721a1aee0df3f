"""Losses from OPT of the common union down to what is kept, in all and by kind of unit."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.kernel.losses import LOSS_STEPS
from memaudit.kernel.package.objective import covered, violations
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.loss_diagnosis import (
    Diagnosis,
    KindRow,
    NoDiagnosis,
    diagnose_losses,
    kind_rows,
    pool_kind_rows,
)
from memaudit.kernel.score.priced_store import JudgedStore, WrittenDocument
from memaudit.kernel.score.score import StoreScorer
from memaudit.kernel.score.score_json import diagnosis_row, kinds_data
from memaudit.kernel.words.text import content_key
from tests.kernel.score.small_stores import (
    IRRATIONAL,
    LONG,
    MEALS,
    F,
    judged_problems,
    memory,
    stores,
)
from tests.proofs import package as made
from tests.strategies import renamed


def diagnosis(package: Package, store: JudgedStore, budget: int) -> Diagnosis:
    return diagnose_losses(StoreScorer(package, [store]), store, F(budget))


def losses(found: Diagnosis) -> dict[str, Fraction]:
    return {step.name: step.value for step in found.steps}


def lost_of(row: KindRow, step: str) -> Fraction:
    """What the units of a kind lost at a step, less what they gained for it."""
    assert row.lost is not None
    assert row.gained is not None
    assert row.lost[step] >= 0
    assert row.gained[step] >= 0
    return row.lost[step] - row.gained[step]


def test_by_hand() -> None:
    """Of 7: 3 never written (ended), 1 does not fit (once beside now), 2 chosen badly, 1 kept.
    A store within the budget has no cost or selection loss."""
    found = diagnosis(MEALS, LONG, 5)
    assert losses(found) == {"generation": 0, "extraction": 3, "cost": 1, "selection": 2}
    assert found.kept_share == F(1, 7)
    extraction = found.steps[1]
    assert extraction.units == (("ended", F(3)),)
    assert extraction.queries == ("q",)
    assert "extraction" in found.advice
    fits = diagnosis(MEALS, LONG, 7)
    assert fits.policy == "everything fits"
    assert [step.value for step in fits.steps[2:]] == [0, 0]


def test_the_heaviest_questions_come_first() -> None:
    """However the file orders them; of equal ones the first by name."""
    data = MEALS.model_dump()
    data["queries"] = [
        {"id": id, "required": ["ended"], "importance": weight}
        for id, weight in (("a", 1), ("d", 2), ("b", 7), ("c", 2))
    ]
    for unit in data["units"]:
        unit["weight"] = None  # what the questions make it
    found = diagnosis(Package.model_validate(data), LONG, 5)
    assert found.steps[1].queries == ("b", "c", "d", "a")


def test_what_was_never_written_is_not_too_expensive() -> None:
    """A store rich in other units that lacks the one OPT is made of: an extraction loss."""
    others = [f"u{n}" for n in range(10)]
    rich = made("c:e:5", {"big": 10, **dict.fromkeys(others, 1)}, [("c", "big", 1)])
    many = JudgedStore("many", tuple(memory(f"m-{unit}", 5, "", **{unit: 1}) for unit in others))
    found = diagnosis(rich, many, 5)
    assert losses(found) == {"generation": 0, "extraction": 9, "cost": 0, "selection": 0}
    assert "extraction" in found.advice


def best(
    package: Package, budget: Fraction, cap: int, most: Mapping[str, Fraction] | None = None
) -> Fraction:
    """The largest value of any feasible store, by trying all; `most` is what counts of a unit."""
    ids = [one.id for one in package.candidates]
    return max(
        counted_worth(package, covered(package, chosen), most)
        for size in range(len(ids) + 1)
        for chosen in combinations(ids, size)
        if package.total_cost(chosen) <= budget and not violations(package, chosen, budget, cap)
    )


def counted_worth(
    package: Package, amounts: Mapping[str, Fraction], most: Mapping[str, Fraction] | None = None
) -> Fraction:
    """F, rounded up where some h is irrational."""
    return sum(
        (
            package.weights[unit.id]
            * unit.response.at(
                amounts[unit.id] if most is None else min(amounts[unit.id], most.get(unit.id, F(0)))
            ).high
            for unit in package.units
        ),
        F(0),
    )


def written_coverage(alone: Package, store: JudgedStore) -> dict[str, Fraction]:
    """By unit, what the whole store covers: by its entries, or by its files as they are."""
    by_entry = covered(alone, _as_candidates(alone, store, store.candidate_ids))
    by_file = covered(alone, _as_candidates(alone, store, store.choice(store.candidate_ids)))
    return {unit: max(by_entry[unit], by_file[unit]) for unit in by_entry}


def _as_candidates(alone: Package, store: JudgedStore, ids: Iterable[str]) -> list[str]:
    """Each text once, where the package has them once, and none beside a file that contains it."""
    by_text = {content_key(one.text): one.id for one in alone.candidates}
    text = {store.candidate_id(one): one.text for one in store.memories}
    text |= {store.whole_id(one): one.text for one in store.documents}
    chosen = [by_text[content_key(text[id])] if alone.equal_texts_once else id for id in ids]
    inside = {part for id in chosen for part in alone.candidate[id].parts}
    return [id for id in dict.fromkeys(chosen) if id not in inside]


SOME_BUDGETS = st.sampled_from([F(0), F(1), F(2), F(5, 2), F(4), F(100)])


@settings(max_examples=100, deadline=None)
@given(judged_problems(), SOME_BUDGETS, st.sampled_from([None, 1, 3]))
def test_losses_by_brute_force(
    problem: tuple[Package, list[JudgedStore]], budget: Fraction, group_cap: int | None
) -> None:
    """Every stage is the best of all feasible stores; M counts each unit at h(min(z, z_store)).
    No loss is negative. Shares sum to 1, parts of units and of kinds to their loss, exactly; a
    loss of 0 has no units."""
    package, written = problem
    scorer = StoreScorer(package, written, group_cap)
    cap = package.group_cap if group_cap is None else group_cap
    is_exact = all(unit.response.is_rational for unit in package.units)
    near = F(0) if is_exact else F(1, 2**26)
    opt = best(scorer.common, budget, cap)
    for store in written:
        union, alone = StoreScorer(package, [store]).common, scorer.alone(store)
        least = best(alone, budget, cap)
        # Some entries and other files whole may cover more than all entries, or all files.
        most = max(best(union, budget, cap, written_coverage(alone, store)), least)
        found = scorer.as_written_optimum(store, budget)
        assert found.certified
        assert abs((found.value_high or found.value) - most) <= near
        if not opt:
            with pytest.raises(NoDiagnosis, match="the optimum is 0"):
                diagnose_losses(scorer, store, budget)
            continue
        losses = diagnose_losses(scorer, store, budget)
        kept = sum(losses.kept_units.values(), F(0))
        stages = (opt, best(union, budget, cap), most, least, kept)
        for step, (above, below) in zip(losses.steps, pairwise(stages), strict=True):
            assert abs(step.value - (above - below)) <= near
            assert step.value >= 0
            assert sum(part for _, part in step.units) == step.value
            assert step.value or not step.units, "nothing changes hands where nothing is lost"
        assert losses.kept_share + sum(step.share for step in losses.steps) == 1
        worth = scorer.numbers(store, budget).written.unit_values
        kinds = kind_rows(package, worth, losses)
        assert sum(row.kept or 0 for row in kinds) == kept
        for step in losses.steps:
            assert sum(lost_of(row, step.name) for row in kinds) == step.value


@settings(max_examples=60, deadline=None)
@given(judged_problems(), SOME_BUDGETS, st.data())
def test_losses_do_not_depend_on_ids(
    problem: tuple[Package, list[JudgedStore]], budget: Fraction, data: st.DataObject
) -> None:
    """Candidates and memories swap their ids, so that solvers break ties in another way; what was
    written stays in its order, which recency needs."""
    package, written = problem
    ids = sorted(package.candidate)
    new = dict(zip(ids, data.draw(st.permutations(ids)), strict=True))
    other = renamed(package, lambda id: new.get(id, id))
    swapped = [_with_other_ids(store, data) for store in written]
    scorers = StoreScorer(package, written), StoreScorer(other, swapped)
    for pair in zip(written, swapped, strict=True):
        totals: list[object] = []
        for scorer, store in zip(scorers, pair, strict=True):
            try:
                found = diagnose_losses(scorer, store, budget)
            except NoDiagnosis as reason:
                totals.append(reason.undefined)
            else:
                totals.append([found.kept_share, *(step.share for step in found.steps)])
        assert totals[0] == totals[1]


def _with_other_ids(store: JudgedStore, data: st.DataObject) -> JudgedStore:
    ids = [one.id for one in store.memories]
    new = dict(zip(ids, data.draw(st.permutations(ids)), strict=True))
    return replace(
        store,
        memories=tuple(replace(one, id=new[one.id]) for one in store.memories),
        documents=tuple(
            replace(one, parts=tuple(new[id] for id in one.parts)) for one in store.documents
        ),
    )


@pytest.mark.parametrize("written", ["a", "b"])
def test_what_was_written_at_length_is_too_expensive(written: str) -> None:
    """Either candidate is optimal at 1 word. The store says one of the two units in 5 words: what
    it wrote could be kept in 1, so its loss is cost, of that unit alone, whichever of the two the
    solver returns."""
    either = made("a:e:1 b:e:1", {"a": 1, "b": 1}, [("a", "a", 1), ("b", "b", 1)])
    found = diagnosis(either, JudgedStore("s", (memory("m", 5, "", **{written: 1}),)), 1)
    assert losses(found) == {"generation": 0, "extraction": 0, "cost": 1, "selection": 0}
    assert [step.units for step in found.steps] == [(), (), ((written, 1),), ()]


def test_files_that_share_a_line() -> None:
    """Each file covers half of `now` by the line that both have: the same half, also kept whole.
    By hand, of 3/2 for that half and 1 for `once`: 1 never written, 3/2 kept."""
    half = {"now": F(1, 2)}
    entries = [
        replace(
            memory(f"{file}{line}", 3, text, **(half if text == "tea" else {})),
            document=file,
            first_line=line,
        )
        for file, lines in (("x", ("tea", "cake")), ("y", ("tea", "soup")))
        for line, text in enumerate(lines, start=1)
    ]
    files = (
        WrittenDocument("x", "- tea\n- cake", F(2), ("x1", "x2")),
        WrittenDocument("y", "- tea\n- soup", F(2), ("y1", "y2")),
    )
    store = JudgedStore("s", tuple(entries), documents=files)
    old = MEALS.candidates[0].model_copy(update={"cost": F(0), "text": "old"})
    package = MEALS.replace(candidates=(old,), coverage=MEALS.coverage[:1], equal_texts_once=True)
    found = diagnosis(package, store, 4)
    assert losses(found) == {"generation": 0, "extraction": 1, "cost": 0, "selection": 0}
    assert (found.optimum, found.kept_share) == (F(5, 2), F(3, 5))


def test_no_diagnosis() -> None:
    """Of an optimum of 0, or without a proof: it says which optimum is open and how far it is
    known, as text and as data."""
    with pytest.raises(NoDiagnosis, match="the optimum is 0") as caught:
        diagnosis(MEALS, LONG, 0)
    assert (caught.value.undefined, caught.value.basis) == ("optimum is 0", "common union")
    scorer = StoreScorer(MEALS, [LONG])
    proven = scorer.alone_optimum(LONG, F(5))
    scorer._alone(LONG)._optima[F(5)] = replace(
        proven, status="bound", certificate=None, bound=proven.value + 2
    )
    with pytest.raises(NoDiagnosis) as caught:
        diagnose_losses(scorer, LONG, F(5))
    assert str(caught.value) == (
        "no diagnosis of 'long' at budget 5: the optimum of the store alone is not certified, it "
        "lies between 3 and 5"
    )
    row = diagnosis_row(caught.value)
    assert (row["undefined"], row["basis"]) == ("optimum not certified", "store alone")
    assert (row["optimum"], row["bound"], row["status"]) == (3, 5, "bound")


Covers = Mapping[str, Fraction]


def true_worth(store: Iterable[Covers]) -> float:
    """F of a few candidates with the responses of IRRATIONAL, in floating point."""
    total: Counter[str] = Counter()
    for covers in store:
        total.update({unit: float(share) for unit, share in covers.items()})
    return 3 * math.sqrt(total["now"]) + 3 * math.log1p(total["ended"]) + math.sqrt(total["once"])


def true_optimum(candidates: Sequence[tuple[int, Covers]], budget: int) -> float:
    return max(
        true_worth(covers for _, covers in chosen)
        for size in range(len(candidates) + 1)
        for chosen in combinations(candidates, size)
        if sum(cost for cost, _ in chosen) <= budget
    )


@settings(max_examples=40, deadline=None)
@given(stores("a"), stores("b"), st.integers(2, 9))
def test_irrational_values_are_diagnosed_too(
    first: JudgedStore, second: JudgedStore, budget: int
) -> None:
    """Shares sum to 1 exactly, and each encloses what floating point and brute force find."""
    scorer = StoreScorer(IRRATIONAL, [first, second])
    own: list[tuple[int, Covers]] = [(2, {"once": F(1)}), (4, {"now": F(1), "ended": F(1)})]
    mine, others = (
        [
            (int(item.cost), {unit: cell.value for unit, cell in item.coverage.items()})
            for item in store.memories
        ]
        for store in (first, second)
    )
    opt = true_optimum([*own, *mine, *others], budget)
    for store, written in ((first, mine), (second, others)):
        covers = dict(zip(store.candidate_ids, (row for _, row in written), strict=True))
        found = diagnose_losses(scorer, store, F(budget))
        assert sum(step.share for step in found.steps) + found.kept_share == 1
        for step in found.steps:
            assert step.value >= 0
            assert step.between.low <= step.share <= step.between.high
        assert found.precision < F(1, 10**8)
        best, union = true_optimum(written, budget), true_optimum([*own, *written], budget)
        kept = true_worth(covers[id] for id in found.kept)
        for between, share in (
            (found.steps[0].between, (opt - union) / opt),
            (found.steps[3].between, (best - kept) / opt),
            (found.kept_between, kept / opt),
        ):
            assert float(between.low) - 1e-9 <= share <= float(between.high) + 1e-9
        row = diagnosis_row(found)
        assert row["exact"] == found.is_exact
        assert ("kept_between" in row) == (not found.is_exact)


def test_kinds_by_hand() -> None:
    """At budget 5 OPT is 7: both candidates but `old`, and m1. `ended` was never written,
    `now` is in the best subset and not kept, `once` is kept; the best subset has no room
    for it."""
    scorer = StoreScorer(MEALS, [LONG])
    written = scorer.numbers(LONG, F(5)).written.unit_values
    rows = kind_rows(MEALS, written, diagnose_losses(scorer, LONG, F(5)))
    current, supersession, stale = rows
    assert [row.kind for row in rows] == ["current", "supersession", "stale"]
    assert (current.units, current.weight, current.written, current.share) == (1, 3, 3, 1)
    nothing = dict.fromkeys(LOSS_STEPS, 0)
    assert (current.kept, current.gained) == (0, nothing)
    assert current.lost == nothing | {"selection": 3}
    assert (supersession.written, supersession.share, supersession.kept) == (0, 0, 0)
    assert (supersession.lost, supersession.gained) == (nothing | {"extraction": 3}, nothing)
    assert kinds_data([stale]) == {
        "stale": {
            "units": 1,
            "weight": 1.0,
            "value": 1.0,
            "share": 1.0,
            "kept": 1.0,
            "lost": nothing | {"cost": 1.0},
            "gained": nothing | {"selection": 1.0},
        }
    }
    rows = kind_rows(MEALS, {"current": F(3)}, None)
    assert [(row.kind, row.written, row.kept, row.lost, row.gained) for row in rows] == [
        ("current", 3, None, None, None),
        ("supersession", 0, None, None, None),
        ("stale", 0, None, None, None),
    ]
    data = kinds_data(rows)["current"]
    assert (data["lost"], data["gained"]) == (None, None)
    assert KindRow("fact", 1, F(0), F(0), None, None, None).share is None


def test_pooled_kinds() -> None:
    """Added up by kind; a package without a diagnosis adds to what is written alone."""
    ones, twos = (dict.fromkeys(LOSS_STEPS, F(n)) for n in (1, 2))
    diagnosed = KindRow("fact", 2, F(4), F(1), F(1), twos, ones)
    undiagnosed = KindRow("fact", 1, F(2), F(2), None, None, None)
    other = KindRow("current", 1, F(1), F(0), None, None, None)
    current, fact = pool_kind_rows([diagnosed, undiagnosed, other, diagnosed])
    assert current.kind == "current"
    assert current.kept is current.lost is current.gained is None
    assert (fact.units, fact.weight, fact.written, fact.kept) == (5, 10, 4, 2)
    assert fact.lost == dict.fromkeys(LOSS_STEPS, F(4))
    assert fact.gained == twos
    assert fact.share == Fraction(4, 10)

"""Optima of labellings inside a box: those that are not solved are as good as solved."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.core.objective import value, violations
from memaudit.core.package import Package
from memaudit.label_audit.audited_package import own_values, relabelled
from memaudit.label_audit.fixed_stores import FixedStores
from memaudit.label_audit.ratio_bounds import (
    BoxOptima,
    LabelBox,
    RatioBounds,
    StoreValues,
    label_box,
    lowest_ratio,
    mean_bounds,
    ratio_bounds,
    unit_gains,
)
from memaudit.label_audit.relabelled_optima import (
    OptimumSummary,
    RelabelledScorer,
    RelabelTask,
    score_labellings,
)
from memaudit.natural.label_passes import CellKey
from memaudit.scoring.score import NOT_CERTIFIED, OPTIMUM_IS_ZERO
from tests.label_audit.tiny_package import F, package
from tests.strategies import BUDGETS, packages

LABELS = (F(0), F(1, 2), F(1))


@st.composite
def boxes(draw: st.DrawFn, most: int = 4, responses: bool = True) -> tuple[Package, LabelBox]:
    found = draw(packages(max_groups=3, max_candidates=2, max_units=3, responses=responses))
    cells = [(c.id, u.id) for c in found.candidates for u in found.units]
    chosen = draw(st.lists(st.sampled_from(cells), unique=True, max_size=most)) if cells else []
    own = own_values(found)
    given = {at: (own.get(at, F(0)), draw(st.sampled_from(LABELS))) for at in sorted(chosen)}
    wide = {at: pair for at, pair in given.items() if pair[0] != pair[1]}
    low = {at: min(pair) for at, pair in wide.items()}
    return found, LabelBox(low, {at: max(pair) for at, pair in wide.items()})


def labellings(box: LabelBox) -> list[dict[CellKey, Fraction]]:
    ends = [(box.low[at], box.high[at]) for at in box.low]
    return [dict(zip(box.low, chosen, strict=True)) for chosen in product(*ends)]


def test_box() -> None:
    """A cell is open if two labels differ, the package's own counted, also as 0."""
    own = {("a", "u"): F(1), ("b", "v"): F(1, 2)}
    ann: Mapping[CellKey, Fraction] = {("a", "u"): F(1), ("b", "v"): F(0), ("c", "u"): F(1, 2)}
    bob: Mapping[CellKey, Fraction] = {("b", "v"): F(1)}
    found = label_box([ann, bob], own)
    assert found.low == {("b", "v"): 0, ("c", "u"): 0}
    assert found.high == {("b", "v"): 1, ("c", "u"): F(1, 2)}


@settings(max_examples=60)
@given(boxes(3), st.sampled_from(BUDGETS))
def test_every_labelling_as_if_solved(drawn: tuple[Package, LabelBox], budget: Fraction) -> None:
    found, box = drawn
    inside = BoxOptima(found, box)
    for end in (box.high, box.low):
        inside.optimum(end, budget)
    for labels in labellings(box):
        best = inside.optimum(labels, budget)
        solved = RelabelledScorer(relabelled(found, labels, "x")).summary(budget)
        assert best.certified
        assert best.highest == solved.highest
        assert value(relabelled(found, labels, "x"), best.store).high == best.highest


@settings(max_examples=40)
@given(boxes(), st.data())
def test_values_of_stores(drawn: tuple[Package, LabelBox], data: st.DataObject) -> None:
    found, box = drawn
    ids = sorted(one.id for one in found.candidates)
    store = data.draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    for labels in labellings(box):
        got = StoreValues(found).changed(labels).worth(store)
        want = value(relabelled(found, labels, "x"), store)
        assert (got.low, got.high) == (want.low, want.high)


def test_measured_like_a_solved_package() -> None:
    stores = FixedStores({("one", F(1)): ("b",), ("two", F(2)): ("b", "c")}, {})
    box = LabelBox({("b", "v"): F(0), ("c", "u"): F(0)}, {("b", "v"): F(1), ("c", "u"): F(1)})
    labels = {("c", "u"): F(1)}
    inside = BoxOptima(package(), box)
    budgets = (F(1), F(2))
    (base, want) = score_labellings(
        RelabelTask(package(), stores, budgets, ((), tuple(labels.items())), "x")
    )
    inside.learn({}, base)
    got = inside.scores(labels, stores, budgets)
    assert (got.ratios, got.values) == (want.ratios, want.values)
    assert got.ratios["two", F(2)] == 1
    for budget in budgets:
        assert got.optima[budget].highest == want.optima[budget].highest


def test_known_ends_leave_nothing_to_solve(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    box = LabelBox({("c", "v"): F(0)}, {("c", "v"): F(1, 2)})
    inside = BoxOptima(package(), box)
    for end in (box.high, box.low):
        inside.optimum(end, F(1))

    def refuse(*_: object) -> RelabelledScorer:
        raise AssertionError("solved again")

    monkeypatch.setattr("memaudit.label_audit.ratio_bounds.RelabelledScorer", refuse)
    assert inside.optimum({("c", "v"): F(1, 4)}, F(1)).highest == 2


PARTS = (F(0), F(1, 3), F(1, 2), F(1), F(2))


def test_gains() -> None:
    """b covers u by 1/2 (weight 2, full at 1); a's cell is open from 1/4 to 1.

    S = {a, b} covers 3/4 at the start. Raising by 1/4 fills it: S gains 1/2, others at most 1/2.
    Raising by 3/4 gives S no more, others up to 3/2.
    """
    cells = [
        {"candidate": "a", "unit": "u", "value": "1/4"},
        {"candidate": "b", "unit": "u", "value": "1/2"},
    ]
    low, high = {("a", "u"): F(1, 4)}, {("a", "u"): F(1)}
    found = unit_gains(
        StoreValues(package(coverage=cells)), LabelBox(low, high), [("a", "u")], ["a", "b"]
    )
    assert found == [[(F(0), F(0)), (F(1, 2), F(1, 2)), (F(1, 2), F(3, 2))]]


def test_gains_of_a_bending_response() -> None:
    units = [{"id": "u", "kind": "fact", "weight": 2, "response": {"shape": "sqrt"}}]
    found = unit_gains(
        StoreValues(package(units=units, coverage=[])),
        LabelBox({("a", "u"): F(0)}, {("a", "u"): F(1, 4)}),
        [("a", "u")],
        ["a"],
    )
    assert found == [[(F(0), F(0)), (F(0), F(1))]]


def test_units_that_weigh_nothing_gain_nothing() -> None:
    units = [{"id": "u", "kind": "fact", "weight": 0}]
    values = StoreValues(package(units=units, coverage=[]))
    box = LabelBox({("a", "u"): F(0)}, {("a", "u"): F(1)})
    assert unit_gains(values, box, [("a", "u")], ["a"]) == []


def test_without_an_optimum() -> None:
    assert lowest_ratio(F(0), F(0), [[(F(0), F(0)), (F(1), F(2))], [(F(1), F(1))]]) == F(1, 2)
    assert lowest_ratio(F(0), F(0), []) == 0


@given(
    st.sampled_from(PARTS),
    st.sampled_from(PARTS[1:]),
    st.lists(
        st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from(PARTS)), max_size=3), max_size=4
    ),
)
def test_the_least_share(
    value: Fraction, more: Fraction, units: list[list[tuple[Fraction, Fraction]]]
) -> None:
    found = [[(F(0), F(0)), *((min(pair), max(pair)) for pair in unit)] for unit in units]
    optimum = value + more
    shares = [
        (value + sum(a for a, _ in chosen)) / (optimum + sum(b for _, b in chosen))
        for chosen in product(*found)
    ]
    assert lowest_ratio(value, optimum, found) == min(shares)


def feasible(found: Package, wanted: Sequence[str], budget: Fraction) -> list[str]:
    store: list[str] = []
    for id in wanted:
        if not violations(found, [*store, id], budget, found.group_cap):
            store.append(id)
    return store


@settings(max_examples=100)
@given(boxes(3), st.sampled_from(BUDGETS), st.data())
def test_no_labelling_is_outside(
    drawn: tuple[Package, LabelBox], budget: Fraction, data: st.DataObject
) -> None:
    """Every choice for the open cells, and labels between them, gives a ratio within the bounds;
    what is called reached is the ratio of one of them."""
    found, box = drawn
    ids = sorted(one.id for one in found.candidates)
    wanted = data.draw(st.permutations(ids)) if ids else []
    store = feasible(found, wanted, budget)
    got = ratio_bounds(BoxOptima(found, box), store, budget)
    between = {at: (box.low[at] + box.high[at]) / 2 for at in box.low}
    ratios = [
        RelabelledScorer(relabelled(found, labels, "x")).ratio(store, budget)
        for labels in (*labellings(box), between)
    ]
    defined = [ratio.value for ratio in ratios if ratio.value is not None]
    if isinstance(got, str):
        assert got == OPTIMUM_IS_ZERO
        assert not defined
        return
    assert got.low <= min(defined) <= max(defined) <= got.high
    assert got.high <= 1
    assert got.sometimes_undefined == (len(defined) < len(ratios))
    for reached in (got.reached_low, got.reached_high):
        assert reached is None or reached in defined
    if got.reached_low is not None and got.reached_high is not None:
        assert got.low <= got.reached_low
        assert got.reached_high <= got.high
    if got.exact:
        assert (got.low, got.high) == (min(defined), max(defined))


def test_by_hand() -> None:
    """S = {b} at budget 1; bv open down to 0.5, cu open up to 1, worth nothing to the best.

    Low: F = 1/2, OPT = 2 (a). High: F = 1, OPT = 2. Both ends are reached: OPT never moves.
    """
    box = LabelBox({("b", "v"): F(1, 2), ("c", "u"): F(0)}, {("b", "v"): F(1), ("c", "u"): F(1)})
    got = ratio_bounds(BoxOptima(package(), box), ["b"], F(1))
    assert got == RatioBounds(F(1, 4), F(1, 2), F(1, 4), F(1, 2), False)
    assert got.exact


def test_where_the_optimum_may_be_zero() -> None:
    """S = {a} at budget 1; au and bv open down to 0, where nothing is worth anything.

    Low: F = 0 over OPT = 2. High: F = 2 over OPT = 0, so no more than the 1 of a feasible store.
    Both are reached: au = 0 beside bv = 1, and au = 1.
    """
    box = LabelBox({("a", "u"): F(0), ("b", "v"): F(0)}, {("a", "u"): F(1), ("b", "v"): F(1)})
    got = ratio_bounds(BoxOptima(package(), box), ["a"], F(1))
    assert got == RatioBounds(F(0), F(1), F(0), F(1), True)


def test_a_label_that_helps_the_best_store_more() -> None:
    """S = {a, b} both cover u at budget 2, where au + bu = 1 already; raising au to 1 gains S
    nothing. The best store {a, c} gains 1/2 of u: the ratio falls as a label of S rises.

    au = 1/2: S has u (2); {a, c} has half of u and v, 2; OPT 2, ratio 1. au = 1: S has 2, {a, c}
    3, ratio 2/3: lowest where the labels of S are high.
    """
    rows = [("a", "u", "1/2"), ("b", "u", "1/2"), ("c", "v", 1)]
    cells = [{"candidate": c, "unit": u, "value": value} for c, u, value in rows]
    box = LabelBox({("a", "u"): F(1, 2)}, {("a", "u"): F(1)})
    got = ratio_bounds(BoxOptima(package(coverage=cells), box), ["a", "b"], F(2))
    assert got == RatioBounds(F(2, 3), F(1), F(2, 3), F(1), False)


def test_labels_of_the_store_that_count_for_both() -> None:
    """S = {a, b} at budget 2; au open from 1/2, bv open from 0, c covers v.

    F low is 1 over OPT high 3, but raising au lifts OPT no more than S, and bv too: the lower bound
    is the 1/2 of au = 1/2 and bv = 0. Both 1 gives 3/3.
    """
    cells = [{"candidate": c, "unit": u, "value": 1} for c, u in ("au", "bv", "cv")]
    low = {("a", "u"): F(1, 2), ("b", "v"): F(0)}
    box = LabelBox(low, {("a", "u"): F(1), ("b", "v"): F(1)})
    got = ratio_bounds(BoxOptima(package(coverage=cells), box), ["a", "b"], F(2))
    assert got == RatioBounds(F(1, 2), F(1), F(1, 2), F(1), False)


def test_bounds_that_nothing_reaches() -> None:
    """S = {a, b} at budget 2; b covers u, c covers x (1); au and bv are open from 0 to 1.

    Ratios: bv = 0 gives F = 2 over OPT = 3 (b, c), bv = 1 gives 3 over 4, whatever au is. Bounds:
    F low / OPT high = 2/4; au could give others 2 and S nothing, so the floor is 2 / (3 + 2): the
    better one is 1/2. Above, F high / OPT low = 3/3.
    """
    units = [{"id": id, "kind": "fact", "weight": w} for id, w in (("u", 2), ("v", 1), ("x", 1))]
    cells = [{"candidate": c, "unit": u, "value": 1} for c, u in ("bu", "cx")]
    open_cells = [("a", "u"), ("b", "v")]
    box = LabelBox(dict.fromkeys(open_cells, F(0)), dict.fromkeys(open_cells, F(1)))
    got = ratio_bounds(BoxOptima(package(units=units, coverage=cells), box), ["a", "b"], F(2))
    assert got == RatioBounds(F(1, 2), F(1), F(2, 3), F(3, 4), False)
    assert not got.exact


def test_no_bounds_where_nothing_is_worth_anything() -> None:
    assert (
        ratio_bounds(BoxOptima(package(coverage=[]), LabelBox({}, {})), ["a"], F(1))
        == OPTIMUM_IS_ZERO
    )


def test_no_bounds_without_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    unproven = OptimumSummary(F(2), F(2), False, NOT_CERTIFIED, ("a",))
    monkeypatch.setattr(RelabelledScorer, "summary", lambda *_: unproven)
    assert ratio_bounds(BoxOptima(package(), LabelBox({}, {})), ["a"], F(1)) == NOT_CERTIFIED


def exactly(low: str, high: str, maybe: bool = False) -> RatioBounds:
    return RatioBounds(F(low), F(high), F(low), F(high), maybe)


def test_mean_bounds() -> None:
    """The mean of bounds, unless a package may drop out: (0 + 1/2) / 2 without the second one."""
    one, two = exactly("1/4", "1/2"), exactly("3/4", "1")
    found = mean_bounds([one, two])
    assert found is not None
    assert (found.low, found.high, found.exact, found.packages) == (F(1, 2), F(3, 4), True, 2)
    found = mean_bounds([one, exactly("3/4", "1", maybe=True)])
    assert found is not None
    assert (found.low, found.high, found.exact) == (F(1, 4), F(3, 4), False)
    assert mean_bounds([]) is None


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("0", "1/4", "1/2")),
            st.sampled_from(("1/2", "3/4", "1")),
            st.booleans(),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_mean_bounds_hold_whoever_drops_out(rows: list[tuple[str, str, bool]]) -> None:
    all_of_them = [exactly(*row) for row in rows]
    found = mean_bounds(all_of_them)
    assert found is not None
    lows, highs = [], []
    for there in product((True, False), repeat=len(rows)):
        kept = [
            one
            for one, is_there in zip(all_of_them, there, strict=True)
            if is_there or not one.sometimes_undefined
        ]
        if kept:
            lows.append(sum(one.low for one in kept) / len(kept))
            highs.append(sum(one.high for one in kept) / len(kept))
    assert (found.low, found.high) == (min(lows), max(highs))

"""Bounds of ratios against every labelling of tiny packages, and of means against every choice."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.core.objective import violations
from memaudit.core.package import Package
from memaudit.label_audit.audited_package import relabelled
from memaudit.label_audit.label_box import Box, Inside
from memaudit.label_audit.ratio_bounds import Bounds, bounds, mean_bounds
from memaudit.label_audit.relabelled_optima import Best, Labelled
from memaudit.scoring.ratio import NOT_CERTIFIED, ZERO
from tests.label_audit.ratios.test_inside import boxes, labellings
from tests.label_audit.ratios.tiny import F, package
from tests.strategies import BUDGETS


def feasible(found: Package, wanted: Sequence[str], budget: Fraction) -> list[str]:
    """As much of the wanted candidates, in order, as the package allows."""
    store: list[str] = []
    for id in wanted:
        if not violations(found, [*store, id], budget, found.group_cap):
            store.append(id)
    return store


@settings(max_examples=100)
@given(boxes(3), st.sampled_from(BUDGETS), st.data())
def test_no_labelling_is_outside(
    drawn: tuple[Package, Box], budget: Fraction, data: st.DataObject
) -> None:
    """Every choice for the open cells, and labels between them, gives a ratio within the bounds;
    what is called reached is the ratio of one of them."""
    found, box = drawn
    ids = sorted(one.id for one in found.candidates)
    wanted = data.draw(st.permutations(ids)) if ids else []
    store = feasible(found, wanted, budget)
    got = bounds(Inside(found, box), store, budget)
    between = {at: (box.low[at] + box.high[at]) / 2 for at in box.low}
    ratios = [
        Labelled(relabelled(found, labels, "x")).ratio(store, budget)
        for labels in (*labellings(box), between)
    ]
    defined = [ratio.value for ratio in ratios if ratio.value is not None]
    if isinstance(got, str):
        assert got == ZERO
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
    box = Box({("b", "v"): F(1, 2), ("c", "u"): F(0)}, {("b", "v"): F(1), ("c", "u"): F(1)})
    got = bounds(Inside(package(), box), ["b"], F(1))
    assert got == Bounds(F(1, 4), F(1, 2), F(1, 4), F(1, 2), False)
    assert got.exact


def test_where_the_optimum_may_be_zero() -> None:
    """S = {a} at budget 1; au and bv open down to 0, where nothing is worth anything.

    Low: F = 0 over OPT = 2. High: F = 2 over OPT = 0, so no more than the 1 of a feasible store.
    Both are reached: au = 0 beside bv = 1, and au = 1.
    """
    box = Box({("a", "u"): F(0), ("b", "v"): F(0)}, {("a", "u"): F(1), ("b", "v"): F(1)})
    got = bounds(Inside(package(), box), ["a"], F(1))
    assert got == Bounds(F(0), F(1), F(0), F(1), True)


def test_a_label_that_helps_the_best_store_more() -> None:
    """S = {a, b} both cover u at budget 2, where au + bu = 1 already; raising au to 1 gains S
    nothing. The best store {a, c} gains 1/2 of u: the ratio falls as a label of S rises.

    au = 1/2: S has u (2); {a, c} has half of u and v, 2; OPT 2, ratio 1. au = 1: S has 2, {a, c}
    3, ratio 2/3: lowest where the labels of S are high.
    """
    rows = [("a", "u", "1/2"), ("b", "u", "1/2"), ("c", "v", 1)]
    cells = [{"candidate": c, "unit": u, "value": value} for c, u, value in rows]
    box = Box({("a", "u"): F(1, 2)}, {("a", "u"): F(1)})
    got = bounds(Inside(package(coverage=cells), box), ["a", "b"], F(2))
    assert got == Bounds(F(2, 3), F(1), F(2, 3), F(1), False)


def test_labels_of_the_store_that_count_for_both() -> None:
    """S = {a, b} at budget 2; au open from 1/2, bv open from 0, c covers v.

    F low is 1 over OPT high 3, but raising au lifts OPT no more than S, and bv too: the lower bound
    is the 1/2 of au = 1/2 and bv = 0. Both 1 gives 3/3.
    """
    cells = [{"candidate": c, "unit": u, "value": 1} for c, u in ("au", "bv", "cv")]
    low = {("a", "u"): F(1, 2), ("b", "v"): F(0)}
    box = Box(low, {("a", "u"): F(1), ("b", "v"): F(1)})
    got = bounds(Inside(package(coverage=cells), box), ["a", "b"], F(2))
    assert got == Bounds(F(1, 2), F(1), F(1, 2), F(1), False)


def test_bounds_that_nothing_reaches() -> None:
    """S = {a, b} at budget 2; b covers u, c covers x (1); au and bv are open from 0 to 1.

    Ratios: bv = 0 gives F = 2 over OPT = 3 (b, c), bv = 1 gives 3 over 4, whatever au is. Bounds:
    F low / OPT high = 2/4; au could give others 2 and S nothing, so the floor is 2 / (3 + 2): the
    better one is 1/2. Above, F high / OPT low = 3/3.
    """
    units = [{"id": id, "kind": "fact", "weight": w} for id, w in (("u", 2), ("v", 1), ("x", 1))]
    cells = [{"candidate": c, "unit": u, "value": 1} for c, u in ("bu", "cx")]
    open_cells = [("a", "u"), ("b", "v")]
    box = Box(dict.fromkeys(open_cells, F(0)), dict.fromkeys(open_cells, F(1)))
    got = bounds(Inside(package(units=units, coverage=cells), box), ["a", "b"], F(2))
    assert got == Bounds(F(1, 2), F(1), F(2, 3), F(3, 4), False)
    assert not got.exact


def test_no_bounds_where_nothing_is_worth_anything() -> None:
    """The ratio is undefined under every labelling."""
    assert bounds(Inside(package(coverage=[]), Box({}, {})), ["a"], F(1)) == ZERO


def test_no_bounds_without_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a number, but the reason."""
    unproven = Best(F(2), F(2), False, NOT_CERTIFIED, ("a",))
    monkeypatch.setattr(Labelled, "best", lambda *_: unproven)
    assert bounds(Inside(package(), Box({}, {})), ["a"], F(1)) == NOT_CERTIFIED


def exactly(low: str, high: str, maybe: bool = False) -> Bounds:
    """Bounds that are reached."""
    return Bounds(F(low), F(high), F(low), F(high), maybe)


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
        st.tuples(st.sampled_from(("0", "1/4", "1/2")), st.sampled_from(("1/2", "3/4", "1")),
                  st.booleans()),
        min_size=1, max_size=5,
    )
)  # fmt: skip
def test_mean_bounds_hold_whoever_drops_out(rows: list[tuple[str, str, bool]]) -> None:
    """Against every choice of packages that may be missing."""
    all_of_them = [exactly(*row) for row in rows]
    found = mean_bounds(all_of_them)
    assert found is not None
    lows, highs = [], []
    for there in product((True, False), repeat=len(rows)):
        kept = [one for one, is_there in zip(all_of_them, there, strict=True)
                if is_there or not one.sometimes_undefined]  # fmt: skip
        if kept:
            lows.append(sum(one.low for one in kept) / len(kept))
            highs.append(sum(one.high for one in kept) / len(kept))
    assert (found.low, found.high) == (min(lows), max(highs))

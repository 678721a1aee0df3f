"""Passes and greedy on estimates, with an estimator whose numbers are given."""

from fractions import Fraction
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.kernel.package.package import Package
from memaudit.lab.sweeps.writers.estimated import (
    MAX_THRESHOLDS,
    EstimatedDraft,
    EstimatedGreedy,
    EstimatedGvt,
    Values,
    estimated,
    threshold_grid,
    threshold_pass,
)
from memaudit.lab.sweeps.writers.protocol import View, visible
from tests.lab.sweeps.writers.running import everything, view_of
from tests.strategies import packages

F = Fraction


def given_values(*values: float) -> Values:
    return lambda _: values


MEALS = view_of(
    [("raw", "apples pears", 4), ("fact", "apples", 1)],
    [("fact", "apples plums", 2), ("tombstone", "apples", 1)],
)
VALUES = given_values(4.0, 2.0, 3.0, 1.5)
"""Densities alone: 1, 2, 1.5, 1.5."""


def gvt(view: View, budget: int, values: Values = VALUES) -> list[str]:
    return list(EstimatedGvt(values).write(view, F(budget), 0))


def test_a_pass_by_hand() -> None:
    """At threshold 1 and budget 6 the raw span comes in, 4 for 4.

    Of the fact only plums are new, 1.5 for 2: too thin. The tombstone says that apples are over,
    which is new: 1.5 for 1.
    """
    draft = threshold_pass(estimated(MEALS, F(6), VALUES), 1.0)
    assert draft.store == ("0.0", "1.1")
    assert (draft.value, draft.cost) == (5.5, 5)


def test_the_best_pass_wins() -> None:
    """Budget 3. At 0 to 1.5 the raw span does not fit: the fact, 2, then the tombstone, 1.5.

    Plums alone would add 1.5 as well but cost more. At 2 the fact stays alone.
    """
    assert threshold_grid(estimated(MEALS, F(3), VALUES)) == [0.0, 1.5, 2.0]
    assert gvt(MEALS, 3) == ["0.1", "1.1"]
    assert gvt(MEALS, 0) == []


def test_of_equal_passes_the_cheaper_wins() -> None:
    """At 0 the thin span that comes first fills the store, 2 for 4; at 2 the fact does, 2 for 1."""
    view = view_of([("raw", "apples", 4)], [("fact", "pears", 1)])
    assert gvt(view, 4, given_values(2.0, 2.0)) == ["1.0"]


def test_what_is_worth_nothing_stays_out() -> None:
    view = view_of([("raw", "apples", 0)], [("fact", "pears", 0)])
    assert gvt(view, 4, given_values(0.0, 1.0)) == ["1.0"]
    assert EstimatedGreedy(given_values(0.0, 1.0)).write(view, F(4), 0) == ("1.0",)


def test_a_long_grid_is_thinned_evenly() -> None:
    """200 densities and 0 leave 64, the lowest and the highest among them."""
    view = view_of(*([("fact", f"word{n}", 1)] for n in range(200)))
    grid = threshold_grid(estimated(view, F(5), given_values(*(float(n + 1) for n in range(200)))))
    assert len(grid) == MAX_THRESHOLDS == 64
    assert grid == sorted(set(grid))
    assert (grid[0], grid[-1]) == (0.0, 200.0)
    assert {round(b - a) for a, b in pairwise(grid)} <= {3, 4}


@settings(max_examples=40, deadline=None)
@given(package=packages(max_groups=5), share=st.sampled_from((F(1, 4), F(1, 2), F(1))))
def test_lazy_estimated_greedy_is_greedy(package: Package, share: Fraction) -> None:
    view, budget = visible(package), everything(package) * share
    draft = EstimatedDraft(estimated(view, budget))
    while True:
        ranked = [
            (draft.density(p, gain), gain, -draft.estimates.cost[p], -p)
            for p in range(len(view.candidates))
            if draft.fits(p) and (gain := draft.gain(p)) > 0
        ]
        if not ranked:
            break
        draft.keep(-max(ranked)[3])
    assert EstimatedGreedy().write(view, budget, 0) == draft.store

"""Rankings of writers under two label sets, worked out by hand."""

from fractions import Fraction

import pytest

from memaudit.lab.labels.ratio_summary import compare_rankings
from tests.lab.labels.tiny_package import F

Ratios = list[list[Fraction | None]]


def test_a_swap() -> None:
    """Means 0.5, 0.25, 0 and 0.25, 0.5, 0: the first two swap. C = 2, D = 1, tau 1/3."""
    first: Ratios = [[F(1, 2)] * 2, [F(1, 4)] * 2, [F(0)] * 2]
    second: Ratios = [[F(1, 2), F(0)], [F(1, 2)] * 2, [F(0)] * 2]
    found = compare_rankings(("x", "y", "z"), first, second)
    assert found.ranked == 3
    assert not found.preserved
    assert (found.swapped, found.tied_under_one) == ([("x", "y")], [])
    assert found.tau_b.value == pytest.approx(1 / 3)
    assert found.spearman_rho.value == pytest.approx(0.5)
    assert found.text == "1 swap"


def test_only_packages_with_both_ratios() -> None:
    """x has no ratio of the second package under one set, so its 1 there does not count; z has
    none at all and is not ranked."""
    first: Ratios = [[F(0), F(1)], [F(1, 4), F(1, 4)], [None, F(1)]]
    second: Ratios = [[F(0), None], [F(1, 4), F(1, 4)], [F(1), None]]
    found = compare_rankings(("x", "y", "z"), first, second)
    assert (found.ranked, found.preserved, found.swapped) == (2, True, [])
    assert found.text == "preserved"


def test_a_tie_is_no_swap() -> None:
    found = compare_rankings(("x", "y", "z"), [[F(1)], [F(1, 2)], [F(0)]], [[F(1)], [F(1)], [F(0)]])
    assert (found.preserved, found.swapped, found.tied_under_one) == (False, [], [("x", "y")])


def test_a_single_store_has_no_ranking() -> None:
    found = compare_rankings(("x",), [[F(1)]], [[F(0)]])
    assert (found.ranked, found.preserved, found.text) == (1, None, None)
    assert (found.tau_b.value, found.spearman_rho.value) == (None, None)

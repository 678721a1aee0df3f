"""Rank correlations worked out by hand, and their draws one by one."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.kernel.stats.bootstrap import resample_counts
from memaudit.lab.labels.ratio_audit_summary import compare_rankings
from memaudit.lab.studies.rank_correlation import exact_kendall, exact_spearman
from tests.lab.labels.tiny_package import F

ratios = st.lists(st.sampled_from((F(0), F(1, 4), F(1, 2), F(1))), min_size=6, max_size=6)


def test_a_swap() -> None:
    """Means 0.5, 0.25, 0 and 0.25, 0.5, 0: the first two swap. C = 2, D = 1, tau 1/3."""
    first = [[F(1, 2)] * 2, [F(1, 4)] * 2, [F(0)] * 2]
    second = [[F(1, 2), F(0)], [F(1, 2)] * 2, [F(0)] * 2]
    found = compare_rankings(("x", "y", "z"), first, second, None)
    assert found.ranked == 3
    assert not found.preserved
    assert (found.swapped, found.tied) == ((("x", "y"),), ())
    assert found.tau.value == pytest.approx(1 / 3)
    assert found.rho.value == pytest.approx(0.5)
    assert np.isnan([found.tau.low, found.rho.high]).all()
    assert found.stays is None


def test_only_packages_with_both_ratios() -> None:
    """x has no ratio of the second package under one set, so its 1 there does not count; z has
    none at all and is not ranked."""
    first: list[list[F | None]] = [[F(0), F(1)], [F(1, 4), F(1, 4)], [None, F(1)]]
    second: list[list[F | None]] = [[F(0), None], [F(1, 4), F(1, 4)], [F(1), None]]
    found = compare_rankings(("x", "y", "z"), first, second, None)
    assert (found.ranked, found.preserved, found.swapped) == (2, True, ())


def test_a_tie_is_no_swap() -> None:
    found = compare_rankings(
        ("x", "y", "z"), [[F(1)], [F(1, 2)], [F(0)]], [[F(1)], [F(1)], [F(0)]], None
    )
    assert (found.preserved, found.swapped, found.tied) == (False, (), (("x", "y"),))


@given(ratios, ratios, ratios, ratios)
def test_draws(a: list[Fraction], b: list[Fraction], c: list[Fraction], d: list[Fraction]) -> None:
    counts = resample_counts(3, seed=1, resamples=20)
    first, second = [a[:3], b[:3], a[3:]], [c[:3], d[:3], d[3:]]
    found = compare_rankings(("x", "y", "z"), first, second, counts)
    taus, rhos, same = [], [], []
    for row in counts.astype(int).tolist():
        sides = [
            [sum(n * one for n, one in zip(row, column, strict=True)) / F(3) for column in side]
            for side in (first, second)
        ]
        tau = exact_kendall(*sides)
        same.append(tau.same_order)
        taus += [] if tau.value is None else [tau.value]
        rhos += [] if (rho := exact_spearman(*sides)) is None else [rho]
    assert found.stays == pytest.approx(np.mean(same))
    for values, got in ((taus, found.tau), (rhos, found.rho)):
        if values:
            assert (got.low, got.high) == pytest.approx(tuple(np.percentile(values, [2.5, 97.5])))
        else:
            assert np.isnan([got.low, got.high]).all()

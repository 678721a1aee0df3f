"""Bootstrap intervals against the binomial distribution they must follow."""

import numpy as np
import pytest

from memaudit.label_audit.coding import COVERED_SCALE
from memaudit.label_audit.resampling import (
    Bounds,
    Pool,
    bootstrap,
    pair_measure,
    pool_of_cells,
    pool_of_packages,
    within,
)

DRAWS = 20_000
MEASURE = pair_measure(COVERED_SCALE)


def bounds(pool: Pool, places: list[int], seed: int = 0) -> list[Bounds | None]:
    """Kappa, raw agreement and own agreements of cells at places of a table of two by two."""
    table = pool.gathered(np.array(places), np.ones(len(places)), 4)
    dice = np.random.default_rng(seed)
    return bootstrap(pool, [(table, MEASURE)], DRAWS, dice)[0]


def test_cells_are_drawn_with_replacement() -> None:
    """80 of 100 cells agree: Binomial(100, 0.8) / 100 has its outer 2.5% below 0.72, above 0.87."""
    places = [0] * 40 + [3] * 40 + [1] * 10 + [2] * 10
    few_classes = pool_of_cells([np.array(places)])
    each_its_own = pool_of_cells([np.array(places), np.arange(100)])
    assert (len(few_classes.sizes), len(each_its_own.sizes)) == (4, 100)  # both ways of drawing
    for pool in (few_classes, each_its_own):
        raw = bounds(pool, places)[1]
        assert raw is not None
        assert raw.low == pytest.approx(0.72, abs=0.011)
        assert raw.high == pytest.approx(0.87, abs=0.011)
    alone = within(np.array([40, 10, 10, 40]), MEASURE, DRAWS, np.random.default_rng(1))[1]
    assert alone is not None
    assert (alone.low, alone.high) == pytest.approx((0.72, 0.87), abs=0.011)


def test_packages_are_drawn_whole() -> None:
    """Ten packages of 20 cells, two of them disputed throughout.

    Binomial(10, 0.8) is below 5 with 0.6%, below 6 with 3.3%, and 10 with 10.7%: [0.5, 1]. Single
    cells would give Binomial(200, 0.8) / 200: about 0.8 +- 1.96 x 0.028.
    """
    places = [place for package in range(10) for place in [0, 3] * 10 if package < 8] + [1, 2] * 20
    packages = [f"p{number // 20}" for number in range(200)]
    wide = bounds(pool_of_packages(packages), places)[1]
    narrow = bounds(pool_of_cells([np.array(places)]), places)[1]
    assert wide == Bounds(0.5, 1.0, 0)
    assert narrow is not None
    assert (narrow.low, narrow.high) == pytest.approx((0.745, 0.855), abs=0.01)


def test_undefined_draws_are_counted() -> None:
    """One covered cell of two: a quarter of the draws holds only it, a quarter only the other."""
    places = [0, 3]
    kappa, raw, *_ = bounds(pool_of_cells([np.array(places)]), places)
    assert raw == Bounds(1.0, 1.0, 0)
    assert kappa is not None
    assert (kappa.low, kappa.high) == (1.0, 1.0)
    assert kappa.undefined / DRAWS == pytest.approx(0.5, abs=0.02)
    assert bounds(pool_of_cells([np.array([0, 0])]), [0, 0])[0] is None


def test_a_seed_repeats_it() -> None:
    """The same draws for the same seed, others for another."""
    places = [0, 1, 2, 3] * 30
    pool = pool_of_cells([np.array(places)])
    assert bounds(pool, places, 3) == bounds(pool, places, 3)
    assert bounds(pool, places, 3) != bounds(pool, places, 4)


def test_cells_left_out_are_drawn_too() -> None:
    """A table holds what was drawn of it: of two kept cells out of four, two on average."""
    pool = pool_of_cells([np.array([0, -1, 3, -1])])
    table = pool.gathered(np.array([0, -1, 3, -1]), np.array([1.0, 1.0, 2.5, 1.0]), 4)
    drawn = np.concatenate(
        [counts @ table for counts in pool.draws(DRAWS, np.random.default_rng(0))]
    )
    assert drawn.mean(axis=0) == pytest.approx([1, 0, 0, 2.5], abs=0.05)
    assert len(drawn) == DRAWS

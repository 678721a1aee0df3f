"""Variants of two tiny stores, scored by hand."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from memaudit.kernel.score.judge import Cell
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.score.pruning import EVERYTHING_FITS
from memaudit.kernel.solvers.solve import solve
from memaudit.lab.studies.package_sensitivity import variants
from memaudit.lab.studies.sensitivity import (
    RatioSpread,
    Variant,
    VariantFinding,
    finding_row,
    judge_pairings,
    sensitivity_row,
    spread,
    variant_findings,
    variant_runs,
)
from tests.kernel.score.small_stores import CAT, DOG, PETS, F


def found(tried: Iterable[Variant], budget: Fraction) -> list[VariantFinding]:
    return variant_findings([variant_runs(tried, [budget])], [budget])


def means(found: VariantFinding) -> list[tuple[float | None, float | None]]:
    return [(store.kept.mean, store.upper.mean) for store in found.stores]


def test_by_hand() -> None:
    """At 3 words OPT of all is 4 (a, and the memory of cat), one denominator for both stores:
    over its own union, 3, dog would be perfect.

    With two of a group kept, a and b are worth 4 too. In `bytes` every text costs 9. With a cap
    of 2 as the base, 1 and 3 are the other ones.
    """
    rows = {row.variant: row for row in found(variants(PETS, [DOG, CAT]), F(3))}
    assert list(rows) == ["base", "cost bytes", "cost tokens:simple", "k = 2", "k = 3"]
    assert means(rows["base"]) == [(0.75, 0.75), (0.25, 0.25)]
    assert means(rows["k = 2"]) == [(0.75, 0.75), (0.25, 0.25)]
    assert means(rows["cost tokens:simple"]) == means(rows["base"])
    assert means(rows["cost bytes"]) == [(None, None), (None, None)]
    assert rows["cost bytes"].stores[0].kept_by == ("cut by recency",)
    assert rows["cost bytes"].kept_ranking.tau is None
    assert rows["k = 2"].kept_ranking.tau == 1
    assert rows["k = 2"].kept_ranking.same_order == 1
    assert all(row.uncertified == 0 for row in rows.values())
    (alone, *_) = found(variants(PETS, [DOG]), F(3))
    assert alone.kept_ranking.tau is None  # one store has no ranking
    assert finding_row(alone)["score_ranking"]["defined"] == 0
    names = [variant.name for variant in variants(PETS, [DOG, CAT], (), group_cap=2)]
    assert names == ["base", "k = 1", "k = 3"]


def test_cost_rule_can_turn_a_ranking() -> None:
    """At 1 word cat keeps its memory, 1 of 1, and dog nothing; 9 in `bytes` is room for one:
    dog is worth 3 of 3, cat 1 of 3."""
    base, other = found(variants(PETS, [DOG, CAT], ("bytes",), ()), F(1))
    assert means(base) == [(0, 0), (1, 1)]
    assert base.stores[0].kept_by == ("cut by recency",)
    assert base.stores[1].kept_by == (EVERYTHING_FITS,)
    assert other.variant == "cost bytes"
    (nine,) = found(list(variants(PETS, [DOG, CAT], ("bytes",), ()))[1:], F(9))
    assert means(nine) == [(1, 1), (pytest.approx(1 / 3), pytest.approx(1 / 3))]
    assert [variant.name for variant in variants(PETS, [DOG], ("words",), ())] == ["base"]


def test_judges_against_each_other() -> None:
    """Three judges of two stores: the second turns the order round, the third sees nothing.

    At 3 words the base has dog 3/4, cat 1/4. With the units swapped dog is worth 1 and cat
    3 of 4: tau is -1. Where nothing is covered all are 0 of 3: a tie orders nothing.
    """
    cells = DOG.memories[0].coverage, CAT.memories[0].coverage
    swapped = [_covering(DOG, cells[1]), _covering(CAT, cells[0])]
    nothing = [_covering(DOG, {}), _covering(CAT, {})]
    tried = variants(PETS, [DOG, CAT], (), (), judged={"b": (PETS, swapped), "c": (PETS, nothing)})
    runs = variant_runs(tried, [F(3)])
    assert list(runs) == ["base", "judge b", "judge c"]
    _, turned, silent = variant_findings([runs], [F(3)])
    assert means(turned) == [(0.25, 0.25), (0.75, 0.75)]
    assert means(silent) == [(0, 0), (0, 0)]
    assert turned.kept_ranking.tau == -1
    pairs = judge_pairings([runs], {"a": "base", "b": "judge b", "c": "judge c"}, [F(3)])
    assert [(pair.first, pair.second, pair.kept_tau, pair.upper_tau) for pair in pairs] == [
        ("a", "b", -1, -1),
        ("a", "c", None, None),
        ("b", "c", None, None),
    ]
    assert not pairs[0].same_kept_order
    assert judge_pairings([runs], {"a": "base"}, [F(3)]) == []


def _covering(store: JudgedStore, cells: Mapping[str, Cell]) -> JudgedStore:
    (memory,) = store.memories
    return replace(store, memories=(replace(memory, coverage=cells),))


def test_uncertified_is_counted_and_undefined() -> None:
    """No ratio without a proof: of the union, of the upper bound alone, or both."""
    proven, bound = solve(PETS, 3), solve(PETS, 3, check=False)
    rows = [
        sensitivity_row("s", F(3), EVERYTHING_FITS, F(1), union, upper, proven)
        for union, upper in ((proven, proven), (proven, bound), (bound, bound))
    ]
    assert [(row.kept, row.upper, row.uncertified) for row in rows] == [
        (F(1, 3), F(1), 0),
        (F(1, 3), None, 1),
        (None, None, 2),
    ]


def test_spread() -> None:
    """Undefined values are left out and missing from n."""
    found = spread([F(1, 2), None, F(1)])
    assert (found.n, found.mean) == (2, 0.75)
    assert spread([None]) == RatioSpread(0, None, None, None)

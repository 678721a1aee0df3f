"""Variants of two tiny stores, scored by hand."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from memaudit.kernel.score.judge import Cell
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.score.pruning import EVERYTHING_FITS
from memaudit.kernel.solvers.solve import PackageSolver
from memaudit.lab.studies.sensitivity import (
    Variant,
    findings,
    sensitivity_rows,
    spread,
    variants,
)
from tests.kernel.score.small_stores import CAT, DOG, PETS, F

BOTH = {"a": (PETS, (DOG, CAT))}


def found(
    tried: Iterable[Variant], budget: Fraction, seconds: float | None = None
) -> list[dict[str, Any]]:
    runs = {
        variant.name: sensitivity_rows(
            variant.package, variant.stores, [budget], variant.group_cap, seconds
        )
        for variant in tried
    }
    return findings([runs], [budget])


def means(finding: dict[str, Any]) -> list[tuple[float | None, float | None]]:
    return [(store["score"]["mean"], store["best_subset"]["mean"]) for store in finding["stores"]]


def test_by_hand() -> None:
    """At 3 words OPT of all is 4 (a, and the memory of cat), one denominator for both stores:
    over its own union, 3, dog would be perfect.

    With two of a group kept, a and b are worth 4 too. In `bytes` every text costs 9. With a cap
    of 2 as the base, 1 and 3 are the other ones.
    """
    rows = {row["variant"]: row for row in found(variants(BOTH), F(3))}
    assert list(rows) == ["base", "cost bytes", "cost tokens:simple", "k = 2", "k = 3"]
    assert means(rows["base"]) == [(0.75, 0.75), (0.25, 0.25)]
    assert means(rows["k = 2"]) == [(0.75, 0.75), (0.25, 0.25)]
    assert means(rows["cost tokens:simple"]) == means(rows["base"])
    assert means(rows["cost bytes"]) == [(None, None), (None, None)]
    assert rows["cost bytes"]["stores"][0]["kept_by"] == ["cut by recency"]
    assert rows["cost bytes"]["score_ranking"]["tau_b"] is None
    assert rows["k = 2"]["score_ranking"] == {
        "tau_b": 1,
        "lowest_tau_b": 1,
        "same_order": 1,
        "defined": 1,
    }
    assert all(row["uncertified_optima"] == 0 for row in rows.values())
    (alone, *_) = found(variants({"a": (PETS, (DOG,))}), F(3))
    assert alone["score_ranking"]["defined"] == 0  # one store has no ranking
    names = [variant.name for variant in variants(BOTH, (), group_cap=2)]
    assert names == ["base", "k = 1", "k = 3"]


def test_cost_rule_can_turn_a_ranking() -> None:
    """At 1 word cat keeps its memory, 1 of 1, and dog nothing; 9 in `bytes` is room for one:
    dog is worth 3 of 3, cat 1 of 3."""
    base, other = found(variants(BOTH, ("bytes",), ()), F(1))
    assert means(base) == [(0, 0), (1, 1)]
    assert [store["kept_by"] for store in base["stores"]] == [["cut by recency"], [EVERYTHING_FITS]]
    assert other["variant"] == "cost bytes"
    _, nine = found(variants(BOTH, ("bytes",), ()), F(9))
    assert means(nine) == [(1, 1), (pytest.approx(1 / 3), pytest.approx(1 / 3))]
    assert [variant.name for variant in variants(BOTH, ("words",), ())] == ["base"]


def test_judges_against_the_first() -> None:
    """Three judges of two stores: the second turns the order round, the third sees nothing.

    At 3 words the base has dog 3/4, cat 1/4. With the units swapped dog is worth 1 and cat
    3 of 4: tau is -1. Where nothing is covered all are 0 of 3: a tie orders nothing.
    """
    cells = DOG.memories[0].coverage, CAT.memories[0].coverage
    swapped = (_covering(DOG, cells[1]), _covering(CAT, cells[0]))
    nothing = (_covering(DOG, {}), _covering(CAT, {}))
    tried = variants({**BOTH, "b": (PETS, swapped), "c": (PETS, nothing)}, (), ())
    base, turned, silent = found(tried, F(3))
    assert [row["variant"] for row in (base, turned, silent)] == ["base", "judge b", "judge c"]
    assert means(turned) == [(0.25, 0.25), (0.75, 0.75)]
    assert means(silent) == [(0, 0), (0, 0)]
    assert turned["score_ranking"]["tau_b"] == -1
    assert silent["score_ranking"]["tau_b"] is None


def _covering(store: JudgedStore, cells: Mapping[str, Cell]) -> JudgedStore:
    (memory,) = store.memories
    return replace(store, memories=(replace(memory, coverage=cells),))


def test_uncertified_is_counted_and_undefined(monkeypatch: pytest.MonkeyPatch) -> None:
    """No ratio without a proof."""
    whole = PackageSolver.solve

    def unproven(self: PackageSolver, budget: Fraction, **options: Any) -> Any:
        return whole(self, budget, **{**options, "check": False})

    monkeypatch.setattr(PackageSolver, "solve", unproven)
    (base,) = found(variants(BOTH, (), ()), F(3))
    assert means(base) == [(None, None), (None, None)]
    assert base["union_optimum"]["defined"] == 0
    assert base["uncertified_optima"] == 4


def test_spread() -> None:
    """Undefined values are left out and counted."""
    half = spread([F(1, 2), None, F(1)])
    assert (half["defined"], half["mean"]) == (2, 0.75)
    assert spread([None]) == {"mean": None, "low": None, "high": None, "defined": 0}

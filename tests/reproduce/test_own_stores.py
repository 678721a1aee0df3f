"""Exported stores on the natural set: the forms of tables 4 and 6."""

import json
from fractions import Fraction

import pytest

from memaudit.experiments.engines.registry import named_engine
from memaudit.natural.named_stores import STORES
from memaudit.reproduce.own_stores import COSTS, DENOMINATORS, SMALLEST, store_texts


@pytest.mark.slow
def test_three_packages() -> None:
    """Every store has rows by every policy; no policy beats the best subset; bytes cost more."""
    made = {name: json.loads(text) for name, text in store_texts(3, named_engine("serial")).items()}
    rows = made[DENOMINATORS]["rows"]
    assert {row["store"] for row in rows} == set(STORES)
    for store in STORES:
        at = {
            row["kept_by"]: row for row in rows if row["store"] == store and row["budget"] == "60"
        }
        assert {"whole store", "recency", "salience", "best subset"} <= set(at)
        best = at["best subset"]["union_ratio"]["mean"]
        assert all(at[way]["union_ratio"]["mean"] <= best for way in ("recency", "salience"))
        assert best <= 1
        assert at["salience"]["package_ratio"]["n"] == 3
    variants = {row["variant"] for row in made[COSTS]["findings"]}
    assert {"base", "cost bytes", "k = 2"} <= variants
    least = {(row["store"], row["cost_rule"]): row for row in made[SMALLEST]["rows"]}
    notes, facts = (
        Fraction(least[store, "words"]["mean_smallest_cost"])
        for store in ("amem-shaped", "mem0-shaped")
    )
    assert notes > facts

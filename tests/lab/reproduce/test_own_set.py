"""Optima under other constraints, and the table they come to."""

import json
from fractions import Fraction

import pytest

from memaudit.building.named_packages import natural_set
from memaudit.kernel.package.package import Package
from memaudit.lab.reproduce.own_set import VARIANTS, sensitivity_rows, sensitivity_summary_text


def row(optimum: str, rule: str, cap: int) -> dict[str, object]:
    """A row at budget 30."""
    return {
        "budget": 30,
        "optimum": optimum,
        "cost_rule": rule,
        "group_cap": cap,
        "certificate": "c",
    }


def test_means_by_hand() -> None:
    """Two packages: optima 2 and 0, then 3 and 1 with k = 2, then 1 and 0 in bytes.

    Means 1, 2 and 1/2; ratios only where the default is not 0: 3/2 and 1/2.
    """
    words, two, by_bytes = VARIANTS
    rows = [row(o, *words) for o in ("2", "0")] + [row(o, *two) for o in ("3", "1")]
    rows += [row(o, *by_bytes) for o in ("1", "0")]
    (cells,) = json.loads(sensitivity_summary_text(rows))["budgets"].values()
    assert cells == {
        "packages": 2,
        "opt": 1.0,
        "opt_two": 2.0,
        "two_over_one": 1.5,
        "opt_bytes": 0.5,
        "bytes_over_default": 0.5,
        "zero_optimum": 1,
    }


@pytest.fixture(scope="module")
def package() -> Package:
    """The first of the own natural set."""
    return natural_set()[0]


def test_rows_of_a_package(package: Package) -> None:
    """Every optimum is proven; a looser cap is never worse; bytes are another package."""
    rows = list(sensitivity_rows(package, 0))
    assert all(row["certificate"] for row in rows)
    at = {(row["cost_rule"], row["group_cap"], row["budget"]): row for row in rows}
    assert len(at) == len(rows) == 9
    for budget in (30, 60, 100):
        one, two = at["words", 1, budget], at["words", 2, budget]
        assert Fraction(two["optimum"]) >= Fraction(one["optimum"])
        assert one["digest"] == two["digest"] != at["bytes", 1, budget]["digest"]

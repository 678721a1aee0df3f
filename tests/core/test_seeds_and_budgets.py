"""Seeds and budgets as text."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.core.budgets import budget_cost, split_budgets
from memaudit.core.errors import MemAuditError
from memaudit.core.seeds import parse_seeds, seed_ranges


def test_seeds() -> None:
    """A number counts from 0; lists and ranges name seeds."""
    assert parse_seeds("3") == (0, 1, 2)
    assert parse_seeds("7-9,12") == (7, 8, 9, 12)
    assert parse_seeds("7,") == (7,)


@given(st.lists(st.integers(0, 60), unique=True, min_size=1))
def test_seed_ranges_read_back(seeds: list[int]) -> None:
    assert parse_seeds(seed_ranges(tuple(seeds)) + ",") == tuple(seeds)


@pytest.mark.parametrize(
    ("text", "line"),
    [*((text, "cannot read seeds") for text in ("x", "-3", "1-", "2-x", "1.5")),
     *((text, "too many or too large") for text in ("9" * 20, "100000000000", "5-999999999999"))],
)  # fmt: skip
def test_wrong_seeds(text: str, line: str) -> None:
    with pytest.raises(MemAuditError, match=line):
        parse_seeds(text)


def test_fractional_budgets_of_the_paper() -> None:
    """A mean total cost of about 81.45 gives B = 1, 2, 4, 8, 16."""
    mean = Fraction("81.45")
    budgets = [budget_cost(f, mean) for f in ("0.01", "0.02", "0.05", "0.10", "0.20")]
    assert budgets == [1, 2, 4, 8, 16]
    assert budget_cost("0.0001", mean) == 1
    assert budget_cost("1", mean) == 1
    assert budget_cost("2.5", None) == Fraction(5, 2)


@pytest.mark.parametrize(("text", "line"), [("1,x", "budget 'x'"), ("-1", "negative")])
def test_wrong_budgets(text: str, line: str) -> None:
    with pytest.raises(MemAuditError, match=line):
        split_budgets(text)

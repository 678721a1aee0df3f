"""Budgets as text."""

from fractions import Fraction

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.budgets import (
    USUAL_BUDGETS,
    AskedBudget,
    asked_budget,
    asked_budgets,
    budget_cost,
    split_budgets,
)


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


@pytest.mark.parametrize(
    ("given", "text", "amount"),
    [
        (250, "250", 250),
        ("250", "250", 250),
        (" 250.0 ", "250", 250),
        (0, "0", 0),
        ("1/3", "1/3", Fraction(1, 3)),
        (Fraction(1, 3), "1/3", Fraction(1, 3)),
        (0.5, "0.5", 0.5),
        ("10%", "10%", 81),
        ("10.0 %", "10%", 81),
        ("100%", "100%", 812),
        ("0.01%", "0.01%", 1),
        ("own", "own", 44),
        (" own ", "own", 44),
        (AskedBudget("own"), "own", 44),
    ],
)
def test_budgets_as_people_ask_for_them(given: object, text: str, amount: float) -> None:
    """A cost is itself; a share is of a conversation of 812, in whole costs of at least 1; own is
    the 44 that a store costs."""
    found = asked_budget(given)
    assert found.text == text
    assert found.amount(Fraction(812), Fraction(44)) == amount


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ("x", "budget 'x': 'x' is not a number"),
        ("Own", "budget 'Own': 'Own' is not a number"),
        ("", "budget '': "),
        ("%", "budget '%': "),
        (None, "budget 'None': "),
        (True, "not true or false"),
        (float("nan"), "nan is not a finite number"),
        ("1e999999", "is out of range"),
        ("-3", "budget -3 is negative"),
        ("-3%", "is negative"),
        ("0%", "0% is not a share of the conv"),
        ("101%", "101% is not a share of the conv"),
    ],
)
def test_wrong_asked_budgets(given: object, line: str) -> None:
    """One line that says what is wrong and what to write."""
    with pytest.raises(MemAuditError) as caught:
        asked_budget(given)
    message = str(caught.value)
    assert line in message
    assert "\n" not in message
    assert "write a cost such as 250, a share" in message or "budgets are 0 or more" in message


def test_several_budgets() -> None:
    """In one text, in a list, or a single one; each once, however it is written."""
    for asked in ("250, 10%,own", ["250", "10%", "own"], (250, "10%", "own")):
        assert [budget.text for budget in asked_budgets(asked)] == ["250", "10%", "own"]
    assert asked_budgets(250) == asked_budgets("250") == (asked_budget(250),)
    assert [budget.text for budget in asked_budgets(USUAL_BUDGETS)] == ["10%"]
    for wrong, line in (
        ("10,20,10.0", "budget 10 is given twice; give each budget once"),
        ("5%,5.0%", "budget 5% is given twice"),
        (["own", 3, "own"], "budget own is given twice"),
        ("1,,2", "budgets '1,,2' have an empty entry; write a cost"),
        ("", "have an empty entry"),
        ([], "no budget is given; write a cost"),
    ):
        with pytest.raises(MemAuditError, match=line):
            asked_budgets(wrong)

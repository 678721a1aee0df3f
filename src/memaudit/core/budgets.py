"""Budgets as text: costs such as 30 or 2.5, or below 1 shares of a total cost."""

from fractions import Fraction

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact


def split_budgets(text: str) -> tuple[str, ...]:
    """The budgets of "0.05,0.10,30" as written: costs from 1 on, shares of the cost below 1."""
    budgets = tuple(filter(None, (part.strip() for part in text.split(","))))
    for budget in budgets:
        try:
            amount = exact(budget)
        except ValueError as error:
            raise MemAuditError(f"cannot read the budget {budget!r}: {error}") from None
        if amount < 0:
            raise MemAuditError(f"budget {budget} is negative; budgets are 0 or more")
    return budgets


def is_share(budget: str) -> bool:
    """Whether a budget is a share of the total cost: above 0 and below 1."""
    return 0 < exact(budget) < 1


def budget_cost(budget: str, total_cost: Fraction | None) -> Fraction:
    """The budget in cost units: a share f means max(1, round(f * total cost))."""
    amount = exact(budget)
    if not is_share(budget):
        return amount
    if total_cost is None:
        raise ValueError(f"budget {budget} needs the total cost")
    return Fraction(max(1, round(amount * total_cost)))

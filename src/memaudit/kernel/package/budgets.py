"""Budgets as people ask for them, and what they amount to.

A score takes costs such as 250, shares of the conversation such as 10%, and `own`, the cost of each
store. A sweep takes costs, and below 1 shares of the mean total cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact, plain


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


OWN = "own"
USUAL_BUDGETS = ("10%",)
"""Where losses are shown if no budget is given; complete and lean need none."""

ASK = "write a cost such as 250, a share of the conversation such as 10%, or own"


@dataclass(frozen=True, slots=True)
class AskedBudget:
    """A budget as it was asked for: a cost, a share of the conversation, or each store's own cost.

    `text` names it in rows, tables and files.
    """

    text: str
    cost: Fraction | None = None
    share: Fraction | None = None

    def amount(self, conversation: Fraction, own: Fraction) -> Fraction:
        """In cost units; a share is rounded to a whole cost of at least 1."""
        if self.share is not None:
            return Fraction(max(1, round(self.share * conversation)))
        return own if self.cost is None else self.cost


def asked_budget(request: object) -> AskedBudget:
    """Read 250, "250", "10%" or "own"."""
    if isinstance(request, AskedBudget):
        return request
    text = str(request).strip()
    if text == OWN:
        return AskedBudget(OWN)
    try:
        amount = exact(text.removesuffix("%") if isinstance(request, str) else request)
    except (ValueError, TypeError) as error:
        raise MemAuditError(f"budget {text!r}: {error}; {ASK}") from None
    if amount < 0:
        raise MemAuditError(f"budget {text} is negative; budgets are 0 or more")
    # `0.1` is a cost of a tenth here, never a share: a score asks for shares by their sign. In a
    # sweep it is a share, because there budgets are shares of packages of different sizes.
    if not text.endswith("%"):
        return AskedBudget(str(plain(amount)), cost=amount)
    if not 0 < amount <= 100:
        raise MemAuditError(f"budget {text} is not a share of the conversation; {ASK}")
    return AskedBudget(f"{plain(amount)}%", share=amount / 100)


def asked_budgets(request: object) -> tuple[AskedBudget, ...]:
    """Read "250,10%,own", a list of budgets, or one; each once."""
    parts: Sequence[object]
    if isinstance(request, str):
        parts = request.split(",")
        if not all(map(str.strip, request.split(","))):
            raise MemAuditError(f"budgets {request!r} have an empty entry; {ASK}")
    else:
        parts = request if isinstance(request, Sequence) else (request,)
    budgets = tuple(map(asked_budget, parts))
    # Rows are found by their budget's text, so none may stand for two.
    for place, budget in enumerate(budgets):
        if budget in budgets[:place]:
            raise MemAuditError(f"budget {budget.text} is given twice; give each budget once")
    if not budgets:
        raise MemAuditError(f"no budget is given; {ASK}")
    return budgets

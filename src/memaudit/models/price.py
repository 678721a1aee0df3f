"""What tokens cost: given by the user, in dollars for a million tokens."""

from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens read and written."""

    input: Fraction
    output: Fraction

    def cost(self, prompt_tokens: int, completion_tokens: int) -> Fraction:
        """The cost of one call, exactly."""
        return (self.input * prompt_tokens + self.output * completion_tokens) / MILLION


def price_of(price_in: str | float | None, price_out: str | float | None) -> Price | None:
    """The price of --price-in and --price-out; None where neither is given."""
    if price_in is None and price_out is None:
        return None
    if price_in is None or price_out is None:
        raise MemAuditError("give both --price-in and --price-out, or neither")
    try:
        price = Price(exact(price_in), exact(price_out))
    except ValueError as error:
        raise MemAuditError(f"a price is not a number: {error}") from None
    if price.input < 0 or price.output < 0:
        raise MemAuditError("a price is below zero; give dollars for a million tokens")
    return price

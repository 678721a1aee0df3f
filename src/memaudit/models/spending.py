"""What model calls cost: prices, estimates before a run, and the cap during it."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.core.text import counted
from memaudit.models.cache import Cache
from memaudit.models.client import Usage
from memaudit.models.request import Request

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


@dataclass(frozen=True, slots=True)
class Cap:
    """The most a run may spend; None is no limit."""

    tokens: int | None = None
    cost: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Hold:
    """The most that one call in flight can cost."""

    tokens: int
    cost: Fraction


class Meter:
    """Adds up usage across threads, and lets no call start that could break the cap."""

    def __init__(self, cap: Cap | None = None, price: Price | None = None) -> None:
        self.cap = cap or Cap()
        self.price = price
        if self.cap.cost is not None and price is None:
            raise MemAuditError("a cost cap needs prices: give --price-in and --price-out as well")
        self._changed = threading.Condition()
        self._spent = Usage()
        self._at_risk = Hold(0, Fraction(0))
        self._in_flight: dict[int, Hold] = {}
        self._tickets = 0
        self._closed = False

    @property
    def spent(self) -> Usage:
        """Everything measured so far."""
        with self._changed:
            return self._spent

    def reserve(self, prompt_bound: int, completion_bound: int) -> int | None:
        """A ticket for one call, or None where the cap has no room for it.

        While other calls are in flight this waits: most cost less than was set aside for them.
        """
        cost = self.price.cost(prompt_bound, completion_bound) if self.price else Fraction(0)
        hold = Hold(prompt_bound + completion_bound, cost)
        with self._changed:
            while not self._closed and not self._fits(hold):
                if not self._in_flight:
                    self._closed = True
                    self._changed.notify_all()
                    break
                self._changed.wait()
            if self._closed:
                return None
            self._tickets += 1
            self._in_flight[self._tickets] = hold
            return self._tickets

    def settle(self, ticket: int, usage: Usage) -> None:
        """The call is over; where its tokens are unknown, all that was set aside stays counted."""
        with self._changed:
            hold = self._in_flight.pop(ticket)
            self._spent += usage
            if usage.unmeasured:
                risk = self._at_risk
                self._at_risk = Hold(risk.tokens + hold.tokens, risk.cost + hold.cost)
            self._changed.notify_all()

    def _fits(self, hold: Hold) -> bool:
        held = [hold, self._at_risk, *self._in_flight.values()]
        tokens = self._spent.tokens + sum(one.tokens for one in held)
        cost = self._spent.cost + sum((one.cost for one in held), Fraction(0))
        return (self.cap.tokens is None or tokens <= self.cap.tokens) and (
            self.cap.cost is None or cost <= self.cap.cost
        )


BYTES_A_TOKEN = (5, 3)
"""English text has about four bytes a token; the range runs from five to three."""

TOKENS_A_MESSAGE = 8
SHORTEST_REPLY = 16


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests that are not in the cache, and a range for what they use without retries."""

    requests: int
    cached: int
    prompt_tokens: tuple[int, int]
    completion_tokens: tuple[int, int]
    cost: tuple[Fraction, Fraction] | None
    """Dollars; None where no price is known."""

    def lines(self) -> list[str]:
        """The estimate in words."""
        low, high = self.prompt_tokens
        short, long = self.completion_tokens
        if not self.requests:
            return [f"nothing to ask, {self.cached:,} answered from the cache"]
        text = [
            f"{counted(self.requests, 'request')} to ask, {self.cached:,} answered from the cache",
            f"about {low:,} to {high:,} prompt tokens (estimated from the length of the text)",
            f"{short:,} to {long:,} reply tokens (the upper end is max_tokens)",
        ]
        if self.cost is None:
            text.append("cost unknown: give --price-in and --price-out for an estimate")
        else:
            text.append(f"about ${float(self.cost[0]):.4f} to ${float(self.cost[1]):.4f}")
        return text


def estimate(requests: Iterable[Request], cache: Cache | None, price: Price | None) -> Estimate:
    """The range for a set of requests, equal ones counted once."""
    unique = {request.key: request for request in requests}
    asked = [one for key, one in unique.items() if cache is None or cache.answer(key) is None]
    sizes = [one.prompt_bytes + len(one.reply_schema) for one in asked]
    extra = sum(TOKENS_A_MESSAGE * len(one.messages) for one in asked)
    few, many = BYTES_A_TOKEN
    prompt = (sum(size // few for size in sizes), sum(-(-size // many) for size in sizes) + extra)
    most = [one.parameters.max_tokens for one in asked]
    reply = (sum(min(SHORTEST_REPLY, one) for one in most), sum(most))
    cost = None
    if price is not None:
        cost = (price.cost(prompt[0], reply[0]), price.cost(prompt[1], reply[1]))
    return Estimate(len(asked), len(unique) - len(asked), prompt, reply, cost)


def confirm(
    found: Estimate,
    show: Callable[[str], None],
    agree: Callable[[], bool],
    yes: bool = False,
) -> None:
    """Show the estimate and go on only if the user agrees; nothing to ask needs no agreement."""
    for line in found.lines():
        show(line)
    if found.requests and not yes and not agree():
        raise MemAuditError("stopped before the first call; nothing was spent")

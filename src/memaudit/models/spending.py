"""What model calls cost: prices, estimates before a run, and the cap during it."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.words.text import counted
from memaudit.models.cache import Cache
from memaudit.models.request import Request, Usage

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million prompt and reply tokens."""

    input: Fraction
    output: Fraction

    def cost(self, prompt_tokens: int, completion_tokens: int) -> Fraction:
        return (self.input * prompt_tokens + self.output * completion_tokens) / MILLION


def price_of(price_in: str | Fraction | None, price_out: str | Fraction | None) -> Price | None:
    """The price of both; None if neither is given."""
    if price_in is None and price_out is None:
        return None
    if price_in is None or price_out is None:
        raise MemAuditError("give both price_in and price_out, or neither")
    try:
        price = Price(exact(price_in), exact(price_out))
    except ValueError as error:
        raise MemAuditError(f"a price is not a number: {error}") from None
    if price.input < 0 or price.output < 0:
        raise MemAuditError("a price is below zero; give dollars per million tokens")
    return price


class Meter:
    """Adds up usage across threads, and lets no call start that could break a cap; None is no
    limit."""

    def __init__(
        self,
        max_tokens: int | None = None,
        max_cost: Fraction | None = None,
        price: Price | None = None,
    ) -> None:
        if max_cost is not None and price is None:
            raise MemAuditError("a cost cap needs prices: give price_in and price_out as well")
        self.price = price
        self._max_tokens, self._max_cost = max_tokens, max_cost
        self._changed = threading.Condition()
        self._spent = Usage()
        self._at_risk = Usage()
        """What calls of unknown size may have used."""
        self._in_flight: dict[int, Usage] = {}
        """By ticket: the most that the call can use."""
        self._tickets = 0
        self._closed = False

    @property
    def spent(self) -> Usage:
        with self._changed:
            return self._spent

    def reserve(self, prompt_bound: int, completion_bound: int) -> int | None:
        """A ticket for one call, or None if the cap has no room for it.

        Waits while other calls are in flight: most cost less than was reserved for them.
        """
        cost = self.price.cost(prompt_bound, completion_bound) if self.price else Fraction(0)
        most = Usage(0, prompt_bound, completion_bound, cost)
        with self._changed:
            while not self._closed and not self._fits(most):
                # Nothing is left to come back, so no later call fits either: all waiting threads
                # end here.
                if not self._in_flight:
                    self._closed = True
                    self._changed.notify_all()
                    break
                self._changed.wait()
            if self._closed:
                return None
            self._tickets += 1
            self._in_flight[self._tickets] = most
            return self._tickets

    def settle(self, ticket: int, usage: Usage) -> None:
        """End a call; if its tokens are unknown, its reservation stays counted."""
        with self._changed:
            most = self._in_flight.pop(ticket)
            self._spent += usage
            # It may have cost all of its reservation, so the cap holds even if every such call did.
            if usage.unmeasured:
                self._at_risk += most
            self._changed.notify_all()

    def _fits(self, most: Usage) -> bool:
        used = sum([self._spent, self._at_risk, *self._in_flight.values()], most)
        return (self._max_tokens is None or used.tokens <= self._max_tokens) and (
            self._max_cost is None or used.cost <= self._max_cost
        )


# No tokenizer is asked: each model has its own, and most would have to be downloaded.
BYTES_A_TOKEN = (5, 3)
"""Most and fewest bytes per token; English text has about four."""

TOKENS_A_MESSAGE = 8
SHORTEST_REPLY = 16


@dataclass(frozen=True, slots=True)
class SpendingEstimate:
    """Requests that are not in the cache, and the range of what they use without retries."""

    requests: int
    cached: int
    prompt_tokens: tuple[int, int]
    completion_tokens: tuple[int, int]
    cost: tuple[Fraction, Fraction] | None
    """Dollars; None if no price is known."""

    def lines(self) -> list[str]:
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
            text.append("cost unknown: give price_in and price_out for an estimate")
        else:
            text.append(f"about ${float(self.cost[0]):.4f} to ${float(self.cost[1]):.4f}")
        return text


def estimate(
    requests: Iterable[Request], cache: Cache | None, price: Price | None
) -> SpendingEstimate:
    """The range for a set of requests; equal ones are counted once."""
    unique = {request.key: request for request in requests}
    asked = [unique[key] for key in unique if cache is None or cache.answer(key) is None]
    sizes = [request.prompt_bytes + len(request.reply_schema) for request in asked]
    extra = sum(TOKENS_A_MESSAGE * len(request.messages) for request in asked)
    few, many = BYTES_A_TOKEN
    prompt = (sum(size // few for size in sizes), sum(-(-size // many) for size in sizes) + extra)
    limits = [request.parameters.max_tokens for request in asked]
    reply = (sum(min(SHORTEST_REPLY, limit) for limit in limits), sum(limits))
    cost = None
    if price is not None:
        cost = (price.cost(prompt[0], reply[0]), price.cost(prompt[1], reply[1]))
    return SpendingEstimate(len(asked), len(unique) - len(asked), prompt, reply, cost)


def confirm(
    estimate: SpendingEstimate,
    show: Callable[[str], object],
    agree: Callable[[], bool],
    yes: bool = False,
) -> None:
    """Show the estimate and continue only if the user agrees; without requests none is asked."""
    for line in estimate.lines():
        show(line)
    if estimate.requests and not yes and not agree():
        raise MemAuditError("stopped before the first call; nothing was spent")

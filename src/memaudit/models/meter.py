"""What a run has spent and may still spend, calls in flight included."""

import threading
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.errors import MemAuditError
from memaudit.models.outcome import Usage
from memaudit.models.price import Price


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

"""The cap: no call starts that could break it, calls in flight included."""

import threading
from fractions import Fraction

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.models.client import Usage
from memaudit.models.spending import Cap, Meter, Price, price_of


def test_calls_in_flight_count() -> None:
    """100 tokens allowed: 60 set aside leave no room for 50 until the call turns out small."""
    meter = Meter(Cap(tokens=100))
    first = meter.reserve(40, 20)
    assert first is not None
    got: list[int | None] = []
    waiting = threading.Thread(target=lambda: got.append(meter.reserve(40, 10)))
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    meter.settle(first, Usage(1, 30, 5))
    waiting.join(5)
    assert got[0] is not None
    meter.settle(got[0], Usage(1, 40, 10))
    assert meter.spent == Usage(2, 70, 15)
    assert meter.reserve(15, 1) is None
    assert meter.reserve(1, 1) is None  # closed is closed: what is left out is what came last


def test_an_unknown_size_stays_counted() -> None:
    """A call that timed out may have used all that was set aside for it."""
    meter = Meter(Cap(tokens=100))
    ticket = meter.reserve(30, 30)
    assert ticket is not None
    meter.settle(ticket, Usage(calls=1, unmeasured=1))
    assert meter.spent.tokens == 0
    assert meter.reserve(30, 11) is None


def test_cost_cap() -> None:
    """$1 and $2 a million: 100 and 50 tokens are $0.0002."""
    price = Price(Fraction(1), Fraction(2))
    assert price.cost(100, 50) == Fraction(2, 10_000)
    assert Meter(Cap(cost=Fraction(2, 10_000)), price).reserve(100, 50) is not None
    assert Meter(Cap(cost=Fraction(19, 100_000)), price).reserve(100, 50) is None
    with pytest.raises(MemAuditError, match="--price-in and --price-out"):
        Meter(Cap(cost=Fraction(1)))


def test_prices() -> None:
    """Both or neither, exact, not negative."""
    assert price_of(None, None) is None
    assert price_of("0.15", 0.6) == Price(Fraction(15, 100), Fraction(6, 10))
    for pair in (("1", None), ("x", "1"), ("-1", "1"), ("nan", "1")):
        with pytest.raises(MemAuditError):
            price_of(*pair)

"""The cap: no call starts that could break it, calls in flight included."""

import threading
from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.models.cache import Cache
from memaudit.models.client import Usage
from memaudit.models.request import Message, ModelParameters, Request, Template
from memaudit.models.spending import Meter, Price, SpendingCap, confirm, estimate, price_of
from tests.models.asking import request
from tests.models.test_cache import reply_to


def test_calls_in_flight_count() -> None:
    """100 tokens allowed: 60 set aside leave no room for 50 until the call turns out small."""
    meter = Meter(SpendingCap(tokens=100))
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
    meter = Meter(SpendingCap(tokens=100))
    ticket = meter.reserve(30, 30)
    assert ticket is not None
    meter.settle(ticket, Usage(calls=1, unmeasured=1))
    assert meter.spent.tokens == 0
    assert meter.reserve(30, 11) is None


def test_cost_cap() -> None:
    price = Price(Fraction(1), Fraction(2))
    assert price.cost(100, 50) == Fraction(2, 10_000)
    assert Meter(SpendingCap(cost=Fraction(2, 10_000)), price).reserve(100, 50) is not None
    assert Meter(SpendingCap(cost=Fraction(19, 100_000)), price).reserve(100, 50) is None
    with pytest.raises(MemAuditError, match="--price-in and --price-out"):
        Meter(SpendingCap(cost=Fraction(1)))


def test_prices() -> None:
    assert price_of(None, None) is None
    assert price_of("0.15", 0.6) == Price(Fraction(15, 100), Fraction(6, 10))
    for pair in (("1", None), ("x", "1"), ("-1", "1"), ("nan", "1")):
        with pytest.raises(MemAuditError):
            price_of(*pair)


SMALL = Request(
    "m",
    (Message("user", "x" * 148),),
    "R",
    "{}",
    Template("t", "1"),
    ModelParameters(max_tokens=100),
)


def test_by_hand() -> None:
    """150 bytes are 30 to 50 tokens, 8 more for the message; replies take 16 to 100."""
    found = estimate([SMALL, SMALL], None, price_of("10", "100"))
    assert (found.requests, found.prompt_tokens, found.completion_tokens) == (
        1,
        (30, 58),
        (16, 100),
    )
    # 30 * 10 + 16 * 100 = 1900 and 58 * 10 + 100 * 100 = 10580 millionths of a dollar
    assert found.cost == (Fraction(1900, 10**6), Fraction(10580, 10**6))
    assert found.lines()[-1] == "about $0.0019 to $0.0106"
    assert "cost unknown" in estimate([SMALL], None, None).lines()[-1]


def test_what_is_cached_costs_nothing(tmp_path: Path) -> None:
    shown: list[str] = []
    with Cache(tmp_path / "cache") as cache:
        cache.keep(request(), reply_to(request()), "now")
        assert estimate([request(), SMALL], cache, None).cached == 1
        confirm(estimate([request()], cache, None), shown.append, lambda: False)
    assert shown == ["nothing to ask, 1 answered from the cache"]


def test_the_user_decides() -> None:
    found = estimate([SMALL], None, None)
    with pytest.raises(MemAuditError, match="nothing was spent"):
        confirm(found, lambda _: None, lambda: False)
    confirm(found, lambda _: None, lambda: True)
    confirm(found, lambda _: None, lambda: False, yes=True)

"""Many requests: order, bounds, progress, giving up; the cap, prices and estimates."""

import json
import threading
import time
from fractions import Fraction
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.models.cache import Cache
from memaudit.models.completions import prompt_bound, request_body
from memaudit.models.live import ModelUnavailable
from memaudit.models.request import (
    Failure,
    Message,
    ModelParameters,
    Reply,
    Request,
    Template,
    Usage,
)
from memaudit.models.session import AskProgress, ask_all
from memaudit.models.spending import Meter, Price, confirm, estimate, price_of
from tests.models.asking import GOOD, Labels, client, request
from tests.models.server import completion, fails, says, send, serving
from tests.models.test_cache import reply_to


def test_order_bound_and_duplicates() -> None:
    """Outcomes come in the order asked, at most three at once, equal requests once."""
    at_once, most, lock = [0], [0], threading.Lock()

    def echo(handler: BaseHTTPRequestHandler, data: dict[str, Any]) -> None:
        with lock:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        number = data["messages"][1]["content"]
        time.sleep(0.001 * (20 - int(number)))  # later requests are faster
        with lock:
            at_once[0] -= 1
        send(handler, 200, completion(json.dumps({"units": [{"id": number, "label": "none"}]})))

    numbers = [*range(20), 3, 4]
    seen: list[AskProgress] = []
    with serving(echo) as served:
        requests = [request(str(number)) for number in numbers]
        outcomes = ask_all(client(served), requests, Labels, 3, seen.append)
    replies = [outcome for outcome in outcomes if isinstance(outcome, Reply)]
    assert [reply.value.units[0].id for reply in replies] == [str(number) for number in numbers]
    assert (len(served.bodies), most[0] <= 3) == (20, True)
    assert [one.done for one in seen] == list(range(1, 21))
    assert (seen[-1].total, seen[-1].failed, seen[-1].spent.tokens) == (20, 0, 300)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_the_cap_holds(concurrency: int) -> None:
    """Room for the bound of one call and the real use of four: exactly five are made."""
    bound = prompt_bound(request_body(request("0"))) + 50
    meter = Meter(bound + 4 * 15)
    with serving(says(GOOD)) as served:
        requests = [request(str(number)) for number in range(9)]
        outcomes = ask_all(client(served, meter=meter), requests, Labels, concurrency)
    assert sum(isinstance(outcome, Failure) for outcome in outcomes) == 4
    assert len(served.bodies) == 5
    assert meter.spent.tokens == 75
    assert all(isinstance(it, Reply) or "cap leaves no room" in it.detail for it in outcomes)


def test_a_wrong_key_stops_everything() -> None:
    with serving(fails(401)) as served, pytest.raises(ModelUnavailable):
        ask_all(client(served), [request(str(number)) for number in range(50)], Labels, 2)
    assert len(served.bodies) < 10


def test_a_dead_server_is_given_up() -> None:
    requests = [request(str(number)) for number in range(50)]
    with serving(fails(403, "closed today")) as served:
        with pytest.raises(MemAuditError, match=r"20 requests in a row failed.*closed today"):
            ask_all(client(served), requests, Labels, 2)
        assert 20 <= len(served.bodies) <= 30


def test_an_interrupt_ends_the_pauses() -> None:

    def interrupt(_: AskProgress) -> None:
        raise KeyboardInterrupt

    def one_good(handler: BaseHTTPRequestHandler, data: dict[str, Any]) -> None:
        if data["messages"][1]["content"] == "0":
            send(handler, 200, completion(GOOD))
        else:
            send(handler, 503, {}, {"Retry-After": "200"})

    with serving(one_good) as served:
        patient = client(served)
        patient._sleep = patient._stopped.wait  # the real pause
        with pytest.raises(KeyboardInterrupt):
            ask_all(patient, [request(str(n)) for n in range(3)], Labels, 3, interrupt)


def test_no_workers_is_refused() -> None:
    with serving(says(GOOD)) as served, pytest.raises(MemAuditError, match="concurrency"):
        ask_all(client(served), [request()], Labels, 0)


def test_calls_in_flight_count() -> None:
    """100 tokens allowed: 60 set aside leave no room for 50 until the call turns out small."""
    meter = Meter(100)
    first = meter.reserve(40, 20)
    got: list[int | None] = []
    waiting = threading.Thread(target=lambda: got.append(meter.reserve(40, 10)))
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    assert first is not None
    meter.settle(first, Usage(1, 30, 5))
    waiting.join(5)
    assert got[0] is not None
    meter.settle(got[0], Usage(1, 40, 10))
    assert meter.spent == Usage(2, 70, 15)
    assert meter.reserve(15, 1) is None
    assert meter.reserve(1, 1) is None  # closed is closed: what is left out is what came last


def test_an_unknown_size_stays_counted() -> None:
    meter = Meter(100)
    ticket = meter.reserve(30, 30)
    assert ticket is not None
    meter.settle(ticket, Usage(calls=1, unmeasured=1))
    assert meter.spent.tokens == 0
    assert meter.reserve(30, 11) is None


def test_cost_cap() -> None:
    price = Price(Fraction(1), Fraction(2))
    assert price.cost(100, 50) == Fraction(2, 10_000)
    assert Meter(None, Fraction(2, 10_000), price).reserve(100, 50) is not None
    assert Meter(None, Fraction(19, 100_000), price).reserve(100, 50) is None
    with pytest.raises(MemAuditError, match="price_in and price_out"):
        Meter(None, Fraction(1))


def test_prices() -> None:
    assert price_of(None, None) is None
    assert price_of("0.15", Fraction("0.6")) == Price(Fraction(15, 100), Fraction(6, 10))
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


def test_estimate_by_hand() -> None:
    """150 bytes are 30 to 50 tokens, 8 more for the message; replies take 16 to 100."""
    found = estimate([SMALL, SMALL], None, price_of("10", "100"))
    assert (found.requests, found.prompt_tokens) == (1, (30, 58))
    assert found.completion_tokens == (16, 100)
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

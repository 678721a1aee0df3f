"""Many requests: order, bounds, duplicates, progress, the cap, giving up."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.models.client import Failure, Reply
from memaudit.models.completions import prompt_bound, request_body
from memaudit.models.live import ModelUnavailable
from memaudit.models.session import AskProgress, ask_all
from memaudit.models.spending import Meter, SpendingCap
from tests.models.asking import GOOD, Labels, client, request
from tests.models.server import completion, fails, says, send, serving

pytest.importorskip("openai", reason="pip install 'memaudit[models]'")


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
    meter = Meter(SpendingCap(tokens=bound + 4 * 15))
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

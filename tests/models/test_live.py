"""Over a real socket: what is sent, retried, re-asked, and given up."""

import threading
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from memaudit.models.live import ModelUnavailable
from memaudit.models.request import Failure, FailureKind, Reply, Usage
from memaudit.models.spending import Meter, price_of
from tests.models.asking import GOOD, TWICE, WRONG, Labels, client, request
from tests.models.server import Behaviour, breaks_off, completion, fails, raw, says, send, serving


def ask(*script: Behaviour, **options: Any) -> tuple[Reply[Labels] | Failure, Any, list[float]]:
    """The outcome of one request to a server with this script, what it saw, and the waits."""
    waits: list[float] = []
    with serving(*script) as served:
        outcome = client(served, waits, **options).ask(request(), Labels)
    return outcome, served, waits


def answered(*script: Behaviour, **options: Any) -> tuple[Reply[Labels], Any, list[float]]:
    outcome, served, waits = ask(*script, **options)
    assert isinstance(outcome, Reply)
    return outcome, served, waits


def failed(*script: Behaviour, **options: Any) -> tuple[Failure, Any, list[float]]:
    outcome, served, waits = ask(*script, **options)
    assert isinstance(outcome, Failure)
    return outcome, served, waits


def test_what_is_sent() -> None:
    """Path, model, messages, temperature 0, the limit, the seed and the strict schema."""
    reply, served, waits = answered(says(GOOD), key="sk-test-123456789")
    assert reply.value.units[0].label == "full"
    assert (reply.raw, reply.wire, reply.served_model) == (GOOD, "json_schema", "served-model")
    assert reply.usage == Usage(1, 10, 5, unpriced=1)
    assert waits == []
    (body,), (headers,) = served.bodies, served.headers
    assert headers["authorization"] == "Bearer sk-test-123456789"
    assert body["path"] == "/v1/chat/completions"
    assert (body["model"], body["temperature"], body["max_tokens"], body["seed"]) == ("m", 0, 50, 0)
    assert [one["role"] for one in body["messages"]] == ["system", "user"]
    format = body["response_format"]
    assert (format["type"], format["json_schema"]["name"]) == ("json_schema", "Labels")
    assert format["json_schema"]["strict"] is True
    assert set(format["json_schema"]["schema"]["properties"]) == {"units"}


@pytest.mark.parametrize(
    ("script", "waits"),
    [
        ([fails(429, Retry_After="7"), says(GOOD)], [7.0]),
        ([fails(429, retry_after_ms="2500"), says(GOOD)], [2.5]),
    ],
)
def test_the_server_says_how_long_to_wait(script: list[Behaviour], waits: list[float]) -> None:
    reply, served, waited = answered(*script)
    assert reply.usage.calls == len(served.bodies) == 2
    assert waited == waits


def test_back_off_doubles_with_seeded_jitter() -> None:
    """Waits lie between half and all of 1, 2, 4 seconds, and are the same every time."""
    script = [fails(500), fails(502), fails(503), says(GOOD)]
    _, served, waits = answered(*script)
    assert len(served.bodies) == 4
    assert all(full / 2 <= wait <= full for wait, full in zip(waits, (1, 2, 4), strict=True))
    assert ask(*script)[2] == waits
    assert served.bodies[0] == served.bodies[3]


def test_retries_are_bounded() -> None:
    """Three retries, four calls, then a counted failure; refused calls used no tokens."""
    failure, served, waits = failed(fails(500, "boom"))
    assert (failure.kind, len(served.bodies), len(waits)) == (FailureKind.HTTP, 4, 3)
    assert failure.detail == "HTTP 500: boom, after 3 retries"
    assert failure.usage == Usage(calls=4)


def test_a_pause_too_long_is_a_failure() -> None:
    failure, served, waits = failed(fails(429, Retry_After="3600"))
    assert (failure.kind, len(served.bodies), waits) == (FailureKind.HTTP, 1, [])
    assert "(asks to wait 3600 s), after 0 retries" in failure.detail


@pytest.mark.parametrize(
    ("behaviour", "hint"),
    [
        (fails(401), "check the API key"),
        (fails(402), "no credit left"),
        (fails(404), "check the name of the model and base_url"),
        (fails(429, code="insufficient_quota"), "no credit left"),
    ],
)
def test_what_every_request_would_meet_stops_the_run(behaviour: Behaviour, hint: str) -> None:
    """A wrong key, an empty account or an unknown model is an error, after one call."""
    with serving(behaviour) as served, pytest.raises(ModelUnavailable, match=hint):
        client(served).ask(request(), Labels)
    assert len(served.bodies) == 1


def test_a_hanging_server_times_out() -> None:
    hanging = threading.Event()

    def hangs(_: BaseHTTPRequestHandler, __: dict[str, Any]) -> None:
        hanging.wait(5)

    reply, served, waits = answered(hangs, says(GOOD), timeout=0.3)
    hanging.set()
    assert (len(served.bodies), len(waits)) == (2, 1)
    assert reply.usage == Usage(2, 10, 5, unpriced=2, unmeasured=1)


def test_a_dripping_body_times_out() -> None:
    over = threading.Event()

    def drips(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        while not over.wait(0.02):
            handler.wfile.write(b" ")
            handler.wfile.flush()

    failure, served, _ = failed(drips, timeout=0.3, retries=1)
    over.set()
    assert (failure.kind, len(served.bodies)) == (FailureKind.HTTP, 2)
    assert failure.detail == "no complete response within 0.3 s, after 1 retries"


BROKEN = {
    "reset": breaks_off,
    "cut": raw(b'{"choices": [{"message"'),
    "list": raw(b"[]"),
    "html": raw(b"<html>bad gateway</html>"),
    "no choices": raw(b'{"choices": []}'),
    "no message": raw(b'{"choices": [{"message": null}]}'),
    "number": says(7),
    "error": raw(b'{"error": {"message": "overloaded", "code": 529}}'),
    "bytes": raw(b"\xff\xfe\x00"),
    "deep": raw(b"[" * 100_000),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_broken_responses_are_retried(broken: Behaviour) -> None:
    """A response that is no chat completion is a fault of the line, not a reply."""
    _, served, waits = answered(broken, says(GOOD))
    assert (len(served.bodies), len(waits)) == (2, 1)
    failure, served, waits = failed(broken)
    assert (failure.kind, len(served.bodies), len(waits)) == (FailureKind.HTTP, 4, 3)


def test_a_server_that_is_not_there() -> None:
    with serving(says(GOOD)) as served:
        pass
    waits: list[float] = []
    failure = client(served, waits).ask(request(), Labels)
    assert isinstance(failure, Failure)
    assert (failure.kind, len(waits)) == (FailureKind.HTTP, 3)
    assert "the connection failed: ConnectionRefusedError" in failure.detail
    assert failure.usage == Usage(calls=4)


def test_a_huge_body_is_cut_short() -> None:
    failure, served, _ = failed(raw(b" " * (8 << 20)))
    assert (failure.kind, len(served.bodies)) == (FailureKind.HTTP, 1)
    assert "larger than 4194304 bytes" in failure.detail


BAD = [WRONG, TWICE, "{", "", "Sure!", '{"units": NaN}', "[" * 99]
BAD += ['{"units": [], "units": []}', '{"units":["\\ud800"]}']


@pytest.mark.parametrize("bad", BAD)
def test_an_invalid_reply_is_asked_again_once(bad: str) -> None:
    reply, served, waits = answered(says(bad), says(GOOD))
    assert (reply.usage, waits) == (Usage(2, 20, 10, unpriced=2), [])
    first, second = served.bodies
    assert second["messages"][: len(first["messages"])] == first["messages"]
    *middle, last = second["messages"][len(first["messages"]) :]
    assert middle == ([{"role": "assistant", "content": bad}] if bad else [])
    assert last["content"].startswith("Your reply did not validate.")
    if bad == WRONG:
        assert "units.0.label: Input should be 'full', 'partial' or 'none'" in last["content"]


def test_invalid_twice_is_a_failure_with_its_raw_text() -> None:
    failure, served, _ = failed(says("{}"), says(TWICE))
    assert (failure.kind, failure.raw, len(served.bodies)) == (FailureKind.INVALID, TWICE, 2)
    assert failure.detail == "reply: Value error, an id appears twice"
    assert failure.usage.tokens == 30


def test_a_cut_off_reply_says_so() -> None:
    failure, _, _ = failed(says('{"units": [', finish_reason="length"))
    assert failure.detail.startswith("cut off at max_tokens = 50; is not valid JSON")


@pytest.mark.parametrize(
    ("behaviour", "detail"),
    [
        (says(None, refusal="I cannot help with that."), "I cannot help with that."),
        (says("", finish_reason="content_filter"), "stopped by the provider's content filter"),
    ],
)
def test_a_refusal_is_its_own_kind(behaviour: Behaviour, detail: str) -> None:
    failure, served, _ = failed(behaviour)
    assert (failure.kind, failure.detail, failure.raw) == (FailureKind.REFUSED, detail, detail)
    assert len(served.bodies) == 1


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": GOOD[:10]}, {"type": "text", "text": GOOD[10:]}],
        f"```json\n{GOOD}\n```",
        f"<think>\nu1? {WRONG}\n</think>\n\n{GOOD}",
    ],
    ids=["parts", "fence", "thinking"],
)
def test_wrappings_are_taken_off(content: object) -> None:
    assert len(answered(says(content))[1].bodies) == 1


def formats(served: Any) -> list[str]:
    return [body.get("response_format", {}).get("type", "text") for body in served.bodies]


def test_a_server_without_schemas_is_learned_once() -> None:
    """json_schema, json_object, then plain text; the next request starts where it worked."""

    def old(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        if "response_format" in body:
            send(handler, 400, {"error": {"message": "unknown field response_format"}})
        else:
            send(handler, 200, completion(GOOD))

    with serving(old) as served:
        one = client(served)
        first, second = one.ask(request("a"), Labels), one.ask(request("b"), Labels)
    assert isinstance(first, Reply)
    assert isinstance(second, Reply)
    assert formats(served) == ["json_schema", "json_object", "text", "text"]
    assert (first.wire, second.wire) == ("text", "text")
    assert request().reply_schema in served.bodies[3]["messages"][-1]["content"]


def test_newer_models_take_another_field_for_the_limit() -> None:
    message = "Unsupported parameter: use 'max_completion_tokens' instead of 'max_tokens'"
    with serving(fails(400, message), says(GOOD)) as served:
        one = client(served)
        one.ask(request("a"), Labels)
        one.ask(request("b"), Labels)
    assert ["max_tokens" in body for body in served.bodies] == [True, False, False]
    assert served.bodies[2]["max_completion_tokens"] == 50
    assert formats(served) == ["json_schema"] * 3


def test_cost_from_prices_or_from_the_server() -> None:
    """10 and 5 tokens at $2 and $4 a million are $0.00004; a reported cost comes first."""
    meter = Meter(price=price_of("2", "4"))
    reply, _, _ = ask(says(GOOD), meter=meter)
    assert (float(reply.usage.cost), reply.usage.unpriced) == (0.00004, 0)
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.003}
    reply, _, _ = ask(says(GOOD, usage=usage), meter=Meter(price=price_of("2", "4")))
    assert float(reply.usage.cost) == 0.003
    reply, _, _ = ask(says(GOOD, usage=None))
    assert reply.usage == Usage(1, unpriced=1, unmeasured=1)


@pytest.mark.parametrize(
    ("script", "outcomes", "tried"),
    [
        # Once schemas have worked, a 400 that does not mention them is a failure at once.
        (
            [says(GOOD), fails(400, "this prompt is too long"), says(GOOD)],
            [Reply, Failure, Reply],
            ["json_schema"] * 3,
        ),
        # When no form works, the request failed, and the next starts with the schema again.
        (
            [fails(400), fails(400), fails(400), says(GOOD)],
            [Failure, Reply],
            ["json_schema", "json_object", "text", "json_schema"],
        ),
    ],
    ids=["about the request", "teaches nothing"],
)
def test_a_refusal_of_the_form(script: Any, outcomes: list[type], tried: list[str]) -> None:
    with serving(*script) as served:
        one = client(served)
        assert [type(one.ask(request(str(n)), Labels)) for n in range(len(outcomes))] == outcomes
    assert formats(served) == tried

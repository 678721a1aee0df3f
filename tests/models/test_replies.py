"""What a model says, over the wire: validated, asked again, refused, or in another form."""

from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from memaudit.models.client import Failure, FailureKind, Reply, Usage
from memaudit.models.spending import Meter, price_of
from tests.models.asking import GOOD, TWICE, WRONG, Labels, client, request
from tests.models.server import Behaviour, completion, fails, says, send, serving
from tests.models.test_wire import ask

pytest.importorskip("openai", reason="pip install 'memaudit[models]'")


BAD = [WRONG, TWICE, "{", "", "Sure!", '{"units": NaN}', "[" * 99]
BAD += ['{"units": [], "units": []}', '{"units":["\\ud800"]}']


@pytest.mark.parametrize("bad", BAD)
def test_an_invalid_reply_is_asked_again_once(bad: str) -> None:
    """The second question holds the first reply and what was wrong with it."""
    reply, served, waits = ask(says(bad), says(GOOD))
    assert isinstance(reply, Reply)
    assert (reply.usage, waits) == (Usage(2, 20, 10, unpriced=2), [])
    first, second = served.bodies
    assert second["messages"][: len(first["messages"])] == first["messages"]
    *middle, last = second["messages"][len(first["messages"]) :]
    assert middle == ([{"role": "assistant", "content": bad}] if bad else [])
    assert last["content"].startswith("Your reply did not validate.")


def test_the_re_ask_names_the_error() -> None:
    """Place and reason, as pydantic gives them."""
    _, served, _ = ask(says(WRONG), says(GOOD))
    last = served.bodies[1]["messages"][-1]["content"]
    assert "units.0.label: Input should be 'full', 'partial' or 'none'" in last


def test_invalid_twice_is_a_failure_with_its_raw_text() -> None:
    """Two calls, no more; the last raw text is kept, and it is no empty label."""
    failure, served, _ = ask(says("{}"), says(TWICE))
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.raw, len(served.bodies)) == (FailureKind.INVALID, TWICE, 2)
    assert failure.detail == "reply: Value error, an id appears twice"
    assert failure.usage.tokens == 30


def test_a_cut_off_reply_says_so() -> None:
    """max_tokens is the reason, so it is named."""
    failure, _, _ = ask(says('{"units": [', finish_reason="length"))
    assert isinstance(failure, Failure)
    assert failure.detail.startswith("cut off at max_tokens = 50; is not valid JSON")


@pytest.mark.parametrize(
    ("behaviour", "detail"),
    [
        (says(None, refusal="I cannot help with that."), "I cannot help with that."),
        (says("", finish_reason="content_filter"), "stopped by the provider's content filter"),
    ],
)
def test_a_refusal_is_its_own_kind(behaviour: Behaviour, detail: str) -> None:
    """A refusal is not re-asked, and its words are kept."""
    failure, served, _ = ask(behaviour)
    assert isinstance(failure, Failure)
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
    """Parts, a code fence and thinking aloud are forms of a good reply."""
    reply, served, _ = ask(says(content))
    assert isinstance(reply, Reply)
    assert len(served.bodies) == 1


def test_equal_response_ids_mean_nothing() -> None:
    """Two requests answered under one completion id keep their own replies."""
    other = GOOD.replace("u1", "u2")
    with serving(says(GOOD), says(other)) as served:
        one = client(served)
        first, second = one.ask(request("a"), Labels), one.ask(request("b"), Labels)
    assert isinstance(first, Reply)
    assert isinstance(second, Reply)
    assert (first.value.units[0].id, second.value.units[0].id) == ("u1", "u2")


def formats(served: Any) -> list[str]:
    """How each call asked for the reply's shape."""
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


def test_a_refusal_after_success_is_about_the_request() -> None:
    """Once schemas have worked, a 400 that does not mention them is a failure at once."""
    too_long = fails(400, "this prompt is too long")
    with serving(says(GOOD), too_long, says(GOOD)) as served:
        one = client(served)
        outcomes = [one.ask(request(text), Labels) for text in "abc"]
    assert [type(outcome) for outcome in outcomes] == [Reply, Failure, Reply]
    assert formats(served) == ["json_schema"] * 3


def test_a_first_refusal_tries_every_form_and_teaches_nothing() -> None:
    """When no form works, the request failed, and the next starts with the schema again."""
    with serving(fails(400), fails(400), fails(400), says(GOOD)) as served:
        one = client(served)
        outcomes = [one.ask(request(text), Labels) for text in "ab"]
    assert [type(outcome) for outcome in outcomes] == [Failure, Reply]
    assert formats(served) == ["json_schema", "json_object", "text", "json_schema"]


def test_newer_models_take_another_field_for_the_limit() -> None:
    """max_completion_tokens is used once a server asks for it."""
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

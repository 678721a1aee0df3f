"""The server between a system and its model: it keeps the key, and answers only its run."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from memaudit.lab.capture.model_proxy import ModelProxy, Upstream
from memaudit.models.http_client import HttpClient
from memaudit.models.record import Record
from memaudit.models.secret import Secret
from tests.models.server import Served, send, serving

KEY = "sk-a-key-that-nobody-may-see"


@pytest.fixture
def model() -> Iterator[Served]:
    def answer(handler: Any, body: dict[str, Any]) -> None:
        said = body["messages"][0]["content"]
        if said == "refuse":
            send(handler, 429, {"error": {"message": f"slow down, {KEY}"}})
        else:
            text = f"the key is {KEY}" if said == "leak" else said.upper()
            send(
                handler,
                200,
                {
                    "choices": [{"text": text}],
                    "usage": {"prompt_tokens": 7, "completion_tokens": 2},
                },
            )

    with serving(answer) as server:
        yield server


def ask(proxy: ModelProxy, text: str, token: str | None = None) -> tuple[int, Any]:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    headers = {"Authorization": f"Bearer {token or proxy.token}"}
    request = urllib.request.Request(f"{proxy.address}/chat/completions", body, headers)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_a_stranger_gets_nothing(model: Served) -> None:
    upstream = Upstream(HttpClient(model.url), Secret(KEY), 10)
    with ModelProxy(Record(""), None, upstream) as proxy:
        assert ask(proxy, "hello", "guess")[0] == 401
        assert ask(proxy, "hello", KEY)[0] == 401
        assert model.bodies == []
        assert ask(proxy, "hello")[1]["choices"][0]["text"] == "HELLO"
        assert (proxy.calls[0].tokens_in, proxy.calls[0].tokens_out) == (7, 2)


def test_the_key_is_in_no_reply_and_no_record(model: Served) -> None:
    upstream = Upstream(HttpClient(model.url), Secret(KEY), 10)
    with ModelProxy(Record(""), None, upstream) as proxy:
        for text, status in (("leak", 200), ("refuse", 429)):
            found = ask(proxy, text)
            assert found[0] == status
            assert KEY not in json.dumps(found)
        assert KEY not in repr(proxy.calls)


def test_invented_counts_are_not_reported(model: Served) -> None:
    upstream = Upstream(HttpClient(model.url), Secret(""), 10, counts_tokens=False)
    with ModelProxy(Record(""), None, upstream) as proxy:
        ask(proxy, "hello")
        assert (proxy.calls[0].tokens_in, proxy.calls[0].tokens_out) == (None, None)


def test_a_model_that_is_not_there() -> None:
    upstream = Upstream(HttpClient("http://127.0.0.1:1/v1"), Secret(""), 5)
    with ModelProxy(Record(""), None, upstream) as proxy:
        status, reply = ask(proxy, "hello")
        assert status == 502
        assert "could not be asked" in reply["error"]["message"]


def test_a_replay_asks_nobody() -> None:
    with ModelProxy(Record("r"), None, None) as proxy:
        proxy.begin("ann", 0)
        assert ask(proxy, "hello")[0] == 400
        assert "nothing was recorded" in proxy.missed

"""The API key goes to its server and nowhere else."""

import copy
import logging
import os
import pickle
import subprocess
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.models.cache import Cache, CachedClient, export_cache, import_cache
from memaudit.models.live import RetryPolicy
from memaudit.models.request import Failure, Reply
from memaudit.models.secret import HIDDEN, Secret, checked_address, key_for
from memaudit.models.session import ModelSettings, open_client
from tests.models.asking import GOOD, Labels, client, request
from tests.models.server import Behaviour, completion, fails, raw, says, send, serving

CANARY = 'sk-canary-"7f3e9b\\quote'
"""With characters that JSON and Python spell differently."""

PARTS = ("sk-canary", "7f3e9b", "canary")


def echo_key(status: int, place: str) -> Behaviour:
    """A server that shows the key it was given, in an error or in a reply."""

    def behave(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        key = handler.headers["Authorization"]
        data: dict[str, Any] = {"error": {"message": f"bad {key}", "type": key, "code": key}}
        if place == "content":
            data = completion(f"not json, but {key.removeprefix('Bearer ')}")
        if place == "refusal":
            data = completion(None, refusal=key)
        if place == "model":
            data = completion(GOOD, model=key)
        if place == "body":
            send(handler, status, f"<p>{key}</p>".encode())
        else:
            send(handler, status, data)

    return behave


SERVERS = [
    says(GOOD),
    echo_key(500, "error"),
    echo_key(403, "error"),
    echo_key(401, "error"),
    echo_key(400, "error"),
    echo_key(200, "error"),
    echo_key(200, "content"),
    echo_key(200, "refusal"),
    echo_key(200, "model"),
    echo_key(200, "body"),
    echo_key(502, "body"),
    raw(b"{"),
]


@pytest.mark.parametrize("behaviour", SERVERS)
def test_no_file_log_or_message_holds_the_key(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    behaviour: Behaviour,
) -> None:
    """After success, failure and error, with every log switched on, the canary is nowhere."""
    monkeypatch.setenv("MEMAUDIT_API_KEY", CANARY)
    caplog.set_level(logging.DEBUG)
    with serving(behaviour) as served, Cache(tmp_path / "cache") as cache:
        settings = ModelSettings(base_url=served.url, retry=RetryPolicy(retries=0))
        asking = open_client(settings, cache)
        try:
            outcome: Reply[Labels] | Failure | str = asking.ask(request(), Labels)
        except MemAuditError as error:
            outcome = repr(error)
        export_cache(cache, tmp_path / "cache.jsonl")
        files = b"".join(path.read_bytes() for path in sorted(tmp_path.iterdir()))
    assert served.headers[0]["authorization"] == f"Bearer {CANARY}"  # it did reach the server
    captured = capfd.readouterr()
    texts = [repr(outcome), str(outcome), repr(asking), caplog.text, captured.out, captured.err]
    texts.append(files.decode("utf-8", "replace"))
    assert [one for one in PARTS for text in texts if one in text] == []


CRASH = """
import sys
from pathlib import Path
from memaudit.models.cache import Cache
from memaudit.models.session import ModelSettings, open_client
from tests.models.asking import Labels, request
import memaudit.models.live as live
def boom(*_):
    raise RuntimeError("a bug of ours, in the middle of a call")
live.read_completion = boom
cache = Cache(Path(sys.argv[2]))
open_client(ModelSettings(base_url=sys.argv[1]), cache).ask(request(), Labels)
"""


def test_a_crash_does_not_show_the_key(tmp_path: Path) -> None:
    """A traceback out of the middle of a call holds no key, nor does what it left behind."""
    with serving(says(GOOD)) as served:
        done = subprocess.run(
            [sys.executable, "-X", "dev", "-c", CRASH, served.url, str(tmp_path / "cache")],
            env={**os.environ, "MEMAUDIT_API_KEY": CANARY, "OPENAI_LOG": "debug"},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert "RuntimeError: a bug of ours" in done.stderr
    files = b"".join(path.read_bytes() for path in sorted(tmp_path.iterdir()))
    text = done.stdout + done.stderr + files.decode("utf-8", "replace")
    assert [one for one in PARTS if one in text] == []
    assert served.headers[0]["authorization"] == f"Bearer {CANARY}"


def test_a_cache_that_holds_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Out of the cache of someone who has another key, it is not imported."""
    key = "or-secret-0123456789"
    with serving(says(f"the key is {key}")) as served, Cache(tmp_path / "plain") as cache:
        CachedClient(client(served), cache).ask(request(), Labels)
        export_cache(cache, tmp_path / "rows.jsonl")
    monkeypatch.setenv("OPENROUTER_API_KEY", key)
    with Cache(tmp_path / "cache") as cache:
        found = import_cache(cache, tmp_path / "rows.jsonl")
    assert (found.counts["attempts"], found.counts["refused"]) == (0, 1)
    assert "holds an API key of this environment" in found.problems[0]


def test_a_secret_does_not_show_itself() -> None:
    secret = Secret(CANARY)
    for text in (repr(secret), str(secret), f"{secret}", f"{[secret]}", "%s" % secret):  # noqa: UP031
        assert "canary" not in text
    for spread in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled or copied"):
            spread(secret)


def test_placeholders_are_not_hidden() -> None:
    assert Secret("ollama").hidden_in("Ann runs ollama at home.") == "Ann runs ollama at home."
    assert Secret("").hidden_in("") == ""
    assert Secret("").hidden_in_message("sent Bearer abc.def") == f"sent {HIDDEN}"


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://api.openai.com/v1", "one"),
        ("https://openrouter.ai/api/v1", "two"),
        ("http://localhost:11434/v1", ""),
        ("https://api.openai.com.evil.example/v1", ""),
        ("https://notopenai.com/v1", ""),
    ],
)
def test_keys_go_to_their_own_hosts(url: str, sent: str) -> None:
    """A company's key goes to that company alone; ours goes where the user points."""
    keys = {"OPENAI_API_KEY": "one", "OPENROUTER_API_KEY": "two"}
    assert key_for(url, keys).reveal() == sent
    assert key_for(url, {**keys, "MEMAUDIT_API_KEY": " mine\n"}).reveal() == "mine"
    with pytest.raises(MemAuditError, match="not allowed in a key") as caught:
        key_for(url, {**keys, "MEMAUDIT_API_KEY": "mi\nne"})
    assert "mi" not in str(caught.value).removeprefix("MEMAUDIT_API_KEY")


@pytest.mark.parametrize(
    "address",
    [
        "http://u:canary@h/v1",
        "http://h/v1?key=canary",
        "http://h/#canary",
        "canary",
        "ftp://canary",
        "http://[canary",
    ],
)
def test_addresses_carry_no_secrets(address: str) -> None:
    with pytest.raises(MemAuditError) as caught:
        checked_address(address)
    assert "canary" not in str(caught.value)


def test_providers(tmp_path: Path) -> None:
    with Cache(tmp_path / "cache") as cache:
        open_client(ModelSettings(provider="offline"), cache)
        with pytest.raises(MemAuditError, match="unknown provider 'magic'"):
            open_client(ModelSettings(provider="magic"), cache)


def test_a_server_error_is_one_line() -> None:
    with serving(fails(403, "line\nline\x00" + "x" * 10_000)) as served:
        outcome = client(served).ask(request(), Labels)
    assert isinstance(outcome, Failure)
    assert "\n" not in outcome.detail
    assert len(outcome.detail) < 600

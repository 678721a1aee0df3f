"""The HTTP client over real sockets: what it sends, whom it trusts, and when it gives up."""

import json
import socket
import ssl
import subprocess
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.models.live import (
    CallFailed,
    LiveClient,
    ModelUnavailable,
    OpenAITransport,
    RetryPolicy,
)
from memaudit.models.request import Failure, Reply
from memaudit.models.secret import Secret
from tests.hardening.hostile_server import HOSTILE, KEY, hostile
from tests.models.asking import GOOD, Labels, client, request
from tests.models.server import fails, says, send, serving


def asked(url: str, timeout: float = 0.5) -> Reply[Labels] | Failure:
    """The outcome of one request that is not repeated."""
    transport = OpenAITransport(url, Secret(KEY), timeout)
    return LiveClient(transport, key=Secret(KEY), retry=RetryPolicy(retries=0)).ask(
        request(), Labels
    )


BOUNDED = {
    "drips a body": "no complete response within 0.5 s",
    "drips headers": "no complete response within 0.5 s",
    "drips early hints": "no complete response within 0.5 s",
    "drips an error": "HTTP 503: Service Unavailable",
    "endless error": "HTTP 500: Internal Server Error",
    "storm of 103": "larger than 262144 bytes",
    "endless headers": "larger than 262144 bytes",
    "endless status line": "larger than 262144 bytes",
    "endless body": "larger than 4194304 bytes",
    "endless small chunks": "larger than 4194304 bytes",
    "gzip bomb": "the response is compressed",
    "br": "the response is compressed",
    "zstd": "the response is compressed",
    "compressed error": "HTTP 500: Internal Server Error",
    "TLS on a plain port": "the response is not valid HTTP/1.1",
    "HTTP/0.9": "the response",
}


@pytest.mark.parametrize(("name", "detail"), BOUNDED.items(), ids=BOUNDED)
def test_every_response_is_bounded(name: str, detail: str) -> None:
    """Whatever its status: by one deadline for the whole call, and in its bytes."""
    with hostile(HOSTILE[name].behave) as port:
        began = time.monotonic()
        outcome = asked(f"http://127.0.0.1:{port}/v1", 0.5 if name.startswith("drips") else 10)
    assert isinstance(outcome, Failure)
    assert detail in outcome.detail
    assert time.monotonic() - began < 12


def test_a_server_that_does_not_read() -> None:
    """Sending counts towards the deadline, too."""
    door = socket.create_server(("127.0.0.1", 0))
    with door:
        address = f"http://127.0.0.1:{door.getsockname()[1]}/v1"
        transport = OpenAITransport(address, Secret(""), 0.5)
        began = time.monotonic()
        with pytest.raises(CallFailed, match="no complete response within"):
            transport.send({"text": "x" * (32 << 20)})
        assert time.monotonic() - began < 5


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_redirects_are_not_followed(status: int) -> None:
    """Nothing reaches the other host, and one line says which it is, without secrets."""
    with serving(says(GOOD)) as other:
        target = other.url.replace("http://", f"http://name:{KEY}@")

        def redirects(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
            place = f"{target}/chat?token={KEY}#{KEY}"
            send(handler, status, b"", {"Location": place})

        with serving(redirects) as served, pytest.raises(ModelUnavailable) as caught:
            asked(served.url)
        assert other.bodies == []
    line = str(caught.value)
    assert line == (
        f"the model server refuses: HTTP {status}: redirected to {other.url}/chat; redirects are "
        "not followed, because prompts and the key would go to another address; if that address "
        "is right, give it as base_url"
    )


ENVIRONMENT = {
    "OPENAI_API_KEY": "sk-of-the-company",
    "OPENAI_ADMIN_KEY": "sk-of-the-admin",
    "OPENAI_ORG_ID": "org-secret",
    "OPENAI_ORGANIZATION": "org-secret",
    "OPENAI_PROJECT_ID": "project-secret",
    "OPENAI_WEBHOOK_SECRET": "webhook-secret",
    "OPENAI_CUSTOM_HEADERS": "X-Secret: header-secret\nCookie: header-secret",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "OPENAI_LOG": "debug",
    "AZURE_OPENAI_API_KEY": "azure-secret",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
}


def test_the_environment_adds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither headers nor another address, nor a password out of .netrc."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login me password netrc-secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HOME", str(tmp_path))
    with serving(says(GOOD)) as served:
        assert isinstance(asked(served.url, 10), Reply)
        assert isinstance(client(served).ask(request(), Labels), Reply)
    first, second = served.headers
    assert set(first) == {
        "host",
        "connection",
        "content-length",
        "user-agent",
        "accept",
        "accept-encoding",
        "content-type",
        "authorization",
    }
    assert first["authorization"] == f"Bearer {KEY}"
    assert first["accept-encoding"] == "identity"
    assert set(first) - set(second) == {"authorization"}
    assert "secret" not in json.dumps([first, second])
    assert capfd.readouterr() == ("", "")


def test_a_proxy_for_other_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets requests to other hosts, with its own password; its refusal is not the model's."""
    with serving(says(GOOD)) as proxy:
        place = proxy.url.removeprefix("http://").removesuffix("/v1")
        monkeypatch.setenv("HTTP_PROXY", f"http://name:p%40ss@{place}")
        monkeypatch.setenv("HTTPS_PROXY", place)
        assert isinstance(asked("http://model.example:81/v1", 10), Reply)
        refused = asked("https://model.example/v1", 10)
        monkeypatch.setenv("NO_PROXY", "model.invalid")
        direct = asked("http://model.invalid/v1", 10)
    assert proxy.bodies[0]["path"] == "http://model.example:81/v1/chat/completions"
    assert proxy.headers[0]["host"] == "model.example:81"
    assert proxy.headers[0]["proxy-authorization"] == "Basic bmFtZTpwQHNz"  # name:p@ss
    assert len(proxy.bodies) == 1
    assert isinstance(refused, Failure)
    assert "the proxy refuses with HTTP 501" in refused.detail
    assert isinstance(direct, Failure)
    assert "the connection failed: gaierror" in direct.detail
    monkeypatch.setenv("HTTP_PROXY", "socks5://name:secret@host")
    with pytest.raises(
        MemAuditError, match="is not an http:// address; check HTTP_PROXY"
    ) as caught:
        asked("http://model.example/v1")
    assert "secret" not in str(caught.value)


def test_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate counts only if it is trusted and names the host."""
    made = subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=x",
            "-addext",
            "subjectAltName=DNS:localhost",
            "-keyout",
            "key.pem",
            "-out",
            "cert.pem",
        ],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("openssl cannot make a certificate here")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    with serving(says(GOOD), tls=context) as served:
        url = served.url.replace("http://127.0.0.1", "https://localhost")
        strange = asked(url, 10)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        trusted, misnamed = asked(url, 10), asked(url.replace("localhost", "127.0.0.1"), 10)
    assert isinstance(trusted, Reply)
    for outcome in (strange, misnamed):
        assert isinstance(outcome, Failure)
        assert "certificate verify failed" in outcome.detail
        assert outcome.usage.unmeasured == 0
    assert len(served.bodies) == 1


def test_no_key_no_header() -> None:
    with serving(fails(403)) as served:
        client(served).ask(request(), Labels)
    assert "authorization" not in served.headers[0]


@pytest.mark.parametrize("path", ["v1", "v1/", "a b/\u00e9", "%41"])
def test_paths(path: str) -> None:
    """Characters that do not belong into an address are escaped; nothing else is changed."""
    with serving(says(GOOD)) as served:
        assert isinstance(asked(f"{served.url.removesuffix('v1')}{path}", 10), Reply)
    expected = {"v1/": "v1", "a b/\u00e9": "a%20b/%C3%A9"}.get(path, path)
    assert served.bodies[0]["path"] == f"/{expected}/chat/completions"


def test_hosts_that_are_none() -> None:
    for url in ("http://a..b/v1", "http://h:99999/v1"):
        with pytest.raises(MemAuditError, match="check base_url"):
            OpenAITransport(url, Secret(""))

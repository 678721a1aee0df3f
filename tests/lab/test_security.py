"""The guard lets through what holds the token on a loopback name; every answer is strict."""

import asyncio
import re
from typing import Any

import pytest
from starlette.responses import PlainTextResponse

from memaudit.lab.serving import HEADERS, Guard, new_token

TOKEN = "correct-token"
COOKIE = ("cookie", f"memaudit_8000={TOKEN}")
HOST = ("host", "127.0.0.1:8000")
ORIGIN = ("origin", "http://127.0.0.1:8000")


def ask(
    *headers: tuple[str, str], method: str = "GET", path: str = "/", query: str = ""
) -> tuple[int, dict[str, str], str]:
    """What comes back through the guard; `inside` is the page behind it."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
        "server": ("127.0.0.1", 8000),
        "scheme": "http",
    }
    asyncio.run(Guard(PlainTextResponse("inside"), TOKEN)(scope, receive, send))
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], found, b"".join(one.get("body", b"") for one in sent[1:]).decode()


def test_the_token_becomes_a_cookie() -> None:
    """Once in the URL, then in a cookie no script and no other site can use."""
    status, headers, body = ask(HOST, query=f"token={TOKEN}", path="/some/page")
    assert (status, headers["location"], body) == (303, "/some/page", "")
    cookie = headers["set-cookie"].lower()
    assert cookie.startswith(f"memaudit_8000={TOKEN};")
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "domain" not in cookie


def test_the_way_back_stays_on_this_server() -> None:
    """A path that looks like a host is no way out."""
    for path in ("//evil.example/x", "/\\evil.example", "///evil.example"):
        _, headers, _ = ask(HOST, query=f"token={TOKEN}", path=path)
        assert not headers["location"].startswith(("//", "/\\", "http"))


@pytest.mark.parametrize("query", ["token=wrong", "token=", f"token={TOKEN}x", "token=%ff%00"])
def test_a_wrong_token_opens_nothing(query: str) -> None:
    """Not even for who holds the cookie: a wrong address should be noticed."""
    for headers in ([HOST], [HOST, COOKIE]):
        status, found, body = ask(*headers, query=query)
        assert (status, "set-cookie" in found, "inside" in body) == (401, False, False)


def test_the_rest_of_the_address_stays() -> None:
    """Only the token goes; what is asked for is asked for again, and cannot lead elsewhere."""
    query = f"budget=4&token={TOKEN}&q=a%26b%0d%0aX%3a1&token={TOKEN}"
    status, found, _ = ask(HOST, query=query, path="//evil.example")
    assert (status, found["location"]) == (303, "/evil.example?budget=4&q=a%26b%0D%0AX%3A1")


@pytest.mark.parametrize(
    "cookie",
    [
        [],
        [("cookie", "memaudit_8000=wrong")],
        [("cookie", f"memaudit_8001={TOKEN}")],
        [("cookie", f"other={TOKEN}")],
        [("cookie", "memaudit_8000=")],
    ],
)
def test_no_cookie_no_page(cookie: list[tuple[str, str]]) -> None:
    for path in ("/", "/static/annotate.js", "/labels.csv"):
        status, _, body = ask(HOST, *cookie, path=path)
        assert status == 401
        assert "inside" not in body


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "LOCALHOST", "[::1]:8000"])
def test_loopback_names(host: str) -> None:
    """The machine itself, also through a forwarded port."""
    assert ask(("host", host), COOKIE)[2] == "inside"


@pytest.mark.parametrize(
    "hosts",
    [
        [],
        ["evil.example"],
        ["127.0.0.1.evil.example"],
        ["localhost.evil.example:8000"],
        ["127.0.0.1@evil.example"],
        ["127.0.0.1:8000", "evil.example"],
        ["0.0.0.0:8000"],
        ["127.0.0.1:8000/evil"],
        ["evil.example:8000"],
        ["127.0.0.2"],
        ["127.0.0.1:"],
    ],
)
def test_foreign_names(hosts: list[str]) -> None:
    """A name of somebody else that points here gets nothing, token or not."""
    headers = [("host", host) for host in hosts]
    for query in ("", f"token={TOKEN}"):
        status, found, body = ask(*headers, COOKIE, query=query)
        assert (status, "set-cookie" in found, "inside" in body) == (421, False, False)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_writes_come_from_the_page(method: str) -> None:
    """Same origin and the cookie: neither alone is enough."""
    assert ask(HOST, COOKIE, ORIGIN, method=method)[2] == "inside"
    assert ask(HOST, ORIGIN, method=method)[0] == 401
    assert ask(HOST, ORIGIN, method=method, query=f"token={TOKEN}")[0] == 401
    for origin in (
        [],
        [("origin", "null")],
        [("origin", "http://evil.example")],
        [("origin", "http://127.0.0.1:9000")],
        [("origin", "https://127.0.0.1:8000")],
        [("origin", "http://localhost:8000")],
    ):
        assert ask(HOST, COOKIE, *origin, method=method)[0] == 403


def test_every_answer_is_strict() -> None:
    for headers in ([HOST, COOKIE], [HOST], [], [HOST, COOKIE, ("origin", "null")]):
        _, found, _ = ask(*headers, method="POST" if len(headers) == 3 else "GET")
        assert found | HEADERS == found
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy
    assert "http" not in policy
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")


def test_tokens_differ() -> None:
    """256 bits, in letters a URL may hold."""
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", token) for token in tokens)

"""Any request to the labelling page: strict headers; no view or change for who may not."""

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import ASGIApp

from memaudit.lab.labels.annotate.app import annotator_app, guideline
from memaudit.lab.labels.annotate.labelling import LabelDatabase, LabellingSession, frame_digest
from memaudit.lab.serving import HEADERS, Guard
from tests.hardening.edits import FUZZ, TEXTS, Edit, edits
from tests.lab.labels.annotate.small_frames import SECRETS, frame_folder, frame_of

pytestmark = pytest.mark.slow

TOKEN, PORT, CELLS = "correct-token", 8000, 4


@dataclass(frozen=True)
class Attacked:
    app: ASGIApp
    addresses: tuple[str, ...]
    bodies: tuple[dict[str, object], ...]
    state: Callable[[], object]
    """What must not change by itself."""


@contextmanager
def annotator(folder: Path) -> Iterator[Attacked]:
    frame = frame_folder(folder / "frame", CELLS)
    cells = frame_of(CELLS).cells
    addresses = (
        *("/", "/house.css", "/static/annotate.js", "/resume", "/cells/1", "/undo"),
        *("/unlabelled-after/0", "/decisions", "/notes", "/labels.csv"),
    )
    bodies: tuple[dict[str, object], ...] = (
        {"position": 1, "label": "full", "note": "x"},
        {"position": 2, "note": "y", "finished": True},
        {"position": 3, "label": "cannot_tell"},
    )
    with closing(LabelDatabase(folder / "labels.sqlite", frame_digest(cells), CELLS)) as kept:
        app = annotator_app(LabellingSession(cells, kept, "ann"), guideline(frame))
        count = "SELECT 'd', count(*) FROM decisions UNION SELECT 'n', count(*) FROM drafts"
        yield Attacked(Guard(app, TOKEN), addresses, bodies, lambda: kept.rows(count))


LOG = logging.getLogger(__name__)
STATUSES = (200, 206, 303, 304, 307, 400, 401, 403, 404, 405, 416, 421, 422)

COOKIE = f"memaudit_{PORT}={TOKEN}".encode()
ORIGIN = f"http://127.0.0.1:{PORT}".encode()
HOST = f"127.0.0.1:{PORT}".encode()

Answer = tuple[int, dict[str, str], bytes]

pieces = st.sampled_from([text[:3000] for text in TEXTS]) | st.text(max_size=12)


def paths(page: Attacked) -> st.SearchStrategy[str]:
    """An address of the page, one with a piece added or exchanged, or anything."""
    own = st.sampled_from(page.addresses)
    return (
        own
        | own
        | st.builds("{}/{}".format, own, pieces)
        | st.builds(_exchanged, own, st.integers(0, 9), pieces | st.integers(-3, 10**6).map(str))
        | st.builds("/static/{}".format, pieces)
        | pieces
    )


def _exchanged(address: str, place: int, piece: str) -> str:
    parts = address.split("/")
    parts[place % len(parts)] = piece
    return "/".join(parts)


queries = (
    st.sampled_from(["", "", "", "token=", "token=wrong", f"token={TOKEN}"])
    | pieces.map(lambda text: f"token={quote(text, errors='replace')}")
    | pieces
)
"""No query, a token, or anything."""


@st.composite
def requests(draw: st.DrawFn, page: Attacked) -> dict[str, Any]:
    """A request: mostly of the page itself, with something wrong here or there."""
    headers = [
        (b"host", draw(st.sampled_from([HOST] * 6 + [b"evil.example", b"localhost:8000", b""]))),
        (b"cookie", draw(st.sampled_from([COOKIE] * 6 + [b"", b"memaudit_8000=wrong"]))),
        (b"origin", draw(st.sampled_from([ORIGIN] * 6 + [b"null", b"http://evil.example"]))),
        (b"content-type", draw(st.sampled_from([b"application/json"] * 6 + [b"text/plain"]))),
    ]
    body = json.dumps(draw(st.sampled_from(page.bodies))).encode()
    steps: list[Edit] = draw(st.just([]) | edits)
    for step in steps:
        body = step(body)
    return {
        "method": draw(st.sampled_from(["GET", "POST", "POST", "HEAD", "PUT", "OPTIONS", "BREW"])),
        "path": draw(paths(page)),
        "query": draw(queries),
        "headers": headers,
        "body": body[: 1 << 20],
    }


def asked(app: ASGIApp, request: dict[str, Any]) -> Answer:
    """What comes back."""
    sent: list[Any] = []
    left = iter([{"type": "http.request", "body": request["body"], "more_body": False}])

    async def receive() -> Any:
        return next(left, {"type": "http.disconnect"})

    async def send(message: Any) -> None:
        sent.append(message)

    raw = request["path"].encode("utf-8", "surrogatepass")
    scope = {
        "type": "http",
        "method": request["method"],
        "raw_path": raw,
        "scheme": "http",
        "path": unquote_to_bytes(raw).decode("utf-8", "replace"),
        "server": ("127.0.0.1", PORT),
        "query_string": request["query"].encode("utf-8", "surrogatepass"),
        "headers": request["headers"],
        "client": ("127.0.0.1", 5),
        "http_version": "1.1",
        "root_path": "",
        "asgi": {"version": "3.0"},
    }
    asyncio.run(asyncio.wait_for(app(scope, receive, send), 30))
    assert [one["type"] for one in sent].count("http.response.start") == 1
    start = next(one for one in sent if one["type"] == "http.response.start")
    found = {name.decode("latin-1"): value.decode("latin-1") for name, value in start["headers"]}
    return start["status"], found, b"".join(one.get("body", b"") for one in sent)


def may(request: dict[str, Any]) -> bool:
    """Whether the page itself could have sent it."""

    def only(name: bytes) -> bytes:
        return b"; ".join(value for key, value in request["headers"] if key == name)

    hosts = [value for key, value in request["headers"] if key == b"host"]
    known = hosts in ([HOST], [b"localhost:8000"]) and COOKIE in only(b"cookie")
    reads = request["method"] in ("GET", "HEAD")
    return known and (reads or only(b"origin").lower().startswith(b"http://" + hosts[0]))


def test_any_request(tmp_path: Path) -> None:
    """Strict headers always; a view only for who may see it; nothing written by who may not."""
    with annotator(tmp_path) as page:
        strict = HEADERS
        count = 0

        @FUZZ
        @given(requests(page))
        def attack(request: dict[str, Any]) -> None:
            nonlocal count
            count += 1
            before = page.state()
            status, found, body = asked(page.app, request)
            assert status in STATUSES, status
            assert found | strict == found
            assert not any(secret.encode() in body for secret in SECRETS)
            assert b"Traceback" not in body
            if not may(request):
                assert status in (303, 401, 403, 404, 421), status
            if status == 303:
                assert f"token={TOKEN}" in request["query"]
                assert found["location"].startswith("/")
                assert not found["location"].startswith("//")
            if status not in (200, 206) or not may(request):
                assert page.state() == before

        attack()
        LOG.info("%d requests", count)

"""A TCP server on loopback that answers requests for completions in every wrong way we know."""

import gzip
import json
import random
import re
import socket
import struct
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from tests.models.asking import GOOD
from tests.models.server import completion

KEY = "sk-hostile-Qm7ZrT4vXw9LkB2nHj5y"
PROMPT = "Ann moved to Rome, and nobody else may know."


def shown(text: str, share: float = 0.6) -> bool:
    """Whether this share of the key or more stands in a text."""
    size = int(len(KEY) * share)
    return any(KEY[at : at + size] in text for at in range(len(KEY) - size + 1))


@dataclass
class Talk:
    """One connection, after its request was read."""

    link: socket.socket
    over: threading.Event
    """The test has ended."""
    key: str
    wish: dict[str, Any]

    def send(self, *parts: bytes | str) -> None:
        data = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
        self.link.sendall(data)

    def answer(
        self, body: bytes | str, status: str = "200 OK", headers: Sequence[str] = ()
    ) -> None:
        data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
        lines = "".join(f"{line}\r\n" for line in (*headers, f"Content-Length: {len(data)}"))
        self.send(f"HTTP/1.1 {status}\r\n{lines}\r\n", data)

    def flood(self, piece: bytes) -> None:
        """Without end, or until the client goes away."""
        while not self.over.is_set():
            self.link.sendall(piece)

    def drip(self, piece: bytes, pause: float = 0.02) -> None:
        while not self.over.wait(pause):
            self.link.sendall(piece)


Behave = Callable[[Talk], None]


@dataclass(frozen=True)
class Hostile:
    ends: str
    """reply, http, invalid, refused, or stops: the run ends with one line."""
    behave: Behave
    scheme: str = "http"


def said(content: object = GOOD, **more: object) -> str:
    return json.dumps(completion(content, **more))


def _answers(
    body: bytes | str, status: str = "200 OK", headers: Sequence[str] = ()
) -> Callable[[Talk], None]:
    return lambda talk: talk.answer(body, status, headers)


def _sends(*parts: bytes | str) -> Callable[[Talk], None]:
    return lambda talk: talk.send(*parts)


def _floods(start: str, piece: bytes) -> Callable[[Talk], None]:
    def behave(talk: Talk) -> None:
        talk.send(start)
        talk.flood(piece)

    return behave


def _drips(start: str, piece: bytes) -> Callable[[Talk], None]:
    def behave(talk: Talk) -> None:
        talk.send(start)
        talk.drip(piece)

    return behave


def _resets(talk: Talk) -> None:
    talk.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
    talk.link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _waits(talk: Talk) -> None:
    talk.over.wait(60)


def _echoes(status: str, form: str) -> Callable[[Talk], None]:
    """The key and the prompt, in an error or where a reply stands."""

    def behave(talk: Talk) -> None:
        text = f"about {talk.wish['messages'][-1]['content']}: {talk.key} is what you sent"
        if form == "message":
            talk.answer(
                json.dumps({"error": {"message": text, "type": text, "code": text}}), status
            )
        elif form == "raw":  # the server's own JSON spells the key
            talk.answer(f'{{"error": {{"message": "{text}"}}}}', status)
        elif form == "text":
            talk.answer(f"<p>{text}</p>", status)
        elif form == "header":
            talk.answer("", status, [f"Location: http://127.0.0.1/{talk.key}?q={talk.key}"])
        elif form == "content":
            reply = {"units": [{"id": talk.key, "label": "full"}]}
            talk.answer(said(json.dumps(reply)), status)
        elif form == "content, as it is":
            talk.answer(said(f'{{"units": [{{"id": "{talk.key}"}}]}}'), status)
        elif form == "refusal":
            talk.answer(said(None, refusal=text), status)
        else:
            talk.answer(said(GOOD, model=text), status)

    return behave


def _packed(coding: str, data: bytes) -> Callable[[Talk], None]:
    return _answers(data, headers=[f"Content-Encoding: {coding}"])


def _zeros() -> bytes:
    """100 MB of blanks behind a valid reply, compressed to 100 KB."""
    packer = zlib.compressobj(wbits=31)
    return b"".join(
        [
            packer.compress(said().encode()),
            *(packer.compress(b" " * (1 << 20)) for _ in range(100)),
            packer.flush(),
        ]
    )


OK = "HTTP/1.1 200 OK\r\n"
CHUNKED = f"{OK}Transfer-Encoding: chunked\r\n\r\n"
SIZED = f"Content-Length: {len(said())}\r\n\r\n{said()}"
TLS_ALERT = bytes.fromhex("15030300020228")
MB = b" " * (1 << 20)

HOSTILE: dict[str, Hostile] = {
    "honest": Hostile("reply", _answers(said())),
    "honest, in chunks": Hostile(
        "reply", _sends(CHUNKED, *(f"1;x=y\r\n{letter}\r\n" for letter in said()), "0\r\n\r\n")
    ),
    "honest, after early hints": Hostile(
        "reply", _sends("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 3, OK, SIZED)
    ),
    "honest, until it closes": Hostile("reply", _sends("HTTP/1.0 200 OK\r\n\r\n", said())),
    # lengths and framing
    "closes at once": Hostile("http", lambda _: None),
    "silent": Hostile("http", _waits),
    "reset": Hostile("http", _resets),
    "body shorter than said": Hostile("http", _sends(OK, "Content-Length: 9999\r\n\r\n", said())),
    "body longer than said": Hostile("http", _sends(OK, "Content-Length: 9\r\n\r\n", said())),
    "two lengths": Hostile("http", _answers(said(), headers=["Content-Length: 5"])),
    "negative length": Hostile("http", _sends(OK, "Content-Length: -5\r\n\r\n", said())),
    "length of 5,000 digits": Hostile("http", _sends(OK, f"Content-Length: {'9' * 5000}\r\n\r\n")),
    "length of letters": Hostile("http", _sends(OK, "Content-Length: ten\r\n\r\n", said())),
    "length in other digits": Hostile("http", _sends(OK, "Content-Length: ١٢\r\n\r\n", said())),
    "petabyte": Hostile("http", _floods(f"{OK}Content-Length: 999999999999999\r\n\r\n", MB)),
    "endless body": Hostile("http", _floods(f"{OK}\r\n", MB)),
    "endless chunks": Hostile("http", _floods(CHUNKED, b"1000\r\n" + b" " * 4096 + b"\r\n")),
    "endless small chunks": Hostile("http", _floods(CHUNKED, b"1\r\n \r\n" * 1000)),
    "endless chunk": Hostile("http", _floods(f"{CHUNKED}fffffffffffffff\r\n", MB)),
    "endless chunk extension": Hostile("http", _floods(f"{CHUNKED}1;", MB)),
    "endless trailers": Hostile(
        "http", _floods(f"{CHUNKED}2\r\n{{}}\r\n0\r\n", b"X: y\r\n" * 1000)
    ),
    "chunks that are none": Hostile("http", _sends(CHUNKED, "zz\r\nhello\r\n")),
    "chunk of negative size": Hostile("http", _sends(CHUNKED, "-5\r\nhello\r\n")),
    "unknown transfer": Hostile("http", _answers(said(), headers=["Transfer-Encoding: gzip"])),
    # time
    "drips a body": Hostile("http", _drips(f"{OK}Content-Length: 99999\r\n\r\n", b" ")),
    "drips chunks": Hostile("http", _drips(CHUNKED, b"1\r\n \r\n")),
    "drips headers": Hostile("http", _drips(OK, b"X: y\r\n")),
    "drips a status line": Hostile("http", _drips("HTTP/1.1 2", b"0")),
    "drips an error": Hostile("http", _drips("HTTP/1.1 503 No\r\n\r\n", b" ")),
    "drips a redirect": Hostile(
        "stops", _drips("HTTP/1.1 307 There\r\nLocation: http://127.0.0.1:9/\r\n\r\n", b" ")
    ),
    "drips early hints": Hostile("http", _drips("", b"HTTP/1.1 103 Early Hints\r\n\r\n")),
    # status lines and headers
    "storm of 100": Hostile("http", _floods("", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)),
    "storm of 103": Hostile("http", _floods("", b"HTTP/1.1 103 Hints\r\nLink: <x>\r\n\r\n" * 1000)),
    "switches protocols": Hostile("http", _sends("HTTP/1.1 101 Go\r\nUpgrade: x\r\n\r\n", said())),
    "endless status line": Hostile("http", _floods("HTTP/1.1 200 ", MB)),
    "endless header": Hostile("http", _floods(f"{OK}X: ", MB)),
    "endless headers": Hostile("http", _floods(OK, b"X: y\r\n" * 1000)),
    "header without a colon": Hostile("http", _sends(OK, "what\r\n\r\n", said())),
    "folded header": Hostile("reply", _sends(OK, "X: y\r\n z\r\n\r\n", said())),
    "bytes in headers": Hostile("reply", _sends(OK, b"X: \xff\xfe\r\n", SIZED)),
    "a NUL in headers": Hostile("http", _sends(OK, b"X: y\0\r\n", SIZED)),
    "HTTP/0.9": Hostile("http", _sends(said())),
    "HTTP/2": Hostile("http", _sends(b"\0\0\x12\4\0\0\0\0\0" + b"\0" * 18)),
    "HTTP/9.9": Hostile("http", _sends("HTTP/9.9 200 OK\r\n\r\n", said())),
    "status 000": Hostile("http", _sends("HTTP/1.1 000 No\r\n\r\n", said())),
    "status 999": Hostile("http", _answers(said(), "999 Odd")),
    "status 2000": Hostile("http", _sends("HTTP/1.1 2000 OK\r\n\r\n", said())),
    "no content": Hostile("http", _sends("HTTP/1.1 204 None\r\n\r\n")),
    "TLS on a plain port": Hostile("http", _sends(TLS_ALERT)),
    "plain on a TLS port": Hostile("http", _answers(said()), "https"),
    "SSH": Hostile("http", _sends("SSH-2.0-OpenSSH_9.6\r\n")),
    # redirects
    **{
        f"redirect {status}": Hostile(
            "stops",
            _answers(
                "", f"{status} There", ["Location: http://name:secret@127.0.0.1:9/v1?token=secret"]
            ),
        )
        for status in (300, 301, 302, 303, 307, 308)
    },
    "redirect to itself": Hostile("stops", _answers("", "307 T", ["Location: /v1/chat"])),
    "redirect to nowhere": Hostile("stops", _answers("", "302 There")),
    "redirect to a file": Hostile("stops", _answers("", "302 T", ["Location: file:///etc/passwd"])),
    "redirect to no address": Hostile("stops", _answers("", "302 T", ["Location: http://[::1"])),
    "endless redirect": Hostile(
        "stops", _floods("HTTP/1.1 308 There\r\nLocation: https://127.0.0.1/\r\n\r\n", MB)
    ),
    # errors
    "endless error": Hostile("http", _floods("HTTP/1.1 500 No\r\n\r\n", MB)),
    "endless refusal": Hostile("stops", _floods("HTTP/1.1 401 No\r\n\r\n", MB)),
    "error of a list": Hostile("http", _answers("[[[]]]", "500 No")),
    "error of nothing": Hostile("http", _answers("", "503 No")),
    "error with wrong types": Hostile(
        "http", _answers('{"error": {"message": [1], "code": {"a": NaN}}}', "500 No")
    ),
    "deep error": Hostile("http", _answers('{"error":' * 9000, "500 No")),
    "pause without end": Hostile("http", _answers("", "429 No", ["Retry-After: 1e400"])),
    "pause of a year": Hostile("http", _answers("", "429 No", ["Retry-After: 31536000"])),
    "compressed error": Hostile(
        "http", _answers(gzip.compress(MB), "500 No", ["Content-Encoding: gzip"])
    ),
    # compression
    "gzip bomb": Hostile("http", lambda talk: _packed("gzip", _zeros())(talk)),
    "gzip bomb, unannounced": Hostile("http", lambda talk: talk.answer(_zeros())),
    "deflate bomb": Hostile("http", _packed("deflate", zlib.compress(MB * 9))),
    "br": Hostile("http", _packed("br", b"\xcf\xff\xff\x7f\xf8\x27\x00\x20" * 999)),
    "zstd": Hostile("http", _packed("zstd", bytes.fromhex("28b52ffd") + b"\x02\0\0\x20" * 999)),
    "packed twice": Hostile("http", _packed("gzip, gzip", gzip.compress(gzip.compress(MB)))),
    # JSON
    "server-sent events": Hostile("http", _answers(f"data: {said()}\n\ndata: [DONE]\n\n")),
    "HTML": Hostile("http", _answers("<html>bad gateway</html>")),
    "half a body": Hostile("http", _answers(said()[:40])),
    "invalid UTF-8": Hostile("http", _answers(said().encode().replace(b"served", b"\xff\xfe"))),
    "UTF-16": Hostile("reply", _answers(said().encode("utf-16"))),
    "lone surrogates": Hostile("reply", _answers(said(GOOD, model="\ud800\udfff\ud800"))),
    "lone surrogates in a reply": Hostile("invalid", _answers(said('{"units":["\ud800"]}'))),
    "NaN": Hostile("reply", _answers(said(GOOD, usage={"prompt_tokens": float("nan"), "cost": 1}))),
    "infinite cost": Hostile(
        "reply",
        _answers(
            said(GOOD, usage={"prompt_tokens": 1, "completion_tokens": 1, "cost": float("inf")})
        ),
    ),
    "number of a million digits": Hostile("http", _answers(f'{{"choices": {"9" * 1_000_000}}}')),
    "duplicate keys": Hostile("reply", _answers(said().replace('{"id"', '{"id": 1, "id"', 1))),
    "duplicate keys in a reply": Hostile("invalid", _answers(said('{"units": [], "units": []}'))),
    "deep": Hostile("http", _answers("[" * 1_000_000)),
    "deep inside": Hostile("http", _answers('{"choices":' * 100_000)),
    "deep reply": Hostile("invalid", _answers(said('{"units":' * 100_000))),
    "a million lists": Hostile("http", _answers("[" + "[]," * 1_300_000 + "0]")),
    "a million objects": Hostile("http", _answers('{"a":[' + "{}," * 1_300_000 + "0]}")),
    "reply of 3 MB": Hostile("invalid", _answers(said("x" * 3_000_000))),
    "reply of escapes": Hostile("invalid", _answers(said("\\u0073%73&#115;" * 100_000))),
    "no choices": Hostile("http", _answers('{"choices": []}')),
    "numbers for names": Hostile("http", _answers('{"choices": [{"message": 7}], "model": 1}')),
    "error inside": Hostile("http", _answers('{"error": {"message": {"a": 1}, "code": 301}}')),
    "refusal": Hostile("refused", _answers(said(None, refusal="no"))),
    # echoes
    **{
        f"{form} of {status}": Hostile(ends, _echoes(status, form))
        for status, form, ends in (
            ("500 No", "message", "http"),
            ("502 No", "text", "http"),
            ("400 No", "raw", "http"),
            ("401 No", "message", "stops"),
            ("200 OK", "content", "invalid"),
            ("200 OK", "content, as it is", "invalid"),
            ("200 OK", "refusal", "refused"),
            ("200 OK", "model", "reply"),
            ("200 OK", "raw", "http"),
            ("200 OK", "text", "http"),
        )
    },
    "redirect with the key": Hostile("stops", _echoes("307 There", "header")),
    "key at the cut": Hostile("http", lambda talk: talk.answer("x" * 490 + talk.key, "500 No")),
    "key at the cut of no JSON": Hostile("http", lambda talk: talk.answer("x" * 490 + talk.key)),
    "key at the cut of an error with status 200": Hostile(
        "http", lambda talk: talk.answer(json.dumps({"error": {"message": "x" * 490 + talk.key}}))
    ),
    "key for a status": Hostile("http", lambda talk: talk.send(f"HTTP/1.1 {talk.key}\r\n\r\n")),
    "key for a header": Hostile("http", lambda talk: talk.send(OK, talk.key, "\r\n\r\n")),
    "key for a code": Hostile(
        "http", lambda talk: talk.answer(json.dumps({"error": {"code": talk.key}}), "500 No")
    ),
}


def random_behaviour(seed: str) -> Behave:
    """A response put together, and then damaged, by chance."""
    chance = random.Random(seed)

    def behave(talk: Talk) -> None:
        text = f"{chance.choice(['', 'x' * 480])} {talk.key} {PROMPT}"
        body = chance.choice(
            [
                said(),
                said(text),
                said(None, refusal=text),
                said(GOOD, model=text),
                text,
                "",
                json.dumps({"error": {"message": text, "code": text}}),
                f'{{"error": "{text}"}}',
                said(json.dumps({"units": [{"id": text, "label": "full"}]})),
            ]
        ).encode("utf-8", "surrogatepass")
        status = chance.choice([200, 200, 200, 201, 204, 302, 307, 400, 401, 404, 429, 500, 503])
        lines = chance.sample(
            [
                f"Content-Length: {len(body)}",
                f"Content-Length: {chance.randrange(9999)}",
                "Transfer-Encoding: chunked",
                "Connection: close",
                "Content-Encoding: gzip",
                f"Location: http://127.0.0.1:9/{text}",
                "Retry-After: 0",
                f"X: {text}",
            ],
            chance.randrange(4),
        )
        if "Transfer-Encoding: chunked" in lines:
            size = chance.randrange(1, 99)
            parts = [body[at : at + size] for at in range(0, len(body), size)]
            body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
        head = "".join(f"{line}\r\n".replace("\n", " ") + "\n" for line in lines)
        data = bytearray(f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + body)
        for _ in range(chance.choice([0, 0, 1, 3, 20])):
            at = chance.randrange(len(data))
            data[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
        if chance.random() < 0.2:
            del data[chance.randrange(len(data)) :]
        end = chance.randrange(len(data) + 1)
        talk.send(bytes(data[:end]))
        talk.over.wait(chance.choice([0, 0, 0.01]))
        talk.send(bytes(data[end:]))
        if chance.random() < 0.1:
            talk.drip(b" ")

    return behave


@contextmanager
def hostile(behave: Behave) -> Iterator[int]:
    """A server that treats every connection this way; yields its port."""
    over = threading.Event()
    door = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def serve(link: socket.socket) -> None:
        with link, suppress(OSError, ValueError):
            link.settimeout(20)
            head = _until_blank(link)
            key = re.search(rb"(?i)authorization: bearer ([!-~]+)", head)
            length = re.search(rb"(?i)content-length: (\d+)", head)
            body = head.partition(b"\r\n\r\n")[2]
            while length and len(body) < int(length[1]):
                body += link.recv(1 << 16)
            wish = json.loads(body) if body else {}
            behave(Talk(link, over, key[1].decode() if key else "", wish))

    def accept() -> None:
        with suppress(OSError):
            while not over.is_set():
                link, _ = door.accept()
                threads.append(threading.Thread(target=serve, args=(link,), daemon=True))
                threads[-1].start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield door.getsockname()[1]
    finally:
        over.set()
        with suppress(OSError):
            door.shutdown(socket.SHUT_RDWR)
        door.close()
        accepting.join()
        for thread in threads:
            thread.join(timeout=20)


def _until_blank(link: socket.socket) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head:
        data = link.recv(1 << 16)
        if not data:
            raise OSError("no request")
        head += data
        if head[:1] == b"\x16":  # a TLS client: it gets the answer as it is
            return b"\r\n\r\n"
    return head

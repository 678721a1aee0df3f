"""Asking a model over HTTP: retries, a second request with the validation error, and the cap."""

import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, ClassVar, Protocol
from urllib.parse import urlsplit

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.version import VERSION
from memaudit.kernel.words.text import one_line, shortened
from memaudit.models.completions import (
    Completion,
    MalformedBody,
    ReplyFormat,
    escape_surrogates,
    prompt_bound,
    read_completion,
    request_body,
)
from memaudit.models.defaults import RETRIES, TIMEOUT
from memaudit.models.http_client import (
    BrokenResponse,
    HttpClient,
    NoConnection,
    Response,
    TooLarge,
)
from memaudit.models.request import (
    Failure,
    FailureKind,
    Invalid,
    Reply,
    ReplyT,
    Request,
    Usage,
    validated,
)
from memaudit.models.secret import Secret, checked_address
from memaudit.models.spending import Meter

TRANSIENT = frozenset({408, 409, 425, 429})
"""Statuses below 500 that may go away by themselves."""


def is_transient(status: int | None) -> bool:
    """Whether a retry can help; None is a time-out or a lost connection."""
    return status is None or status in TRANSIENT or status >= 500


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential back-off with jitter; the same seed and key give the same waits."""

    retries: int = RETRIES
    first: float = 1.0
    longest: float = 60.0
    longest_asked: float = 300.0
    """A longer pause that a server asks for is not waited for."""
    seed: int = 0

    def wait(self, key: str, attempt: int, asked: float | None) -> float | None:
        """Seconds before retry `attempt` (from 0), or None to give up."""
        if attempt >= self.retries or (asked is not None and asked > self.longest_asked):
            return None
        full = min(self.longest, self.first * 2.0**attempt)
        # Between half and all of it, so that the threads of one run do not come back together.
        jitter = random.Random(f"{self.seed} {key} {attempt}").uniform(0.5, 1.0)
        return max(full * jitter, asked or 0.0)


def asked_pause(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait: Retry-After, or retry-after-ms."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    return _number(headers.get("retry-after", ""))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


LARGEST_BODY = 4 << 20
"""Bytes of a response: far above any expected reply, and little once it is parsed."""

LONGEST_ERROR = 500
"""Characters of a server's error that are stored."""


@dataclass(eq=False)
class CallFailed(Exception):
    """A call without a usable body; the text holds no key."""

    message: str
    status: int | None = None
    """The HTTP status, None for a time-out or a lost connection."""
    code: str = ""
    """The provider's own name for the error."""
    pause: float | None = None
    """Seconds that the server asks to wait."""
    started: bool = True
    """Whether the model may have started, so that tokens may have been used."""

    def __str__(self) -> str:
        return f"HTTP {self.status}: {self.message}" if self.status else self.message


class Transport(Protocol):
    """Sends a body, returns the decoded response, or raises CallFailed."""

    def send(self, body: dict[str, Any]) -> object: ...


class OpenAITransport:
    """Any OpenAI-compatible address. It adds nothing from the environment to a request."""

    path: ClassVar[str] = "chat/completions"

    def __init__(
        self,
        base_url: str,
        key: Secret,
        timeout: float = TIMEOUT,
        largest: int = LARGEST_BODY,
    ) -> None:
        self._client = HttpClient(checked_address(base_url))
        self._key = key
        self._timeout = timeout
        self._largest = largest

    def send(self, body: dict[str, Any]) -> object:
        data = json.dumps(body).encode("ascii")
        try:
            response = self._client.post(
                self.path, self._headers(), data, self._timeout, self._largest
            )
        except NoConnection as error:  # nothing is spent
            said = self._clean(str(error))
            raise CallFailed(f"the connection failed: {said}", started=False) from None
        except TimeoutError:
            raise CallFailed(f"no complete response within {self._timeout:g} s") from None
        except TooLarge as error:
            raise CallFailed(str(error), status=200) from None
        except BrokenResponse as error:
            raise CallFailed(str(error)) from None
        except OSError as error:
            said = self._clean(f"{type(error).__name__} {error}")
            raise CallFailed(f"the connection failed: {said}") from None
        if not 200 <= response.status < 300:
            raise self._failed(response)
        try:
            return json.loads(response.body)
        except (ValueError, RecursionError):
            start = self._clean(response.body.decode("utf-8", "replace"))
            raise CallFailed(f"the response is not JSON: {start!r}") from None

    def _headers(self) -> dict[str, str]:
        headers = {
            "User-Agent": f"memaudit/{VERSION}",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
        }
        if self._key:
            headers["Authorization"] = f"Bearer {self._key.reveal()}"
        return headers

    def _failed(self, response: Response) -> CallFailed:
        """The server's own words for an error, or where it redirects to."""
        if 300 <= response.status < 400:
            where = self._clean(_place(response.headers.get("location", "")))
            return CallFailed(f"redirected to {where}", response.status, started=False)
        said = response.body.decode("utf-8", "replace")
        code = ""
        try:
            error = json.loads(response.body)
        except (ValueError, RecursionError):
            error = None
        if isinstance(error, dict):
            error = error.get("error", error)
        if isinstance(error, dict):
            code = next((str(it) for it in (error.get("code"), error.get("type")) if it), "")
            error = error.get("message")
        if isinstance(error, str):
            said = error
        if not said.strip():
            has_phrase = response.status in set(HTTPStatus)
            said = HTTPStatus(response.status).phrase if has_phrase else "no explanation"
        return CallFailed(
            self._clean(said),
            response.status,
            self._clean(code),
            asked_pause(response.headers),
            started=False,
        )

    def _clean(self, text: str) -> str:
        """A server's message in one line, without keys and then shortened."""
        line = one_line(self._key.hidden_in_message(escape_surrogates(text)))
        return shortened(line, LONGEST_ERROR)


def _place(location: str) -> str:
    """A redirect's scheme, host and path, without what may be secret."""
    try:
        parts = urlsplit(location)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "an invalid address"
    if not location:
        return "no address"
    return f"{parts.scheme}://{host}{parts.path}" if host else f"the path {parts.path}"


# Servers say in words of their own that they know no schemas; no code is common to them.
_FORMAT_WORDS = ("response_format", "json_schema", "json_object", "schema", "structured", "grammar")
_REFUSED = (400, 404, 415, 422, 501)


@dataclass(frozen=True, slots=True)
class RequestStyle:
    """How to put a request to a model: the reply format and the name of the token limit."""

    format: ReplyFormat = ReplyFormat.JSON_SCHEMA
    token_field: str = "max_tokens"


class RequestStyles:
    """The best known style for each model, learned from refusals and shared by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._best: dict[str, RequestStyle] = {}
        self._proven: set[tuple[str, RequestStyle]] = set()

    def best(self, model: str) -> RequestStyle:
        with self._lock:
            return self._best.get(model, RequestStyle())

    def worked(self, model: str, style: RequestStyle) -> None:
        """Start with this style next time, unless a better one is known to work."""
        with self._lock:
            # The first style that worked stays: threads in flight may still succeed with a looser
            # one.
            if not any(proven == model for proven, _ in self._proven):
                self._best[model] = style
            self._proven.add((model, style))

    def next_after(self, model: str, style: RequestStyle, error: CallFailed) -> RequestStyle | None:
        """Another style to try after a refusal, or None if the refusal is about the request.

        An unclear refusal counts against the format only until the format has worked once. After
        that it means a prompt that is too long, or the like.
        """
        if error.status not in _REFUSED:
            return None
        text = f"{error.message} {error.code}".lower()
        if "max_completion_tokens" in text and style.token_field == "max_tokens":
            return RequestStyle(style.format, "max_completion_tokens")
        if style.format is ReplyFormat.TEXT:
            return None
        with self._lock:
            proven = (model, style) in self._proven
        named = any(word in text for word in _FORMAT_WORDS)
        if named or (error.status in (400, 422) and not proven):
            return RequestStyle(ReplyFormat(style.format + 1), style.token_field)
        return None


# Hundreds of requests would meet the same refusal, each after all its retries.
_HOPELESS = {
    401: "check the API key in the environment (MEMAUDIT_API_KEY)",
    402: "the account has no credit left",
    404: "check the name of the model and base_url",
}
"""Statuses that every other request would get too."""

_HOPELESS_CODES = {"insufficient_quota": "the account has no credit left"}


class ModelUnavailable(MemAuditError):
    """The server refuses every request."""


class CapReached(Exception):
    """No further call may start."""


@dataclass(slots=True)
class _Exchange:
    """A request in progress: its style, and what it has used so far."""

    request: Request
    style: RequestStyle
    usage: Usage = field(default_factory=Usage)


class LiveClient:
    """A client of one server; threads may share it."""

    def __init__(
        self,
        transport: Transport,
        meter: Meter | None = None,
        key: Secret | None = None,
        retry: RetryPolicy | None = None,
        provider: str = "live",
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self.provider = provider
        self._transport = transport
        self._meter = meter or Meter()
        self._key = key or Secret("")
        self._retry = retry or RetryPolicy()
        self._stopped = threading.Event()
        self._sleep = sleep or self._stopped.wait
        self._styles = RequestStyles()

    @property
    def spent(self) -> Usage:
        return self._meter.spent

    def stop(self) -> None:
        """Start no more calls and end every pause."""
        self._stopped.set()

    def ask(self, request: Request, reply_type: type[ReplyT]) -> Reply[ReplyT] | Failure:
        """Ask, and ask again with the validation error if the reply is not valid."""
        began = time.monotonic()
        exchange = _Exchange(request, self._styles.best(request.model))
        rejected: tuple[str, str] | None = None
        try:
            # Twice: a reply that is wrong again, after the model was told why, counts as failed.
            for _ in range(2):
                completion = self._completion(exchange, rejected)
                raw = completion.text
                if completion.refusal:
                    said = completion.refusal
                    return self._failure(exchange, FailureKind.REFUSED, said, raw or said)
                valid = validated(raw, reply_type)
                if not isinstance(valid, Invalid):
                    return Reply(
                        request.key,
                        valid.value,
                        raw,
                        valid.parsed,
                        exchange.usage,
                        self.provider,
                        completion.served_model,
                        exchange.style.format.label,
                        time.monotonic() - began,
                    )
                cut = f"cut off at max_tokens = {request.parameters.max_tokens}; "
                rejected = (raw, f"{cut if completion.cut_off else ''}{valid.reason}")
        except CapReached as reached:
            kind, detail = FailureKind.CAP, str(reached)
        except CallFailed as error:
            kind, detail = FailureKind.HTTP, str(error)
        else:
            kind, detail = FailureKind.INVALID, rejected[1] if rejected else ""
        return self._failure(exchange, kind, detail, rejected[0] if rejected else "")

    def _failure(self, exchange: _Exchange, kind: FailureKind, detail: str, raw: str) -> Failure:
        return Failure(exchange.request.key, kind, detail, raw, exchange.usage, self.provider)

    def _completion(self, exchange: _Exchange, rejected: tuple[str, str] | None) -> Completion:
        """The completion, after as many retries as the policy allows."""
        attempt = 0
        while True:
            try:
                completion = self._call(exchange, rejected)
            except CallFailed as error:
                other = self._styles.next_after(exchange.request.model, exchange.style, error)
                if other is not None:
                    exchange.style = other
                    continue
                _stop_if_hopeless(error)
                pause = self._retry.wait(exchange.request.key, attempt, error.pause)
                if not is_transient(error.status) or pause is None:
                    asked = f" (asks to wait {error.pause:g} s)" if error.pause else ""
                    error.message += f"{asked}, after {attempt} retries"
                    raise
                self._sleep(pause)
                attempt += 1
            else:
                self._styles.worked(exchange.request.model, exchange.style)
                return completion

    def _call(self, exchange: _Exchange, rejected: tuple[str, str] | None) -> Completion:
        """One call, within the cap and counted whatever the result."""
        if self._stopped.is_set():
            raise CapReached("the run was stopped")
        request, style = exchange.request, exchange.style
        data = request_body(request, style.format, rejected, style.token_field)
        ticket = self._meter.reserve(prompt_bound(data), request.parameters.max_tokens)
        if ticket is None:
            raise CapReached("the run's token or cost cap leaves no room for it")
        usage = Usage(calls=1, unpriced=1, unmeasured=1)  # unless the response says more
        try:
            response = self._transport.send(data)
            completion = read_completion(response, self._meter.price, self._key.hidden_in)
            usage = completion.usage
        except CallFailed as error:
            # A call that never reached the model used no tokens, and frees its reservation.
            usage = usage if error.started else Usage(calls=1)
            raise
        except MalformedBody as error:
            message = self._key.hidden_in_message(str(error))
            raise CallFailed(message, error.status) from None
        finally:
            self._meter.settle(ticket, usage)
            exchange.usage += usage
        return completion


def _stop_if_hopeless(error: CallFailed) -> None:
    status = error.status or 0
    hint = _HOPELESS_CODES.get(error.code) or _HOPELESS.get(status)
    if 300 <= status < 400:
        hint = (
            "redirects are not followed, because prompts and the key would go to another address; "
            "if that address is right, give it as base_url"
        )
    if hint:
        raise ModelUnavailable(f"the model server refuses: {error}; {hint}") from None

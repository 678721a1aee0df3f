"""One HTTP call through the openai SDK: a body in bounded time and size, or an error; retries."""

import json
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Protocol, cast
from urllib.parse import urlsplit

from memaudit.core.errors import MissingTool, install_line
from memaudit.core.text import one_line, shortened
from memaudit.models.completions import escape_surrogates
from memaudit.models.secret import Secret, checked_address

if TYPE_CHECKING:
    from openai import APIError, APIStatusError
    from openai.types.chat import ChatCompletionMessageParam


TRANSIENT = frozenset({408, 409, 425, 429})
"""Statuses below 500 that may go away by themselves."""


def is_transient(status: int | None) -> bool:
    """Whether a retry can help; None is a time-out or a lost connection."""
    return status is None or status in TRANSIENT or status >= 500


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential back-off with jitter; the same seed and key give the same waits."""

    retries: int = 5
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
        jitter = random.Random(f"{self.seed} {key} {attempt}").uniform(0.5, 1.0)
        return max(full * jitter, asked or 0.0)


def asked_pause(headers: dict[str, str], now: float) -> float | None:
    """The pause a server asks for: Retry-After in seconds or as a date, or retry-after-ms."""
    if (milliseconds := _number(headers.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "")
    if (seconds := _number(text)) is not None:
        return seconds
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


LARGEST_BODY = 16 << 20
"""Bytes of a response; far above any expected reply."""

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


def _server_message(error: "APIStatusError") -> str:
    """The server's own message; the SDK's version of it differs between releases."""
    body = error.body
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        return str(body["message"])
    return error.message.removeprefix(f"Error code: {error.status_code} - ")


def _http_errors() -> tuple[type[Exception], ...]:
    """The errors of the HTTP library below the SDK, which depends on the SDK's version."""
    loaded = [sys.modules[name] for name in ("httpx2", "httpx") if name in sys.modules]
    return tuple(module.HTTPError for module in loaded)


class Transport(Protocol):
    """Sends a body, returns the decoded response, or raises CallFailed."""

    def send(self, body: dict[str, Any]) -> object: ...


class OpenAITransport:
    """Any OpenAI-compatible address. The SDK's own retries are off: ours are counted."""

    def __init__(
        self,
        base_url: str,
        key: Secret,
        timeout: float = 120.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        try:
            import openai
        except ModuleNotFoundError:
            raise MissingTool(
                f"calling a model needs the openai SDK: {install_line('models')}"
            ) from None
        self._openai = openai
        self._network_errors: tuple[type[Exception], ...] = (OSError, *_http_errors())
        self._key = key
        self._timeout = timeout
        self._clock = clock
        self._client = openai.OpenAI(
            api_key=key.reveal() or "none",  # local servers accept any key, but the SDK needs one
            base_url=checked_address(base_url),
            max_retries=0,
            timeout=timeout,
        )
        host = urlsplit(base_url).hostname or ""
        if host != "openai.com" and not host.endswith(".openai.com"):
            # The SDK takes these from the environment; no other server should see them.
            self._client.organization = self._client.project = None

    def send(self, body: dict[str, Any]) -> object:
        rest = {name: value for name, value in body.items() if name not in ("model", "messages")}
        try:
            with self._client.chat.completions.with_streaming_response.create(
                model=body["model"],
                messages=cast("list[ChatCompletionMessageParam]", body["messages"]),
                extra_body=rest,
            ) as response:
                data = self._bounded(response.iter_bytes())
        except self._openai.APIError as error:
            raise self._failed(error) from None
        except self._network_errors as error:
            raise self._lost(error) from None
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            start = self._clean(data[:LONGEST_ERROR].decode("utf-8", "replace"))
            raise CallFailed(f"the response is not JSON: {start!r}") from None

    def _bounded(self, chunks: Any) -> bytes:
        """The body; an endless slow response is a time-out too."""
        deadline = time.monotonic() + self._timeout
        parts, size = [], 0
        for chunk in chunks:
            size += len(chunk)
            if size > LARGEST_BODY:
                raise CallFailed(f"the response is larger than {LARGEST_BODY} bytes", status=200)
            if time.monotonic() > deadline:
                raise CallFailed(f"the response took longer than {self._timeout:g} s")
            parts.append(chunk)
        return b"".join(parts)

    def _failed(self, error: "APIError") -> CallFailed:
        if isinstance(error, self._openai.APITimeoutError):
            return CallFailed(f"no response within {self._timeout:g} s")
        if isinstance(error, self._openai.APIStatusError):
            headers = {name.lower(): text for name, text in error.response.headers.items()}
            return CallFailed(
                self._clean(_server_message(error)),
                error.status_code,
                self._clean(error.code or error.type or ""),
                asked_pause(headers, self._clock()),
                started=False,
            )
        return self._lost(error.__cause__ or error)

    def _lost(self, error: BaseException) -> CallFailed:
        name = type(error).__name__
        return CallFailed(
            f"the connection failed: {name} {self._clean(str(error))}".rstrip(),
            started="Connect" not in name,  # without a connection nothing is spent
        )

    def _clean(self, text: str) -> str:
        """A server's message in one line, shortened and without keys."""
        line = one_line(self._key.hidden_in_message(escape_surrogates(text)))
        return shortened(line, LONGEST_ERROR)

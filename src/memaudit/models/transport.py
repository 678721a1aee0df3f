"""One call to a model server: a decoded body, or an error without keys; retries."""

import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, ClassVar, Protocol
from urllib.parse import urlsplit

from memaudit.kernel.version import VERSION
from memaudit.kernel.words.text import one_line, shortened
from memaudit.models.completions import escape_surrogates
from memaudit.models.defaults import RETRIES, TIMEOUT
from memaudit.models.http_client import (
    BrokenResponse,
    HttpClient,
    NoConnection,
    Response,
    TooLarge,
)
from memaudit.models.secret import Secret, checked_address

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
        clock: Callable[[], float] = time.time,
        largest: int = LARGEST_BODY,
    ) -> None:
        self._client = HttpClient(checked_address(base_url))
        self._key = key
        self._timeout = timeout
        self._clock = clock
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
            known = response.status in set(HTTPStatus)
            said = HTTPStatus(response.status).phrase if known else "no explanation"
        return CallFailed(
            self._clean(said),
            response.status,
            self._clean(code),
            asked_pause(dict(response.headers), self._clock()),
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

"""What a chat completion says: its text, a refusal, and the tokens used."""

import json
import random
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, cast
from urllib.parse import urlsplit

from memaudit.core.errors import MissingTool
from memaudit.core.exact import exact
from memaudit.models.client import Usage
from memaudit.models.secret import Secret, checked_address
from memaudit.models.spending import Price

if TYPE_CHECKING:
    from openai import APIError, APIStatusError
    from openai.types.chat import ChatCompletionMessageParam


class MalformedBody(ValueError):
    """A response that is no chat completion; `status` where it reports an error inside."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def whole_text(text: str) -> str:
    """The text with half surrogate pairs spelled out: files and databases cannot hold them."""
    return text.encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True, slots=True)
class Completion:
    """The first choice of a response."""

    text: str
    refusal: str
    """Not empty where the model or a filter declined."""
    cut_off: bool
    """Whether the reply ended at max_tokens."""
    served_model: str
    usage: Usage


def read_completion(data: object, price: Price | None) -> Completion:
    """The completion in a response body; anything else is a MalformedBody."""
    if not isinstance(data, dict):
        raise MalformedBody("the response is not a JSON object")
    if isinstance(error := data.get("error"), dict):  # some routers send errors with status 200
        code = error.get("code")
        status = code if isinstance(code, int) and 100 <= code < 600 else None
        message = whole_text(str(error.get("message"))[:500])
        raise MalformedBody(f"the response is an error: {message}", status)
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise MalformedBody("the response has no choices")
    said = choices[0].get("message")
    if not isinstance(said, dict):
        raise MalformedBody("the response's choice has no message")
    finish = choices[0].get("finish_reason")
    text = _text(said.get("content"))
    refusal = said.get("refusal")
    refusal = whole_text(refusal) if isinstance(refusal, str) else ""
    if not refusal and finish == "content_filter":
        refusal = text or "stopped by the provider's content filter"
    model = data.get("model")
    return Completion(
        text, refusal, finish == "length", whole_text(model) if isinstance(model, str) else "",
        read_usage(data.get("usage"), price),
    )  # fmt: skip


def _text(content: Any) -> str:
    """The text of a message, which some servers send as a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return whole_text(content)
    if isinstance(content, list):
        texts = [part.get("text") if isinstance(part, dict) else part for part in content]
        if all(isinstance(one, str) for one in texts):
            return whole_text("".join(map(str, texts)))
    raise MalformedBody("the response's content is neither text nor a list of texts")


def read_usage(usage: object, price: Price | None) -> Usage:
    """Tokens and cost of one call: the cost the server reports, else tokens times price."""
    found: Mapping[str, Any] = usage if isinstance(usage, dict) else {}
    prompt, completion = _count(found, "prompt_tokens"), _count(found, "completion_tokens")
    if prompt is None or completion is None:
        return Usage(calls=1, unpriced=1, unmeasured=1)
    cost = _cost(found.get("cost"))
    if cost is None and price is not None:
        cost = price.cost(prompt, completion)
    return Usage(1, prompt, completion, cost or Fraction(0), unpriced=int(cost is None))


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    number = usage.get(name)
    good = isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 1 << 40
    return number if good else None


def _cost(number: object) -> Fraction | None:
    try:
        cost = exact(number)
    except ValueError:
        return None
    return cost if cost >= 0 else None


TRANSIENT = frozenset({408, 409, 425, 429})
"""Statuses below 500 that may pass by themselves."""


def is_transient(status: int | None) -> bool:
    """Whether trying again can help; None is a time-out or a lost connection."""
    return status is None or status in TRANSIENT or status >= 500


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential back-off with jitter; the same seed and key give the same waits."""

    retries: int = 5
    first: float = 1.0
    longest: float = 60.0
    longest_asked: float = 300.0
    """A server that asks for a longer pause is not waited for."""
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
"""Bytes of a response; no reply this project asks for comes near."""

LONGEST_ERROR = 500
"""Letters of a server's error that are kept."""


@dataclass(eq=False)
class CallFailed(Exception):
    """A call that brought no usable body; the text holds no key."""

    message: str
    status: int | None = None
    """The HTTP status, None for a time-out or a lost connection."""
    code: str = ""
    """The provider's own name for the error."""
    pause: float | None = None
    """Seconds the server asks to wait."""
    started: bool = True
    """Whether the model may have worked for us, so that tokens may have been used."""

    def __str__(self) -> str:
        return f"HTTP {self.status}: {self.message}" if self.status else self.message


def _said(error: "APIStatusError") -> str:
    """The server's own words; what the SDK makes of them differs between its versions."""
    body = error.body
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        return str(body["message"])
    return error.message.removeprefix(f"Error code: {error.status_code} - ")


def _http_errors() -> tuple[type[Exception], ...]:
    """The errors of the HTTP library below the SDK, which differs between the SDK's versions."""
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
                "calling a model needs the openai SDK: pip install 'memaudit[models]'"
            ) from None
        self._openai = openai
        self._broken_off: tuple[type[Exception], ...] = (OSError, *_http_errors())
        self._key = key
        self._timeout = timeout
        self._clock = clock
        self._client = openai.OpenAI(
            api_key=key.reveal() or "none",  # local servers take anything, the SDK wants something
            base_url=checked_address(base_url),
            max_retries=0,
            timeout=timeout,
        )
        host = urlsplit(base_url).hostname or ""
        if host != "openai.com" and not host.endswith(".openai.com"):
            # The SDK takes these from the environment; they are nobody else's business.
            self._client.organization = self._client.project = None

    def send(self, body: dict[str, Any]) -> object:
        """The response to one POST of /chat/completions."""
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
        except self._broken_off as error:
            raise self._lost(error) from None
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            start = self._clean(data[:LONGEST_ERROR].decode("utf-8", "replace"))
            raise CallFailed(f"the response is not JSON: {start!r}") from None

    def _bounded(self, chunks: Any) -> bytes:
        """The whole body; a drip that never ends is a time-out too."""
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
                self._clean(_said(error)),
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
            started="Connect" not in name,  # a connection never made costs nothing
        )

    def _clean(self, text: str) -> str:
        """A server's words in one line, without keys and without end."""
        line = " ".join(self._key.hidden_in_message(whole_text(text)).split())
        return line if len(line) <= LONGEST_ERROR else f"{line[:LONGEST_ERROR]}..."

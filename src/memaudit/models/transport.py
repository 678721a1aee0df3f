"""One HTTP call through the openai SDK: a whole body in bounded time and size, or an error."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast
from urllib.parse import urlsplit

from memaudit.core.errors import MissingTool
from memaudit.models.completion import whole_text
from memaudit.models.retry import asked_pause
from memaudit.models.secret import Secret, checked_address

if TYPE_CHECKING:
    from openai import APIError, APIStatusError
    from openai.types.chat import ChatCompletionMessageParam

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

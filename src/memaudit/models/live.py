"""Asking a model over HTTP: retries, one repeated request with the validation error, the cap."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from memaudit.kernel.errors import MemAuditError
from memaudit.models.client import Failure, FailureKind, Invalid, Reply, ReplyT, Usage, validated
from memaudit.models.completions import (
    Completion,
    MalformedBody,
    ReplyFormat,
    prompt_bound,
    read_completion,
    request_body,
)
from memaudit.models.request import Request
from memaudit.models.secret import Secret
from memaudit.models.spending import Meter
from memaudit.models.transport import CallFailed, RetryPolicy, Transport, is_transient

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
            if not any(known == model for known, _ in self._proven):
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

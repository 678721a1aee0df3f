"""The body of a chat completion request, in the three ways servers take a reply schema."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from memaudit.core.errors import MemAuditError
from memaudit.models.client import Failure, FailureKind, Invalid, Reply, ReplyT, Usage, validated
from memaudit.models.request import Request
from memaudit.models.secret import Secret
from memaudit.models.spending import Meter
from memaudit.models.transport import (
    CallFailed,
    Completion,
    MalformedBody,
    RetryPolicy,
    Transport,
    is_transient,
    read_completion,
)

BYTES_A_MESSAGE = 32
"""Room for the role and the chat template's own tokens, message by message."""


class Format(IntEnum):
    """How the reply's shape is asked for, from strict to loose."""

    JSON_SCHEMA = 0
    JSON_OBJECT = 1
    TEXT = 2

    @property
    def label(self) -> str:
        return self.name.lower()


def body(
    request: Request,
    format: Format = Format.JSON_SCHEMA,
    rejected: tuple[str, str] | None = None,
    token_field: str = "max_tokens",
) -> dict[str, Any]:
    """The request as JSON; `rejected` is an earlier reply and what was wrong with it."""
    messages = [{"role": one.role, "content": one.content} for one in request.messages]
    if format is not Format.JSON_SCHEMA:
        messages.append({"role": "user", "content": _schema_in_words(request)})
    if rejected is not None:
        raw, reason = rejected
        if raw.strip():  # servers refuse empty assistant turns
            messages.append({"role": "assistant", "content": raw})
        messages.append({"role": "user", "content": _again(reason)})
    parameters: dict[str, Any] = request.parameters.to_json()
    parameters[token_field] = parameters.pop("max_tokens")
    data = {"model": request.model, "messages": messages, **parameters}
    if format is Format.JSON_SCHEMA:
        schema = json.loads(request.reply_schema)
        data["response_format"] = {
            "type": "json_schema",
            "json_schema": {
                "name": request.reply_name,
                "schema": schema,
                "strict": is_closed(schema),
            },
        }
    elif format is Format.JSON_OBJECT:
        data["response_format"] = {"type": "json_object"}
    return data


def prompt_bound(data: dict[str, Any]) -> int:
    """At most this many prompt tokens: no tokenizer makes more tokens than there are bytes."""
    size = sum(len(one["content"].encode()) + BYTES_A_MESSAGE for one in data["messages"])
    return size + len(json.dumps(data.get("response_format", "")))


def is_closed(schema: Any) -> bool:
    """Whether every object lists all its fields as required, as strict mode demands."""
    if isinstance(schema, list):
        return all(is_closed(item) for item in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" and (
        schema.get("additionalProperties") is not False
        or set(schema.get("required", ())) != set(schema.get("properties", {}))
    ):
        return False
    return all(is_closed(value) for value in schema.values())


def _schema_in_words(request: Request) -> str:
    return (
        "Reply with one JSON object and nothing else, no code fence and no explanation. "
        f"It must validate against this JSON Schema:\n{request.reply_schema}"
    )


def _again(reason: str) -> str:
    return (
        "Your reply did not validate. Reply again with the whole corrected JSON object and nothing "
        f"else. What was wrong: {json.dumps(reason, ensure_ascii=False)}"
    )


_FORMAT_WORDS = ("response_format", "json_schema", "json_object", "schema", "structured", "grammar")
_REFUSED = (400, 404, 415, 422, 501)


@dataclass(frozen=True, slots=True)
class Ability:
    """One way to ask a model."""

    format: Format = Format.JSON_SCHEMA
    token_field: str = "max_tokens"


class Abilities:
    """The best way known for each model, shared by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._best: dict[str, Ability] = {}
        self._proven: set[tuple[str, Ability]] = set()

    def best(self, model: str) -> Ability:
        """Where to start."""
        with self._lock:
            return self._best.get(model, Ability())

    def worked(self, model: str, ability: Ability) -> None:
        """Start here next time, unless something better is known to work."""
        with self._lock:
            if not any(known == model for known, _ in self._proven):
                self._best[model] = ability
            self._proven.add((model, ability))

    def next_after(self, model: str, ability: Ability, error: CallFailed) -> Ability | None:
        """Another way worth trying after a refusal, or None where the refusal is about the request.

        A refusal that does not say what it is about counts against the format only as long as the
        format has not worked once: afterwards it is a prompt too long, or the like.
        """
        if error.status not in _REFUSED:
            return None
        text = f"{error.message} {error.code}".lower()
        if "max_completion_tokens" in text and ability.token_field == "max_tokens":
            return Ability(ability.format, "max_completion_tokens")
        if ability.format is Format.TEXT:
            return None
        with self._lock:
            proven = (model, ability) in self._proven
        named = any(word in text for word in _FORMAT_WORDS)
        if named or (error.status in (400, 422) and not proven):
            return Ability(Format(ability.format + 1), ability.token_field)
        return None


_HOPELESS = {
    401: "check the API key in the environment (MEMAUDIT_API_KEY)",
    402: "the account has no credit left",
    404: "check --model and --base-url",
}
"""Statuses that every other request would get as well."""

_HOPELESS_CODES = {"insufficient_quota": "the account has no credit left"}


class ModelUnavailable(MemAuditError):
    """The server turns every request away."""


class CapReached(Exception):
    """No further call may start."""


@dataclass(slots=True)
class _Exchange:
    """One request on its way: what it used so far and how it is being asked."""

    request: Request
    ability: Ability
    usage: Usage = field(default_factory=Usage)


class LiveClient:
    """A client of one server; safe to share between threads."""

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
        self._abilities = Abilities()

    @property
    def spent(self) -> Usage:
        """Everything this client's calls have used."""
        return self._meter.spent

    def stop(self) -> None:
        """Start no more calls and end every pause: the run is over."""
        self._stopped.set()

    def ask(self, request: Request, reply_type: type[ReplyT]) -> Reply[ReplyT] | Failure:
        """Ask, and once more with the validation error if the reply does not validate."""
        began = time.monotonic()
        exchange = _Exchange(request, self._abilities.best(request.model))
        rejected: tuple[str, str] | None = None
        try:
            for _ in range(2):
                completion = self._completion(exchange, rejected)
                raw = self._key.hidden_in(completion.text)
                if completion.refusal:
                    refusal = self._key.hidden_in(completion.refusal)
                    return self._failure(exchange, FailureKind.REFUSED, refusal, raw or refusal)
                found = validated(raw, reply_type)
                if not isinstance(found, Invalid):
                    return Reply(
                        request.key, found.value, raw, found.parsed, exchange.usage, self.provider,
                        self._key.hidden_in(completion.served_model), exchange.ability.format.label,
                        time.monotonic() - began,
                    )  # fmt: skip
                cut = f"cut off at max_tokens = {request.parameters.max_tokens}; "
                rejected = (raw, f"{cut if completion.cut_off else ''}{found.reason}")
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
        """The completion after as many retries as it takes and the policy allows."""
        attempt = 0
        while True:
            try:
                completion = self._call(exchange, rejected)
            except CallFailed as error:
                other = self._abilities.next_after(exchange.request.model, exchange.ability, error)
                if other is not None:
                    exchange.ability = other
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
                self._abilities.worked(exchange.request.model, exchange.ability)
                return completion

    def _call(self, exchange: _Exchange, rejected: tuple[str, str] | None) -> Completion:
        """One call, within the cap and counted whatever comes of it."""
        if self._stopped.is_set():
            raise CapReached("the run was stopped")
        request, ability = exchange.request, exchange.ability
        data = body(request, ability.format, rejected, ability.token_field)
        ticket = self._meter.reserve(prompt_bound(data), request.parameters.max_tokens)
        if ticket is None:
            raise CapReached("the run's token or cost cap leaves no room for it")
        usage = Usage(calls=1, unpriced=1, unmeasured=1)  # unless we learn better
        try:
            completion = read_completion(self._transport.send(data), self._meter.price)
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
    hint = _HOPELESS_CODES.get(error.code) or _HOPELESS.get(error.status or 0)
    if hint:
        raise ModelUnavailable(f"the model server refuses: {error}; {hint}") from None
